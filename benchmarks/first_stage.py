"""First-stage search: topics per second, against Anserini's own two ways to search in batches.

Ours is `LuceneIndex.search`: rankings in Python, ready to use. Anserini's are
`SimpleSearcher.batch_search`, what Pyserini calls (results left in Java, none converted), and
`SearchCollection`, its command-line program, which writes a TREC run. The peer is the faster one.
All search the same index for the same words, to the same depth, on the same number of threads.
Both of Anserini's read the stored document of every hit to learn its id; ours does not, so the
detail also says how fast Lucene alone searches, without ids and without results leaving Java.
Anserini's program asks GitHub for a list of published indexes from 2.0 on, even if the index is a
folder; without a network it is left out.
"""

from __future__ import annotations

import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from _common import alternate, parser, rate, report, require
from irplatform.collections.beir import open_beir
from irplatform.lucene import BM25, LuceneIndex, build_index
from irplatform.lucene.java import anserini_program, java_class, java_map
from irplatform.lucene.queries import bag_of_words, lucene_similarity
from irplatform.workers.distribution import available_cores

if TYPE_CHECKING:
    from collections.abc import Callable

_AT_ONCE = 32
"""Topics per call of `batch_search`: it keeps every hit's whole document in the Java heap."""


def simple_searcher(
    index: LuceneIndex, queries: dict[str, str], depth: int, threads: int
) -> Callable[[], object]:
    """Anserini's batch search from Python; what it finds stays in Java."""
    searcher = java_class("io.anserini.search.SimpleSearcher")(str(index.path))
    searcher.set_bm25(0.9, 0.4)
    batches = []
    remaining = iter(queries.items())
    while batch := list(islice(remaining, _AT_ONCE)):
        words, topics = java_class("java.util.ArrayList")(), java_class("java.util.ArrayList")()
        for topic, query in batch:
            topics.add(topic)
            words.add(query)
        batches.append((words, topics))

    def run() -> None:
        for words, topics in batches:
            searcher.batch_search(words, topics, depth, threads)

    return run


def search_collection(
    index: LuceneIndex, queries: dict[str, str], depth: int, threads: int, folder: Path
) -> Callable[[], object]:
    """Anserini's program, in this JVM: writes a run file."""
    topics = folder / "topics.tsv"
    topics.write_text("".join(f"{t}\t{' '.join(q.split())}\n" for t, q in queries.items()))
    command = f"-index {index.path} -topics {topics} -topicReader TsvString -bm25 -hits {depth}"
    command += f" -output {folder / 'run.txt'} -threads {threads}"

    def run() -> None:
        arguments = java_class("io.anserini.search.SearchCollection$Args")()
        java_class("org.kohsuke.args4j.CmdLineParser")(arguments).parseArgument(*command.split())
        search = anserini_program("io.anserini.search.SearchCollection")(arguments)
        search.run()
        search.close()

    return run


def lucene(
    index: LuceneIndex, queries: dict[str, str], depth: int, threads: int
) -> Callable[[], object]:
    """Lucene without Anserini: the hits' numbers and scores, left in Java."""
    searcher = java_class("org.apache.lucene.search.IndexSearcher")(index.reader)
    searcher.setSimilarity(lucene_similarity(BM25()))

    def find(words: str) -> Any:
        return searcher.search(bag_of_words(index.analyzer, words), depth)

    return lambda: java_map(find, queries.values(), threads)


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.add_argument("--topics", type=int, default=300, help="how many citing sentences")
    command_line.add_argument("--depth", type=int, default=1000)
    command_line.add_argument("--threads", type=int, default=available_cores())
    arguments = command_line.parse_args()

    collection = open_beir(require(arguments.data / "citations"), "dev")
    queries = {t.id: t.query for t in islice(collection.load_topics(), arguments.topics)}
    index = LuceneIndex.open(build_index(collection.corpus, threads=arguments.threads).path)
    search_arguments = (index, queries, arguments.depth, arguments.threads)
    sides: dict[str, Callable[[], object]] = {
        "LuceneIndex.search": lambda: index.search(
            queries, arguments.depth, threads=arguments.threads
        ),
        "SimpleSearcher.batch_search": simple_searcher(*search_arguments),
        "Lucene alone": lucene(*search_arguments),
    }
    hits = sum(len(r) for r in index.search(queries, arguments.depth).values())
    with tempfile.TemporaryDirectory() as folder:
        from jnius import JavaException  # not before Java is set up

        program = search_collection(*search_arguments, Path(folder))
        try:
            program()
        except JavaException as error:
            print(f"Anserini's program is left out: {error}", file=sys.stderr)
        else:
            sides["SearchCollection"] = program
            lines = sum(1 for _ in (Path(folder) / "run.txt").open())
            if abs(lines - hits) > 0.01 * hits:
                raise SystemExit(f"the sides differ: {hits} hits and {lines} lines")
        seconds = alternate(sides, arguments.rounds)
    speed = {name: round(rate(len(queries), times), 2) for name, times in seconds.items()}
    peer = max(
        {"SimpleSearcher.batch_search", "SearchCollection"} & speed.keys(), key=speed.__getitem__
    )
    report(
        "first_stage",
        speed["LuceneIndex.search"],
        speed[peer],
        "topics/s",
        higher_is_better=True,
        against=peer,
        topics=len(queries),
        depth=arguments.depth,
        threads=arguments.threads,
        documents=index.count,
        hits=hits,
        speed=speed,
    )


if __name__ == "__main__":
    main()
