"""`platform qrels simulate-clicks`: a click log of a judged collection, for those who have none."""

from __future__ import annotations

from contextlib import ExitStack
from typing import IO, TYPE_CHECKING

from irplatform.choices import choose_systems, with_expansion_of
from irplatform.collections.write import pack
from irplatform.console import progress
from irplatform.errors import InputError
from irplatform.judgments.clicks.log import COLUMNS
from irplatform.judgments.clicks.sessions import SessionSettings, sessions
from irplatform.parallel import available_cores
from irplatform.registry import registry
from irplatform.resources import CollectionResources
from irplatform.retrieval.first_stage import retrieve
from irplatform.storage import atomic_write, writable_file

if TYPE_CHECKING:
    import gzip
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.plugin import Topic


def simulate_clicks(
    collection: str,
    path: Path,
    settings: SessionSettings,
    *,
    retriever: str = "bm25",
    options: Mapping[str, object] | None = None,
    threads: int | None = None,
) -> dict[str, int]:
    """Make a click log of a judged collection.

    Args:
        collection: a name, a path or an ir_datasets id.
        path: the log to write.
        settings: sessions and users.
        retriever: whose rankings the users are shown.
        options: the retriever's.
        threads: for indexing and searching; None takes all cores.

    Returns:
        The number of `topics` and of `lines`.

    Raises:
        InputError: a wrong name or option, a log that exists, has another ending or cannot be
            written, a collection without judgments, or nothing to show.
    """
    if writable_file(path).exists():
        raise InputError("this exists already; choose another name, or remove it.", path=path)
    if not path.name.endswith((".tsv", ".tsv.gz")):
        raise InputError("a log's name ends in .tsv or .tsv.gz.", path=path)
    plugins = registry()
    resolved = plugins.collection(collection)
    with_expansion = with_expansion_of(resolved, plugins, (retriever,), options or {})
    choices, _ = choose_systems(plugins, (retriever,), (), with_expansion)
    if resolved.load_qrels is None:
        raise InputError(f"'{resolved.id}' has no judgments to make clicks of.")
    qrels = resolved.load_qrels()
    topics = [topic for topic in resolved.load_topics() if topic.id in qrels]
    resources = CollectionResources(
        resolved.corpus, "cpu", settings.seed, threads or available_cores()
    )
    run = retrieve(choices, topics, settings.depth, resources, label=resolved.id).final
    rankings = {topic_id: ranking.doc_ids for topic_id, ranking in run.rankings.items()}
    shown = [topic for topic in topics if rankings.get(topic.id)]
    return {"topics": len(shown), "lines": write_log(path, topics, rankings, qrels, settings)}


def write_log(
    path: Path,
    topics: Sequence[Topic],
    rankings: Mapping[str, Sequence[str]],
    qrels: Mapping[str, Mapping[str, float]],
    settings: SessionSettings,
) -> int:
    """Write a simulated click log.

    Args:
        path: the file, gzipped where its name ends in `.gz`. It appears when it is complete.
        topics: who is asked for; those without a ranking are passed over.
        rankings: topic id to document ids, best first.
        qrels: topic id to document id to grade.
        settings: sessions and users.

    Returns:
        How many lines were written, without the header.

    Raises:
        InputError: no topic has any documents to show.
    """
    highest = max((g for grades in qrels.values() for g in grades.values()), default=0)
    if highest <= 0:
        raise InputError("no document of this collection is relevant: nobody would click.")
    if not any(rankings.get(topic.id) for topic in topics):
        raise InputError("the retriever finds nothing for any topic: there is nothing to show.")
    line_count = 0
    with atomic_write(path, "wb") as plain, ExitStack() as stack:
        file: IO[bytes] | gzip.GzipFile = plain
        if path.suffix == ".gz":
            file = stack.enter_context(pack(plain, level=6))
        file.write("\t".join(COLUMNS).encode() + b"\n")
        with progress("simulating clicks", len(topics), "topics") as advance:
            for topic in topics:
                ranking = rankings.get(topic.id, ())[: settings.depth]
                grades = qrels.get(topic.id, {})
                for frame in sessions(topic, ranking, grades, highest, settings):
                    lines = frame.write_csv(
                        separator="\t", include_header=False, quote_style="never"
                    )
                    file.write(lines.encode())
                    line_count += frame.height
                advance(1)
    return line_count
