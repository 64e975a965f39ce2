#!/usr/bin/env bash
# pyterrier 1.1.2: of the rows of `a + b`, those of documents that b alone found have no query. Seen:
# query "melanoma" for d1, nan for d2. A transformer that reads the query of such a row, or of the
# first row of a topic, works with nan or with the text "nan". Guessed: rows of one qid have its query,
# as the rows of `a` and of `b` have. (The frames are joined by qid and docno, and the columns of the
# left one are kept.)
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pyterrier==1.1.2 ir-measures==0.4.3
venv/bin/python - <<'PYTHON'
import pandas as pd
import pyterrier as pt


def results(docno):
    row = {"qid": "1", "query": "melanoma", "docno": docno, "score": 2.0, "rank": 0}
    return pt.Transformer.from_df(pd.DataFrame([row]))


found = (results("d1") + results("d2"))(pd.DataFrame([{"qid": "1", "query": "melanoma"}]))
seen = dict(zip(found["docno"], found["query"].map(str)))
assert seen == {"d1": "melanoma", "d2": "nan"}, f"changed: {seen}"
print("as described:", seen)
PYTHON
