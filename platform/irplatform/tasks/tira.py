"""Software for TIRA: a folder of documents and topics, or of candidates, becomes `run.txt`.

TIRA (Fröbe et al., ECIR 2023) runs software in a sandbox. For retrieval, the input folder has
`documents.jsonl` and `queries.jsonl` (full-rank); for reranking, `rerank.jsonl` with a line for
each topic and candidate. Each may be gzipped. LongEval's has `documents/*.jsonl` and `queries.txt`,
of which documents that come twice count once. The output folder gets `run.txt` and
`ir-metadata.yml`.
"""

from __future__ import annotations

import tempfile
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from irplatform.collections.inspection import EMPTY
from irplatform.collections.topic_formats import read_topics
from irplatform.data import Collection, Topic
from irplatform.documents.jsonlines import JSONL_ENDINGS, FieldNames, JsonLinesCorpus
from irplatform.errors import InputError
from irplatform.experiment.arguments import collection_name
from irplatform.experiment.run import rank_unscored
from irplatform.files.formats import parse_json, read_json
from irplatform.files.reading import numbered_lines
from irplatform.run_folder.campaigns import known_facts, write_upload
from irplatform.run_folder.ir_metadata import FILE_NAME
from irplatform.runs import Ranking, Run, write_run
from irplatform.spelling import option
from irplatform.system.console import waiting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from irplatform.experiment.run_settings import RunSettings

FULL_RANK = ("documents.jsonl", "corpus.jsonl")
"""The documents of a full-rank input."""
RERANK = "rerank.jsonl"
TOPICS = "queries.jsonl"
LONGEVAL = ("documents", "queries.txt")
"""LongEval's input: a folder of JSON lines, and a table of topics."""
_NAMES = FieldNames(id="docno", abstract="text")
_TEXTS = ("abstract", "text", "contents")
"""Keys of LongEval's texts."""


def rank_input(
    source: Path, out: Path, settings: RunSettings, *, all_candidates: bool = True
) -> dict[str, Any]:
    """Rank TIRA's input, and write the run and its metadata as TIRA takes them.

    Args:
        source: the input folder.
        out: the output folder, which may exist.
        settings: of the run; its collection is the input. Without a reranker, the first stage's
            run is written; the candidates of `rerank.jsonl` need one.
        all_candidates: rerank all candidates of `rerank.jsonl`, whatever the settings' depth.

    Returns:
        The `path` of the folder, the `files` in it, the `form` of the input, the number of
        `topics`, and what campaigns require and is `missing` in the metadata.

    Raises:
        InputError: the input has neither form, a line is wrong, a file would be overwritten, or
            see `irplatform.run`.
    """
    for name in ("run.txt", "run.txt.gz", FILE_NAME):
        if (out / name).exists():
            raise InputError("there is a file of this name. Name an empty folder.", path=out / name)
    with tempfile.TemporaryDirectory(prefix="irplatform-tira-") as temporary:
        work = Path(temporary)
        if (candidates := _file(source, RERANK)) is not None:
            if not settings.rerankers:
                raise InputError(
                    f"{candidates.name} is there to be reranked: name a {option('rerankers')}."
                )
            with waiting(f"reading {candidates}"):
                collection, first, most = _reranked(source, candidates, work)
            settings = replace(settings, first_stages=(str(first),))
            if all_candidates:
                settings = replace(settings, rerank_depth=most)
        else:
            collection = _full_rank(source)
        name = collection_name(collection)
        system = rank_unscored(replace(settings, collection=name, run_dir=work / "runs"))
        missing = write_upload(system.path, out, known_facts())
    return {
        "path": str(out),
        "files": ["run.txt", FILE_NAME],
        "form": "re-rank" if candidates else "full-rank",
        "topics": len(collection.topics),
        "missing": missing,
    }


