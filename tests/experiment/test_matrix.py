"""Several collections and first stages, each reranked by the same rerankers."""

import json
from pathlib import Path

import pytest
from commands import call

from irplatform import RunSettings, compare, run
from irplatform.comparison.tests import Difference
from irplatform.errors import InputError
from irplatform.evaluation.topics import TopicFilter
from irplatform.experiment.matrix import cell_settings
from irplatform.registry.loading import registry
from irplatform.reports.columns import as_text
from irplatform.reports.matrix import CEILING, FOUND, Cell, MatrixReport
from irplatform.reports.run_report import RunReport, SystemResult
from irplatform.retrieval.candidates import Provenance


def cells(**options):
    settings = RunSettings(**{"collection": "demo", **options})
    return dict(cell_settings(settings, registry(), settings.collection))


def test_one_first_stage_is_the_usual_run():
    one = RunSettings("demo", first_stages=["bm25+rm3"])
    assert not one.is_matrix
    assert (one.first_stage.retrievers, one.first_stage.source) == (("bm25", "rm3"), "retrieved")
    assert RunSettings(["demo"]) == RunSettings("demo")
    judged = RunSettings("demo", first_stages="judged")
    assert (judged.first_stage.retrievers, judged.first_stage.source) == (("bm25",), "judged")


def test_a_cell_has_the_settings_of_its_run():
    runs = cells(first_stages=["bm25", "judged+rm3"], rerankers=["delta"], depth=50)
    assert runs == {
        "bm25": RunSettings("demo", rerankers=["delta"], depth=50),
        "judged+rm3": RunSettings("demo", rerankers=["delta"], depth=50, first_stages="judged+rm3"),
    }


def test_a_cell_has_the_options_that_its_systems_take():
    settings = {"rm3.fb_terms": 20, "k1": 1.2, "big.filters": 8, "mu": 500, "nix.k": 1}
    runs = cells(first_stages=["bm25", "rm3", "qld"], rerankers=["big=delta"], settings=settings)
    assert {name: [*cell.settings] for name, cell in runs.items()} == {
        "bm25": ["k1", "big.filters", "nix.k"],
        "rm3": ["rm3.fb_terms", "k1", "big.filters", "nix.k"],
        "qld": ["big.filters", "mu", "nix.k"],
    }


def test_what_only_some_first_stages_take_is_left_out_of_the_others():
    runs = cells(first_stages=["bm25", "bm25+qld", "qld"], fusion="ranks", expand=["mesh"])
    assert {name: (c.fusion, c.expand) for name, c in runs.items()} == {
        "bm25": ("auto", ("mesh",)),
        "bm25+qld": ("ranks", ("mesh",)),
        "qld": ("auto", ()),
    }
    with pytest.raises(InputError, match="fusion='ranks' has no effect"):
        cells(first_stages=["bm25", "qld"], fusion="ranks")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"first_stages": ["bm25", "bm25"]}, "first stage 'bm25' is named twice"),
        ({"collections": ["demo", "demo"]}, "collection 'demo' is named twice"),
    ],
)
def test_a_wrong_matrix_is_refused(options, message):
    with pytest.raises(InputError, match=message):
        RunSettings("demo", **options)


def test_all_cells_are_checked_before_the_first_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="unknown retriever 'bm52'"):
        run("demo", first_stages=["bm25", "bm52"])
    with pytest.raises(InputError, match=r"unknown first stage 'juged'\. Did you mean 'judged'"):
        run("demo", first_stages=["juged"])
    assert not [*tmp_path.rglob("*.run")]


def system(name, value, weight=None):
    values = {"AP": value}
    return SystemResult(name, Path(f"{name}.run"), values, {}, {}, weight, values)


def report(bm25, delta, ceiling, p, **more):
    return RunReport(
        "c",
        "",
        ["AP"],
        [system("bm25", bm25), system("delta", delta, 0.1)],
        "bm25",
        {"delta": {"AP": Difference(delta - bm25, p, 0, 0, None, 20)}},
        Provenance({"rerank_depth": 500}, "the first 500 of bm25", usual=True),
        first_stage="bm25",
        ceiling={"AP": ceiling},
        **more,
    )


