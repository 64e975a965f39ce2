#!/usr/bin/env bash
# ir_measures 0.4.3: a cutoff turns the order of tied documents round. Of two documents with one score,
# of which "a" is the only judged one and relevant, one call says RR 0.5, RR@10 1.0, P@1 0.0 and
# Judged@1 1.0. RR@10 cannot be above RR, nor the first document be judged and not relevant. Each of
# three providers orders ties in its own way: descending ids (RR, P), ascending ones (RR@10, Judged).
# Guessed: all measures of one call speak of one ranking, trec_eval's, and RR@10 is RR with zeros for
# what comes late.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet ir-measures==0.4.3 pytrec-eval-terrier==0.5.11
venv/bin/python - <<'PYTHON'
import ir_measures
from ir_measures import RR, Judged, P, Qrel, ScoredDoc

measures = [RR, RR @ 10, P @ 1, Judged @ 1]
run = [ScoredDoc("q", "b", 1.0), ScoredDoc("q", "a", 1.0)]
found = ir_measures.calc_aggregate(measures, [Qrel("q", "a", 1)], run)
seen = [float(found[measure]) for measure in measures]
assert seen == [0.5, 1.0, 0.0, 1.0], f"changed: {seen}"
print("as described:", *seen)
PYTHON
