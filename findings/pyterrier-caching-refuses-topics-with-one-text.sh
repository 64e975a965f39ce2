#!/usr/bin/env bash
# pyterrier-caching 0.5.8: ScorerCache fails where two topics ask with the same words and share a
# document. Seen: sqlite3.IntegrityError, UNIQUE constraint failed, and no scores. One at a time they
# work, and the second is answered from the cache. NFCorpus has such topics. Guessed: both get the one
# score, since scores are kept by query and docno. (New scores of one call are inserted without a look
# for doubles; `group="qid"` helps.)
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet pyterrier-caching==0.5.8 pyterrier==1.1.2 pyterrier-alpha==0.16.5 ir-measures==0.4.3
venv/bin/python -W ignore - <<'PYTHON'
import sqlite3

import pandas as pd
import pyterrier as pt
from pyterrier_caching import ScorerCache

columns = ["qid", "query", "docno", "score", "rank"]
rows = [[qid, "pollutants", "d1", 1.0, 0] for qid in ("PLAIN-1", "PLAIN-2")]
both = pd.DataFrame(rows, columns=columns)
asked = []
scorer = pt.apply.doc_score(lambda row: asked.append(row["qid"]) or 7.0)
one_by_one = ScorerCache("a", scorer)
scores = [one_by_one(both[both.qid == qid])["score"].item() for qid in both.qid]
assert (scores, asked) == ([7.0, 7.0], ["PLAIN-1"]), f"changed: {scores} {asked}"
try:
    seen = ScorerCache("b", scorer)(both)
except sqlite3.IntegrityError as error:
    seen = str(error)
assert seen == "UNIQUE constraint failed: cache.group, cache.key", f"changed: {seen}"
print("as described:", scores, "and then", seen)
PYTHON
