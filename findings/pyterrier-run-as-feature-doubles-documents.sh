#!/usr/bin/env bash
# pyterrier 1.1.2: a run as a feature, `candidates >> (Transformer.identity() ** Transformer.from_df(run))`,
# gives documents twice or loses them. Seen, for candidates d1 and d2: with a run of d1 and d3, the
# ranking d1, d1, d2; with a run of d1 alone, the ranking d1, d1, and d2 is gone without a warning.
# Guessed: d1 and d2 once, and 0 for what the run lacks, as the warning of `**` says. (`from_df` gives
# its rows of a topic once for each candidate, and `**` fills in only where the counts differ.)
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pyterrier==1.1.2 ir-measures==0.4.3
venv/bin/python -W ignore - <<'PYTHON'
import pandas as pd
import pyterrier as pt


def run(*docnos):
    rows = [["1", "melanoma", docno, 9.0 - rank, rank] for rank, docno in enumerate(docnos)]
    frame = pd.DataFrame(rows, columns=["qid", "query", "docno", "score", "rank"])
    return pt.Transformer.from_df(frame)


def ranked(*docnos):
    features = pt.Transformer.identity() ** run(*docnos)
    found = (run("d1", "d2") >> features).search("melanoma")
    return [(docno, *features.tolist()) for docno, features in zip(found["docno"], found["features"])]


seen = ranked("d1", "d3"), ranked("d1")
twice = ("d1", 9, 9)
assert seen == ([twice, twice, ("d2", 8, 0)], [twice, twice]), f"changed: {seen}"
print("as described:", seen)
PYTHON