def _full_rank(source: Path) -> Collection:
    documents = [path for name in FULL_RANK if (path := _file(source, name)) is not None]
    topics = _file(source, TOPICS)
    inside = (source / LONGEVAL[0]).glob("*")
    files = sorted(path for path in inside if path.name.endswith(JSONL_ENDINGS))
    if not documents and files and (table := _file(source, LONGEVAL[1])) is not None:
        keys = {key for path in files[:1] for _, line in islice(_lines(path), 1) for key in line}
        text = next((key for key in _TEXTS if key in keys), "abstract")
        names = FieldNames(id="docno" if "docno" in keys else "id", abstract=text)
        table_topics = read_topics(table, "tsv")
        return Collection(
            _name(source),
            "LongEval's documents and topics",
            JsonLinesCorpus("documents", files, names),
            lambda: table_topics,
            metadata={EMPTY: "taken"},
        )
    if not documents or topics is None:
        raise InputError(
            f"TIRA's input has {FULL_RANK[0]} and {TOPICS}, or {RERANK}, or LongEval's "
            f"{' and '.join(LONGEVAL)} (files may end in .gz); here is none of them.",
            path=source,
        )
    found_topics = (_topic(line, topics, number) for number, line in _lines(topics))
    queries = {topic.id: topic for topic in found_topics}
    if not queries:
        raise InputError("there are no topics in this file.", path=topics)
    return Collection(
        _name(source),
        "TIRA's documents and topics",
        JsonLinesCorpus("documents", [documents[0]], _NAMES),
        lambda: [*queries.values()],
        metadata={EMPTY: "taken"},
    )


def _reranked(source: Path, candidates: Path, work: Path) -> tuple[Collection, Path, int]:
    """A collection of the candidates, a run file of them, and the most candidates of a topic."""
    documents, first = work / "documents.jsonl", work / "candidates.run"
    topics: dict[str, Topic] = {}
    results: dict[str, dict[str, float]] = {}
    doc_ids: set[str] = set()
    with documents.open("wb") as file:
        for number, line in _lines(candidates):
            topic = _topic(line, candidates, number)
            topics.setdefault(topic.id, topic)
            doc_id = str(_value(line, "docno", candidates, number))
            scores = results.setdefault(topic.id, {})
            score = line.get("score", -len(scores))
            if not isinstance(score, int | float):
                message = f"the score {score!r} is not a number."
                raise InputError(message, path=candidates, line=number)
            scores[doc_id] = float(score)
            if doc_id not in doc_ids:
                doc_ids.add(doc_id)
                text = _value(line, "text", candidates, number)
                file.write(orjson.dumps({"docno": doc_id, "text": text}) + b"\n")
    if not topics:
        raise InputError("there are no candidates in this file.", path=candidates)
    rankings = {topic: Ranking.of([*of], [*of.values()]) for topic, of in results.items()}
    write_run(Run("candidates", rankings), first)
    corpus = JsonLinesCorpus("documents", [documents], _NAMES)
    title = "TIRA's candidates"
    collection = Collection(
        _name(source), title, corpus, lambda: [*topics.values()], metadata={EMPTY: "taken"}
    )
    return collection, first, max(map(len, results.values()))


def _name(source: Path) -> str:
    """The dataset's id in `metadata.json`, or the folder's name."""
    metadata = source / "metadata.json"
    dataset = read_json(metadata) if metadata.exists() else {}
    name = dataset.get("ir_datasets_id") if isinstance(dataset, dict) else None
    return str(name or source.resolve().name or "tira")


def _file(folder: Path, name: str) -> Path | None:
    paths = (folder / name, folder / f"{name}.gz")
    return next((path for path in paths if path.is_file()), None)


def _lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in numbered_lines(path):
        value = parse_json(line, path, number)
        if not isinstance(value, dict):
            raise InputError("this line is not a JSON object.", path=path, line=number)
        yield number, value


def _topic(line: Mapping[str, Any], path: Path, number: int) -> Topic:
    original = line.get("original_query")
    fields = {
        name: value
        for name, value in (original if isinstance(original, dict) else {}).items()
        if isinstance(value, str)
    }
    name, query = (_value(line, key, path, number) for key in ("qid", "query"))
    return Topic(str(name), str(query), fields)


def _value(line: Mapping[str, Any], key: str, path: Path, number: int) -> Any:
    if key not in line:
        problem = f"this line has no '{key}' (keys: {', '.join(line)})."
        raise InputError(problem, path=path, line=number)
    return line[key]
