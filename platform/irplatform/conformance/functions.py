"""Checks that a measure or a collection keeps its contract."""

from __future__ import annotations

import copy
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from irplatform.collections.inspection import check as inspect
from irplatform.conformance.behaviour import NEW_PROCESS, said
from irplatform.experiment.systems import refuse_large_downloads
from irplatform.registry.loading import registry
from irplatform.runs import Ranking, Run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from irplatform.conformance.behaviour import Results
    from irplatform.conformance.process import AnotherProcess
    from irplatform.conformance.watch import Watch
    from irplatform.data import Collection, Qrels

    Measure = Callable[[Mapping[str, Mapping[str, float]], Run], Mapping[str, float]]


_QRELS: Qrels = {
    "t1": {"a": 2, "b": 1, "c": 0},
    "t2": {"a": 1, "d": 0},
    "t3": {"e": 0},
    "t4": {"b": 1},
    "t5": {"a": -1, "b": 3, "f": 1},
}
"""A topic with grades; others whose ranking is empty, without a relevant document, or missing."""
_RANKINGS = {
    "t1": Ranking.of(["b", "x", "a", "c"], [4.0, 3.0, 2.0, 1.0]),
    "t2": Ranking.of([], []),
    "t3": Ranking.of(["e", "a"], [2.0, 1.0]),
    "t5": Ranking.of(["a", "f", "b"], [0.5, -1.0, -1.5]),
    "t6": Ranking.of(["a"], [1.0]),
}
_SAME = 1e-9
"""The largest difference between values of a measure that are equal."""
_MOST_DOCUMENTS = 50_000
"""Larger collections are not read; `platform collections check` reads them."""
_READ_TWICE = 1000
_SHOWN = 3


def results_of_measure(compute: Measure, watch: Watch) -> Results:
    """Check a measure on five small topics; PluginError if it gives no numbers for them."""
    qrels = copy.deepcopy(_QRELS)

    def values(qrels: Mapping[str, Mapping[str, float]]) -> Mapping[str, float]:
        with watch.during("computing it"):
            return compute(qrels, Run("small", dict(_RANKINGS)))

    expected = values(qrels)
    yield "numbers", ""
    unchanged = qrels == _QRELS
    yield "arguments", "" if unchanged else "it changes the judgments that it is given"
    backwards = {t: dict([*_QRELS[t].items()][::-1]) for t in [*_QRELS][::-1]}
    alone = {topic: values({topic: _QRELS[topic]})[topic] for topic in _QRELS}
    for check, way, again in (
        ("asked again", "when it is asked again", values(copy.deepcopy(_QRELS))),
        ("another order", "when judgments come in another order", values(backwards)),
        ("one topic at a time", "when topics come one at a time", alone),
    ):
        yield check, said(_other(expected, again), way)


def _other(expected: Mapping[str, float], actual: Mapping[str, float]) -> str:
    for topic, value in expected.items():
        if not np.isclose(actual[topic], value, rtol=_SAME, atol=_SAME):
            return f"topic {topic} has {actual[topic]:.6g} instead of {value:.6g}"
    return ""


def results_of_collection(name: str, watch: Watch, process: AnotherProcess) -> Results:
    """Check a collection.

    Raises:
        InputError: it would download something.
        PluginError: it fails, or has data of wrong types.
    """
    load = registry().collections[name]
    with watch.during("loading it"):
        collection, again = load(), load()
    refuse_large_downloads(collection, name)
    yield "loading", ""
    contents = _contents(collection)
    yield "loaded again", _change(contents, _contents(again), "when it is loaded again")
    owner = registry().owners[f"collection {name}"]
    if owner.installed:
        answer = process.ask(_contents_of, name, name, f"collection '{name}' of {owner}")
        yield "another process", _change(contents, answer, NEW_PROCESS)
    corpus = collection.corpus
    first, second = ([*islice(corpus, _READ_TWICE)] for _ in range(2))
    wrong = "" if first == second else "the documents differ when they are read again"
    yield "read again", wrong
    if collection.training is not None:
        _ = collection.training().id
    yield "training partner", ""
    if (corpus.size_hint() or 0) <= _MOST_DOCUMENTS:
        with watch.during("reading it"):
            findings = inspect(collection, registry().measures)
        serious = [finding for finding in findings if finding.serious]
        for finding in serious:
            first_examples = finding.examples[:_SHOWN]
            examples = ", ".join(
                example for example in first_examples if example not in finding.message
            )
            yield "contents", f"{finding.message}: {examples}" if examples else finding.message
        if not serious:
            yield "contents", ""


def _contents(collection: Collection) -> dict[str, object]:
    qrels = collection.load_qrels() if collection.load_qrels else {}
    return {
        "another fingerprint": collection.corpus.fingerprint,
        "other topics": [topic.describe() for topic in collection.load_topics()],
        "other judgments": {topic: dict(grades) for topic, grades in qrels.items()},
    }


def _contents_of(name: str) -> dict[str, object]:
    return _contents(registry().collections[name]())


def _change(before: dict[str, object], after: dict[str, object], way: str) -> str:
    others = [part for part in before if before[part] != after[part]]
    return said(f"it has {others[0]}" if others else "", way)
