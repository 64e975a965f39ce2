"""The expanded first stage on the closed pool of TREC Precision Medicine: our own figures.

The default plan was chosen on 2018, so its figure of 2017 is the honest one; for 2018 it is that of
the plan that was chosen on 2017.
"""

from pathlib import Path

import pytest
from commands import call

pytestmark = [pytest.mark.java, pytest.mark.real, pytest.mark.slow]

PLANS = Path(__file__).resolve().parents[2] / "benchmarks" / "query-plans"
SOURCES = {
    "mesh": "mesh_descriptors.tsv.gz",
    "doid": "doid.json.gz",
    "hgnc": "hgnc_entries.tsv.gz",
    "civic": "civic_biomarkers_2016.tsv.gz",
    "dgidb": "dgidb_*.tsv",
}


@pytest.fixture(scope="module")
def knowledge_bases(test_data, cache_of_module):
    from irplatform.knowledge import add

    for name, pattern in SOURCES.items():
        add(name, sorted((test_data / "kb").glob(pattern)))
    return ",".join(SOURCES)


@pytest.mark.parametrize(
    ("year", "plan", "floors"),
    [
        (2017, (), {"nDCG@20": 0.58, "P@10": 0.64, "R@500": 0.70}),
        (
            2018,
            ("--query-plan", PLANS / "chosen-on-2017.toml"),
            {"nDCG@20": 0.62, "P@10": 0.66, "R@500": 0.79},
        ),
    ],
)
def test_expansion_reaches_the_documented_figures(
    test_data, knowledge_bases, year, plan, floors, tmp_path, capsys, monkeypatch
):
    outcome = call(
        capsys,
        monkeypatch,
        *("run", "--collection", test_data / "trec-pm" / f"{year}.toml", "--json"),
        *("--expand", knowledge_bases, *plan, "--run-dir", tmp_path),
        *(part for measure in floors for part in ("--measure", measure)),
    )
    (run,) = outcome.json["runs"]
    assert run["remark"].startswith("queries expanded with mesh, doid, hgnc")
    for measure, floor in floors.items():
        assert run["measures"][measure] >= floor
