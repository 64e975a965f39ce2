"""Tests of plugins with pytest: the contract's checks, and a small collection to try things on.

    from irplatform.testing import check_plugin

    test_contract = check_plugin("my-ranker")  # a test for each check

A test module that takes fixtures names this module:

    pytest_plugins = ["irplatform.testing"]

    def test_it_learns(resources, training_data): ...
"""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING

import pytest

from irplatform.conformance import check as conformance
from irplatform.conformance.data import judged_topics, resources_of
from irplatform.data import Collection, Corpus, Document, Topic, TrainingData
from irplatform.experiment.arguments import OPENED_AS
from irplatform.registry.loading import registry
from irplatform.registry.session import register
from irplatform.system.process import isolated

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.collection_resources import CollectionResources
    from irplatform.conformance.data import Finding

__all__ = ["check_plugin", "resources", "small_collection", "training_data"]

__doc__ = f"{__doc__}PYTEST_DONT_REWRITE"  # a test module imports it before pytest does
_TREATMENTS = {
    "lung cancer": "crizotinib",
    "melanoma": "vemurafenib",
    "breast cancer": "trastuzumab",
    "stromal tumour": "imatinib",
    "ovarian cancer": "olaparib",
    "colorectal cancer": "cetuximab",
}
_VALIDATION = 2
"""Topics of `training_data` to choose on."""


def check_plugin(
    name: str,
    *,
    collection: str = "demo-train",
    only: Sequence[str] = (),
    settings: Mapping[str, object] | None = None,
    device: str = "cpu",
) -> Callable[..., None]:
    """Return a test of a plugin, with a case for each check of the contract.

    The plugin is installed, or was loaded with `irplatform.load_plugin`; then it is not asked in
    another process.

    The checks are those of `platform plugins check`; all are made before the first case. A case is
    skipped where a check does not apply, or could not be made.

    Args:
        name: the plugin, as its entry point names it.
        collection: the collection whose judged topics are used.
        only: names of its systems, measures or collections; default: all.
        settings: options, such as {"my-ranker.title": 1.0}.
        device: "auto", "cpu", "cuda" or "mps".

    Raises:
        InputError: an unknown plugin or system.
        PluginError: the plugin is broken.

    Examples:
        >>> test_contract = check_plugin("demo")
        >>> [mark.name for mark in test_contract.pytestmark]
        ['parametrize']
    """
    plugins = registry()
    registered = conformance.registered_by(conformance.usable(name, plugins), plugins, only)
    expected = {
        key: conformance.checks_of(key[0], registration) for key, registration in registered.items()
    }

    @functools.cache
    def findings() -> Mapping[tuple[str, str], Finding]:
        with isolated():
            results = conformance.check_plugin(name, collection, only, settings, device)
        return {(finding.kind, finding.name): finding for finding in results}

    @pytest.mark.parametrize(
        ("kind", "system", "check"),
        [
            pytest.param(*key, c, id=f"{key[1]}: {c}")
            for key, names in expected.items()
            for c in names
        ],
    )
    def test(kind: str, system: str, check: str) -> None:
        finding = findings()[kind, system]
        if check == expected[kind, system][0]:
            general = findings().get(("plugin", name))
            for remark in [*(general.remarks if general else ()), *finding.remarks]:
                warnings.warn(f"{kind} '{system}': {remark}", stacklevel=1)
        _judge(finding, check, expected[kind, system])

    return test


def _judge(finding: Finding, check: str, expected: Sequence[str]) -> None:
    if check in finding.checks:
        if problems := finding.checks[check]:
            pytest.fail("\n".join(problems), pytrace=False)
        return
    if finding.unchecked:
        pytest.skip(finding.unchecked)
    if failure := finding.checks.get(conformance.FAILED):
        if check == next(candidate for candidate in expected if candidate not in finding.checks):
            pytest.fail("\n".join(failure), pytrace=False)
        pytest.skip(f"not reached: {failure[0]}")
    pytest.skip("this check does not apply")


class _Articles(Corpus):
    """Three articles about each treatment: a trial, a case, and one about larvae."""

    name = "small"
    fields = ("year",)
    fingerprint = "irplatform.testing-1"

    def __iter__(self) -> Iterator[Document]:
        articles = (article for pair in _TREATMENTS.items() for article in _articles_about(*pair))
        for number, (title, abstract) in enumerate(articles, start=1):
            yield Document(f"d{number}", title, abstract, {"year": str(2000 + number)})

    def count(self) -> int:
        """Return the number of articles."""
        return 3 * len(_TREATMENTS)


def _articles_about(disease: str, drug: str) -> Sequence[tuple[str, str]]:
    name = drug.capitalize()
    return (
        (f"{name} in {disease}", f"Of 82 patients with {disease}, 47 responded to {drug}."),
        ("A case report", f"A woman with {disease} was treated with {drug} for two years."),
        (f"{name} in zebrafish", f"Larvae that were given {drug} did not swim."),
    )


def _small() -> Collection:
    names = {f"t{number}": pair for number, pair in enumerate(_TREATMENTS.items(), start=1)}
    topics = [
        Topic(topic, f"{drug} {disease}", {"disease": disease, "drug": drug})
        for topic, (disease, drug) in names.items()
    ]
    first = {topic: 3 * number + 1 for number, topic in enumerate(names)}
    qrels = {t: {f"d{n}": 2, f"d{n + 1}": 1, f"d{n + 2}": 0} for t, n in first.items()}
    return Collection(
        id="small",
        title="18 articles about six treatments",
        corpus=_Articles(),
        load_topics=lambda: topics,
        load_qrels=lambda: qrels,
        measures=("nDCG@10", "RR"),
    )


@pytest.fixture(scope="module")
def small_collection() -> Iterator[Collection]:
    """A collection of 18 articles and six judged topics, which commands find as "small".

    Topic t1 is "crizotinib lung cancer", with the fields disease and drug. Of its articles d1 (a
    trial) has grade 2, d2 (a case) 1 and d3 (zebrafish) 0; t2 has d4, d5 and d6, and so on.
    """
    collection = _small()
    vars(collection)[OPENED_AS] = collection.id  # a run of it does not register it again
    with register(collection.id, collection):
        yield collection


@pytest.fixture(scope="module")
def resources(small_collection: Collection) -> CollectionResources:
    """The resources of the small collection: index, forward index, documents, …; on the CPU."""
    return resources_of(small_collection.corpus, "cpu", threads=1)


@pytest.fixture
def training_data(
    small_collection: Collection, resources: CollectionResources, tmp_path: Path
) -> TrainingData:
    """Four topics to learn from and two to choose on, with BM25's candidates and judgments."""
    topics = judged_topics(small_collection, registry(), resources)
    return TrainingData(topics[_VALIDATION:], topics[:_VALIDATION], tmp_path)
