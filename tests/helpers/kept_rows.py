"""A small judged collection, and the folders that `platform run` would leave of it."""

import json
from pathlib import Path

from irplatform.evaluation.scoring import evaluate, mean_evaluation
from irplatform.experiment.topics import topic_fingerprints
from irplatform.files.writing import write_json
from irplatform.registry.loading import registry
from irplatform.reproduction.execute import Execution
from irplatform.reproduction.rows import Row
from irplatform.run_folder.folder import FolderScores, SystemScores, write_scores
from irplatform.run_folder.metadata_files import run_metadata, write_run_with_metadata
from irplatform.run_folder.metadata_model import Data, Method
from irplatform.runs import Ranking, Run

TOPICS = [f"t{number}" for number in range(1, 9)]
DOCUMENTS = [f"d{number}" for number in range(6)]
MEASURES = ["nDCG@2", "AP"]


def collection(folder: Path, *, relevant: int = 2) -> Path:
    """Write a collection whose every document is judged for every topic."""
    (folder / "qrels").mkdir(parents=True)
    documents = [{"_id": d, "title": f"Title {d}", "text": "Text."} for d in DOCUMENTS]
    queries = [{"_id": t, "text": f"query {t}"} for t in TOPICS]
    for name, records in (("corpus", documents), ("queries", queries)):
        lines = "".join(json.dumps(record) + "\n" for record in records)
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    lines = [f"{t}\t{d}\t{int(n < relevant)}\n" for t in TOPICS for n, d in enumerate(DOCUMENTS)]
    header = "query-id\tcorpus-id\tscore\n"
    (folder / "qrels" / "test.tsv").write_text(header + "".join(lines), encoding="utf-8")
    return folder


def ranked(name: str, shift: int, *, depth: int = len(DOCUMENTS)) -> Run:
    """Return a run whose relevant documents are further down for a larger shift."""
    rankings = {}
    for place, topic in enumerate(TOPICS):
        turn = (shift * (1 + place % 3)) % len(DOCUMENTS)
        order = [*DOCUMENTS[turn:], *DOCUMENTS[:turn]][:depth]
        rankings[topic] = Ranking.of(order, [9 - n / 7 for n in range(len(order))])
    return Run(name, rankings)


def metadata(name: str, place: Path, *, protocol: str = "judged", documents: str = "same"):
    """Return the metadata of a run of a collection."""
    opened = registry().collection(str(place))
    marks = {"name": opened.id, "documents": documents, **topic_fingerprints(opened, opened.qrels)}
    reranked = {"reranker": "ranker", "reranks": "bm25", "options": {}}
    depth = {} if protocol == "judged" else {"rerank_depth": 5}
    content = {
        "retrieval": [{"retriever": "bm25"}, reranked] if name.startswith("ranker") else [],
        "interpolation": 0.25,
        "candidates": {"protocol": protocol, **depth},
    }
    return run_metadata(
        tag=name,
        command="platform run",
        method=Method.model_validate(content),
        data=Data.model_validate({"test collection": marks}),
        timings={},
        measures=MEASURES,
        call={"function": "run", "settings": {"collection": str(place)}},
    )


def execution(
    row_id: str,
    place: Path,
    folder: Path,
    finals: dict[int, int],
    *,
    alone: int | None = None,
    protocol: str = "judged",
    retriever: str = "bm25",
) -> Execution:
    """Leave the runs of a row; `finals` has a shift for each seed, `alone` one for all of them."""
    qrels = registry().collection(str(place)).qrels
    seeded = len(finals) > 1
    names = {seed: f"ranker-seed{seed}" if seeded else "ranker" for seed in finals}
    runs = {name: ranked(name, finals[seed]) for seed, name in names.items()}
    single_runs = {f"{name}-alone": ranked(f"{name}-alone", alone or 0) for name in runs}
    for name, run in {**runs, **(single_runs if alone is not None else {})}.items():
        about = metadata(name, place, protocol=protocol)
        write_run_with_metadata(run, folder / f"{name}.run", about)
    systems = {}
    for system, of in {
        "ranker": runs,
        "ranker-alone": single_runs if alone is not None else {},
    }.items():
        if of:
            mean = mean_evaluation([evaluate(qrels, run, MEASURES) for run in of.values()])
            systems[system] = SystemScores(mean.aggregate, mean.per_topic)
    write_scores(FolderScores("small", MEASURES, systems), folder)
    entry = {"name": "ranker", "path": str(folder / f"{next(iter(runs))}.run"), "measures": {}}
    if seeded:
        entry["seeds"] = [{"seed": seed, "path": f"{name}.run"} for seed, name in names.items()]
    candidates = {"protocol": protocol, **({} if protocol == "judged" else {"rerank_depth": 5})}
    write_json(folder / "report.json", {"candidates": candidates, "runs": [entry]})
    row = Row.model_validate(
        {
            "id": row_id,
            "collection": "${KEPT_ROWS}/small",
            "retrievers": [retriever],
            "reranker": "ranker",
            "minutes": 1,
            "tolerance": 0,
            "expected": {"AP": 0.5},
        }
    )
    return Execution(row, ("run",), folder=folder)
