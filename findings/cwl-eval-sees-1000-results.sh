#!/usr/bin/env bash
# ir_measures 0.4.3 with cwl-eval 1.0.12: SDCG@2000 and RBP of a run of 2,000 results are 0.0 where
# all relevant documents stand at ranks 1,001 to 2,000. P@2000 of the same call is 0.5. Seen:
# SDCG(max_rel=1)@2000 0.0, RBP(rel=1,p=0.999) 0.0. By their formulas they are 0.4358 and 0.2325.
# RBP is also divided by the sum of its weights over 1,000 ranks: a perfect run of 2,000 has 1.0 for
# p = 0.999, not 0.8648. Guessed: a cutoff of 2,000 that is accepted is looked at. (The provider makes
# its measures for 1,000 ranks and says nothing.)
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet ir-measures==0.4.3 cwl-eval==1.0.12
venv/bin/python - <<'PYTHON'
import ir_measures
from ir_measures import P, RBP, SDCG, Qrel, ScoredDoc

names = [f"d{rank:04}" for rank in range(1, 2001)]
run = [ScoredDoc("q", name, 3000.0 - rank) for rank, name in enumerate(names)]
late = [Qrel("q", name, int(rank >= 1000)) for rank, name in enumerate(names)]
measures = [SDCG(max_rel=1) @ 2000, RBP(rel=1, p=0.999), P @ 2000]
found = ir_measures.calc_aggregate(measures, late, run)
perfect = ir_measures.calc_aggregate(measures[1:2], [Qrel("q", n, 1) for n in names], run)
seen = [round(float(found[m]), 4) for m in measures] + [round(float(perfect[measures[1]]), 4)]
assert seen == [0.0, 0.0, 0.5, 1.0], f"changed: {seen}"
print("as described:", *seen)
PYTHON
