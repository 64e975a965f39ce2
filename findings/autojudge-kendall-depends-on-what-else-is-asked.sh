#!/usr/bin/env bash
# autojudge-evaluate 1.1.0: Kendall's tau of two leaderboards depends on whether tau of the first k
# runs is asked for beside it. If the judge lacks a run, `kendall@k` takes away the runs that both do
# not have, for all measures: `--on-missing error` raises nothing, and `--on-missing default`, which
# counts a missing run as 0, counts none. Without `--correlation`, `kendall@10` is among the measures.
# Seen: tau -0.067 alone, 0.4 with `--correlation kendall@3` added; with `error`, exit code 1 and 0.
# Guessed: one measure has the same value, or the same error, whatever stands beside it.
# (The program looks for NLTK's stop words when it is imported, and would download them.)
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet autojudge-evaluate==1.1.0 autojudge-base==1.0.0
mkdir -p nltk/corpora/stopwords nltk/tokenizers/punkt
echo the > nltk/corpora/stopwords/english
export NLTK_DATA=$folder/nltk
for run in 1 2 3 4 5 6; do
  for topic in 1 2 all; do echo "r$run $topic nDCG 0.$run"; done
done > people.txt
for pair in r1:0.5 r2:0.4 r3:0.3 r4:0.6 r5:0.8; do
  for topic in 1 2 all; do echo "${pair%:*} $topic score ${pair#*:}"; done
done > judge.txt
tau() {
  venv/bin/auto-judge-evaluate meta-evaluate --truth-leaderboard people.txt --truth-format ir_measures \
    --eval-format ir_measures -i judge.txt --on-missing "$@" 2>> errors.txt | awk 'END {print $4}'
}
alone=$(tau default --correlation kendall)
beside=$(tau default --correlation kendall --correlation kendall@3)
[[ $alone == -0.066667 && $beside == 0.4 ]] || { echo "changed: $alone, $beside"; exit 1; }
if tau error --correlation kendall > /dev/null; then echo "changed: no error"; exit 1; fi
grep -q "Run ID mismatch" errors.txt
[[ $(tau error --correlation kendall --correlation kendall@3) == 0.4 ]] || { echo "changed"; exit 1; }
echo "as described: tau $alone alone, $beside beside kendall@3"
