"""The table that the documentation shows is that of the demo."""

import re

import pytest
from pages import DOCS, ROOT, fences

from irplatform import RunSettings, run

_ROW = re.compile(r"^(?P<name>\S+|  alone)(?: \(.*\))?\s+(?P<values>\d\.\d{4}.*)$", re.MULTILINE)
_MEASURES = ("nDCG@20", "AP", "P@10", "RR")

ELSEWHERE = 0.03
"""Another processor adds in another order, and training carries that on."""


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """System to measures."""
    folder = tmp_path_factory.mktemp("demo")
    report = run(RunSettings("demo", rerankers=("delta",), device="cpu", run_dir=folder))
    scores = {system.name: system.measures for system in report.systems}
    return {**scores, "  alone": report.systems[-1].measures_alone}


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.parametrize(
    "page",
    [
        ROOT / "README.md",
        *(DOCS / name for name in ("index.md", "getting-started.md", "evaluation.md")),
    ],
    ids=lambda page: page.name,
)
def test_the_table_is_that_of_the_demo(page, measured):
    mark = (
        "▲ better than" if page.name != "evaluation.md" else "platform evaluate --collection demo "
    )
    (table,) = (body for _, body in fences(page, "", "console") if mark in body)
    rows = {row["name"]: re.findall(r"\d\.\d{4}", row["values"]) for row in _ROW.finditer(table)}
    assert len(rows) >= 2
    for name, values in rows.items():
        scores, tolerance = measured[name], 1e-4 if name == "bm25" else ELSEWHERE
        expected = [scores[measure] for measure in _MEASURES]
        assert [float(value) for value in values] == pytest.approx(expected, abs=tolerance)
