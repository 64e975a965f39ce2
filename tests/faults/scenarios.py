"""Commands to drive through their file operations, with what they need."""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.judging.judgments import Source
from irplatform.judging.store import Store

if TYPE_CHECKING:
    from pathlib import Path

_WORDS = ["melanoma", "vemurafenib", "liposarcoma", "braf", "kras", "lung", "colon", "therapy"]
_WORDS += ["trial", "mouse", "cell", "gene", "dose"]
_TERMS = [f"[Term]\nid: X:{n}\nname: {word}\n\n" for n, word in enumerate(_WORDS)]
_QUICK = ("--workers", "1", "--quiet")
_DRMM = (
    *("--reranker", "drmm", "--members", "1", "--set", "drmm.stemmer=none"),
    *("--set", "drmm.loop.epochs=2", "--set", "drmm.vectors.epochs=1"),
    *("--set", "drmm.vectors.dimensions=4"),
)
_BOTH = ("run", "--collection", "small", "--first-stage", "bm25", "--quiet")


@dataclass(frozen=True)
class Scenario:
    """A command: what runs `before` it, what of that is removed, and what may pass by.

    `passing` are patterns of files whose content may be another one in between.
    """

    name: str
    arguments: tuple[str, ...]
    before: tuple[tuple[str, ...], ...] = ()
    removed: tuple[str, ...] = ()
    passing: tuple[str, ...] = ()

    def write(self, folder: Path) -> None:
        """Write a collection of 40 documents, runs with faults, judgments, ontologies, vectors."""
        draw = random.Random(1)
        small = folder / "small"
        (small / "qrels").mkdir(parents=True)

        def text(count: int) -> str:
            return " ".join(draw.choice(_WORDS) for _ in range(count))

        documents = [{"_id": f"d{n:02}", "title": text(4), "text": text(25)} for n in range(40)]
        topics = [{"_id": str(n), "text": text(3)} for n in range(1, 17)]
        for name, records in (("corpus", documents), ("queries", topics)):
            lines = [json.dumps(record) + "\n" for record in records]
            (small / f"{name}.jsonl").write_text("".join(lines))
        for split, numbers in (("test", range(1, 5)), ("train", range(5, 17))):
            rows = [
                f"{q}\td{d:02}\t{draw.randint(0, 2)}\n" for q in numbers for d in range(0, 40, 2)
            ]
            (small / "qrels" / f"{split}.tsv").write_text(
                "query-id\tcorpus-id\tscore\n" + "".join(rows)
            )
        judged = []
        for name in ("odd", "even"):
            order = draw.sample(range(40), 40)
            ranks = [
                f"{q} Q0 d{d:02} {40 - s} {s}.5 {name}\n"
                for q in range(1, 5)
                for s, d in enumerate(order)
            ]
            (folder / f"{name}.run").write_text("".join(ranks))
            judged += [f"{q} 0 d{order[-1]:02} 1\n" for q in range(1, 5)]
        (folder / "judged.txt").write_text("".join(judged))
        plain = [f"{q} Q0 {d}000 {d} {40 - d} plain\n" for q in range(1, 31) for d in range(1, 9)]
        (folder / "plain.run").write_text("".join(plain))
        for name, terms in (("own", _TERMS), ("newer", _TERMS[:5])):
            (folder / f"{name}.obo").write_text("\n".join(["format-version: 1.4\n", *terms]))
        vectors = [
            {"id": d["_id"], "vector": dict.fromkeys(_WORDS[:5], n)}
            for n, d in enumerate(documents)
        ]
        (folder / "vectors.jsonl").write_text("".join(json.dumps(v) + "\n" for v in vectors))
        (folder / "asked").mkdir()
        with Store.open(folder / "asked", "p1") as store:
            for document in ("d01", "d02"):
                store.judge("1", document, Source("person", "ann"), 1, request=document)
        (folder / "topics.tsv").write_text("".join(f"{t['_id']}\t{t['text']}\n" for t in topics))


_CACHED = (
    (*_BOTH, "--reranker", "uqlm-title", "--run-dir", "first"),
    (
        "run",
        "--collection",
        "small:train",
        "--first-stage",
        "bm25",
        "--quiet",
        "--run-dir",
        "train",
    ),
)
_RUNS = ((*_BOTH, "--reranker", "uqlm-text", "--run-dir", "out"),)
_LEARNS = ("--method", "move-to-front", "--budget", "8", "--batch", "4", "--depth", "2")
_ALL = (
    Scenario("run", (*_BOTH, "--reranker", "uqlm-text", "--run-dir", "out", *_QUICK), _CACHED),
    Scenario("run --compress", (*_RUNS[0], "--compress", "--workers", "1"), _RUNS),
    Scenario("index", (*_BOTH, "--reranker", "uqlm-text", "--run-dir", "out", *_QUICK)),
    Scenario(
        "matrix",
        (
            *("run", "--collection", "small", "--first-stage", "bm25,odd.run", "--run-dir", "out"),
            *("--reranker", "uqlm-text", "--interpolate", "0.5", *_QUICK),
        ),
        _CACHED,
    ),
    Scenario(
        "train", ("train", "--collection", "small:train", *_DRMM, "--out", "made", *_QUICK), _CACHED
    ),
    Scenario(
        "tune",
        (
            *("tune", "--collection", "small", "--reranker", "uqlm-text", "--folds", "2"),
            *("--over", "uqlm-text.mu=500,1000", "--out", "tuned.toml", *_QUICK),
        ),
        _CACHED,
    ),
    Scenario("report", ("report", "out", "--html", "report.html", "--plots", "plots"), _RUNS),
    Scenario("compare", ("compare", "out"), _RUNS),
    Scenario(
        "index --export",
        (
            *("index", "--collection", "small", "--retriever", "sparse-encoder"),
            *("--set", "vectors=vectors.jsonl", "--set", "queries=topics.tsv"),
            *("--export", "ours.jsonl"),
        ),
        _CACHED,
    ),
    Scenario("fuse", ("fuse", "odd.run", "even.run", "--out", "fused.run")),
    Scenario(
        "submit fix", ("submit", "fix", "odd.run", "-o", "fixed.run", "--diff", "changes.txt")
    ),
    Scenario(
        "submit prepare",
        ("submit", "prepare", "plain.run", "--task", "trec-pm-2017", "--out", "up"),
    ),
    Scenario("qrels write", ("qrels", "write", "judged.txt", "-o", "q.txt", "--by", "person:ann")),
    Scenario("qrels pool", ("qrels", "pool", "odd.run", "even.run", "-o", "pool", *_LEARNS)),
    Scenario(
        "qrels pool round",
        ("qrels", "pool", "--judged", "judged.txt", "-o", "pool"),
        (("qrels", "pool", "odd.run", "even.run", "-o", "pool", *_LEARNS),),
    ),
    Scenario("judge --export", ("judge", "asked", "--export", "j.jsonl")),
    Scenario("judge --backup", ("judge", "asked", "--backup", "j.sqlite")),
    Scenario("kb add", ("kb", "add", "own", "own.obo")),
    Scenario("kb replace", ("kb", "add", "own", "newer.obo"), (("kb", "add", "own", "own.obo"),)),
)
SCENARIOS = {scenario.name: scenario for scenario in _ALL}
