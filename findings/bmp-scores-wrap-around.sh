#!/usr/bin/env bash
# bmp 0.2.8: a document's score is taken modulo 65,536, so the best documents of a long topic come last
# or, with fewer results than documents, are missing. Impacts are within BMP's limit of 255; nine
# common words are enough, since topics' weights are scaled to 32. Nothing is said. Seen: of documents
# that have 1 to 12 words of a topic of 12, the first four are those with 8, 7, 6 and 5 words; those
# with 12 to 9 follow, with scores such as 7,904 for 73,440. Guessed: with impacts of at most 255, and a
# block of empty documents added (the block of the least bound is never scored), alpha and beta of 1
# find the best documents first.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet bmp==0.2.8
venv/bin/python - <<'PYTHON'
import bmp

words = [f"w{number}" for number in range(12)]
indexer = bmp.Indexer("index", 4, False)
for count in range(1, 13):
    indexer.add_document(f"has-{count}", dict.fromkeys(words[:count], 255))
for number in range(4):
    indexer.add_document(f"empty-{number}", {"other": 1})
indexer.finish()
names, scores = bmp.Searcher("index").search(dict.fromkeys(words, 32), k=20, alpha=1.0, beta=1.0)
order = [8, 7, 6, 5, 12, 11, 10, 9]
found = [name for name in names if name.startswith("has")][: len(order)]
assert found == [f"has-{count}" for count in order], f"changed: {names}"
wrapped = [count * 255 * 32 % 65_536 for count in order]
assert [int(score) for score in scores[: len(order)]] == wrapped, f"changed: {scores}"
print("as described:", *zip(found, scores))
PYTHON