@pytest.fixture
def matrix():
    def cell(collection, stage, *figures):
        return Cell(collection, stage, Path("m", collection, stage), report(*figures))

    figures = {"bm25": (0.25, 0.5, 0.75, 0.001), "judged": (0.5, 0.4, 1.0, 0.03)}
    return MatrixReport(Path("m"), ("delta",), [cell("c", name, *f) for name, f in figures.items()])


def test_the_table_has_first_stages_down_and_rerankers_across(matrix):
    assert str(matrix).split("\n")[:4] == [
        "AP      as found   delta    ceiling",
        "-----------------------------------",
        "bm25      0.2500  0.5000▲▲   0.7500",
        "judged    0.5000  0.4000▼    1.0000",
    ]
    assert "▲ better than the row's first stage" in str(matrix)
    assert "Candidates of retrievers: the first 500 of each" in str(matrix)


def test_the_best_of_a_row_is_bold_and_the_ceiling_is_not_in_the_race(matrix, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    table = matrix.table("AP")
    places = [(r, c) for r in range(2) for c in range(4) if table.is_best(r, c)]
    assert places == [(0, 2), (1, 1)]
    assert "\x1b[1m0.5000▲▲\x1b[0m" in as_text(table, 80)


def test_collections_are_headings_and_measures_stand_side_by_side(matrix):
    (one, two) = matrix.cells
    union = MatrixReport(matrix.folder, matrix.rerankers, [one, two, Cell("d", *_rest(one))])
    assert [row[0] for row in union.table("AP").rows] == ["c", "  bm25", "  judged", "d", "  bm25"]


def _rest(cell):
    return cell.first_stage, cell.folder, cell.report


def test_the_rows_hold_every_score_and_its_test(matrix):
    rows = [*matrix.rows()]
    assert [row["system"] for row in rows[:4]] == [FOUND, "delta", "delta-alone", CEILING]
    assert [row["value"] for row in rows[:4]] == [0.25, 0.5, 0.5, 0.75]
    assert (rows[1]["difference"], rows[1]["p"]) == (0.25, 0.001)
    assert rows[0]["p"] is None


@pytest.mark.java
def test_a_matrix_has_a_folder_for_each_cell_with_the_bytes_of_its_run(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    one = ("run", "--collection", "demo", "--reranker", "bm25-title", "--interpolate", "0")
    assert (
        call(capsys, monkeypatch, *one, "--first-stage", "bm25+rm3", "--fusion", "ranks").code == 0
    )
    arguments = (*one, "--first-stage", "bm25,bm25+rm3,judged", "--measure", "AP,P@10")
    arguments = (*arguments, "--fusion", "ranks")
    result = call(capsys, monkeypatch, *arguments)
    assert result.code == 0, result.err
    folder = tmp_path / "runs" / "matrix"
    assert {path.name for path in folder.iterdir()} == {"demo", "matrix.json"}
    assert {p.name for p in (folder / "demo").iterdir()} == {"bm25", "bm25+rm3", "judged"}
    for path in (folder / "demo" / "bm25+rm3").glob("*.run"):
        assert path.read_bytes() == (tmp_path / "runs" / "demo" / path.name).read_bytes()
    content = json.loads((folder / "matrix.json").read_text())
    assert content["measures"] == ["AP", "P@10"]
    for entry in content["cells"]:
        for facts in entry["runs"]:
            assert facts["measures"]["AP"] <= entry["ceiling"]["AP"] + 1e-9
    assert content["cells"][2]["ceiling"]["AP"] == 1.0  # every relevant document is judged
    again = call(capsys, monkeypatch, *arguments, "--json")
    assert again.json["cells"][0]["baseline"] == "bm25"
    names = ["bm25", "bm25/bm25-title", "bm25+rm3", "bm25+rm3/bm25-title"]
    compared = call(capsys, monkeypatch, "compare", "--collection", "demo", str(folder), "--json")
    assert [system["name"] for system in compared.json["systems"]][:4] == names
    checked = call(capsys, monkeypatch, "verify", str(folder), "--json")
    assert len(checked.json["runs"]) == len([*folder.rglob("*.run")])
    assert "robertson2009bm25" in call(capsys, monkeypatch, "cite", str(folder)).out
    other = call(capsys, monkeypatch, *arguments, "--depth", "400")
    assert other.code == 2
    assert "depth 1000 -> 400" in other.err


@pytest.mark.java
def test_two_collections_stand_in_one_table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run(["demo", "demo-train"], rerankers="bm25-title", measures="AP", topics="first:3")
    assert [cell.collection for cell in result.cells] == ["demo", "demo-train"]
    assert result.cells[1].folder == Path("runs/matrix/demo-train/topics-first-3/bm25")
    assert (result.cells[1].folder / "bm25-title.run").exists()
    assert "A quick look: 3 of 20 topics (topics='first:3')." in str(result)


AP = ("--measure", "AP")


@pytest.fixture
def filled(tmp_path, monkeypatch):
    """A matrix of two first stages and two collections in the working folder."""
    monkeypatch.chdir(tmp_path)
    stages = {"first_stages": ["bm25", "bm25+rm3"], "fusion": "ranks", "depth": 20}
    run(["demo", "demo-train"], ["bm25-title"], **stages, run_dir="m", measures=["AP", "P@10"])


@pytest.mark.java
@pytest.mark.usefixtures("filled")
def test_each_reranked_run_is_compared_with_its_own_first_stage(capsys, monkeypatch):
    compared = call(capsys, monkeypatch, "compare", "m", "--collection", "demo", *AP)
    assert compared.code == 0, compared.err
    lines = compared.out.splitlines()
    assert lines[3].split() == ["AP", "as", "found", "bm25-title", "ceiling"]
    for line, cell in zip(
        lines[5:7], json.loads(Path("m/matrix.json").read_text())["cells"], strict=False
    ):
        values = [*(facts["measures"]["AP"] for facts in cell["runs"]), cell["ceiling"]["AP"]]
        assert line.split() == [cell["first_stage"], *(f"{value:.4f}" for value in values[-3:])]
    assert "Holm's correction over the" in compared.out
    rows = [line.split()[0] for line in lines if " baseline" in line]
    assert rows == ["bm25", "bm25+rm3"]
    comparison = compare("m", collection="demo", measures="AP")
    pairs = [(pair.baseline, pair.system) for pair in comparison.pairs_by("AP")]
    assert pairs == [("bm25", "bm25/bm25-title"), ("bm25+rm3", "bm25+rm3/bm25-title")]
    alone = compare(
        ["m/demo/bm25/bm25.run", "m/demo/bm25/bm25-title.run"], collection="demo", measures="AP"
    )
    assert comparison.pairs[0].p == alone.pairs[0].p
    assert {*comparison.to_pandas()["first_stage"]} == {"bm25", "bm25+rm3"}
    assert comparison.as_json()["systems"][1]["reranker"] == "bm25-title"
    assert "ceiling" in comparison._repr_html_()
    one = compare("m", collection="demo", baseline="bm25+rm3")
    assert (one.matrix, one.baseline, len(one.pairs_by("AP"))) == (None, "bm25+rm3", 3)
    for options in ((), ("--qrels", "none.txt")):
        several = call(capsys, monkeypatch, "compare", "m", *options)
        assert several.code == 2
        assert "several collections: name one of demo, demo-train with --collection" in several.err
    files = ["m/demo/bm25/bm25.run", "m/demo/bm25/bm25-title.run"]
    assert compare(files).as_json() == compare(files, collection="demo").as_json()


@pytest.mark.java
@pytest.mark.usefixtures("filled")
@pytest.mark.parametrize(
    ("form", "lines"),
    [
        ("markdown", ["| AP | as found | bm25-title | ceiling |", "|---|---:|---:|---:|"]),
        ("latex", [r"AP & as found & bm25-title & ceiling \\", "bm25+rm3 & "]),
        (
            "csv",
            ["measure,system,first_stage,reranker,mean,", "AP,bm25/bm25-title,bm25,bm25-title,"],
        ),
    ],
)
def test_the_matrix_is_a_table_in_every_form(capsys, monkeypatch, form, lines):
    result = call(capsys, monkeypatch, "compare", "m", "--collection", "demo", *AP, "--table", form)
    assert result.code == 0, result.err
    for line in lines:
        assert line in result.out


@pytest.mark.java
@pytest.mark.usefixtures("filled")
def test_a_ceiling_of_other_judgments_is_left_out():
    comparison = compare(
        "m", collection="demo", topics=TopicFilter(among=(Path("m/demo/bm25/bm25.run"), 1))
    )
    assert not any(comparison.matrix.ceilings.values())
    assert "ceiling" not in str(comparison)
