#!/usr/bin/env bash
# autojudge-evaluate 1.1.0: grades with decimals in a file of judgments are cut to whole numbers, and
# nothing is said. A judge that gives what people found relevant 0.9 and 0.8, and the rest 0.1 and 0.2,
# has judged nothing relevant. Seen: recall 0.0, kappa 0.0, Krippendorff's alpha -0.1667. Guessed: an
# error, or grades that are kept, since `--predict-relevance-threshold` says what counts as relevant.
# (The program looks for NLTK's stop words when it is imported, and would download them.)
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet autojudge-evaluate==1.1.0 autojudge-base==1.0.0
mkdir -p nltk/corpora/stopwords nltk/tokenizers/punkt
echo the > nltk/corpora/stopwords/english
export NLTK_DATA=$folder/nltk
printf '1 0 a 1\n1 0 b 1\n1 0 c 0\n1 0 d 0\n' > people.qrels
printf '1 0 a 0.9\n1 0 b 0.8\n1 0 c 0.1\n1 0 d 0.2\n' > judge.qrels
venv/bin/auto-judge-evaluate qrel-evaluate --truth-qrels people.qrels --predict-qrels judge.qrels \
  --output table.txt > printed.txt 2>&1
row=$(awk '$1 == "MEAN" {print $3, $6, $8}' table.txt)
[[ $row == "0.0 0.0 -0.1667" ]] || { echo "changed: $row"; cat printed.txt; exit 1; }
! grep -qiE "grade|decimal|float" printed.txt || { echo "changed: it says something"; exit 1; }
echo "as described: recall, kappa, alpha $row"
