"""A run of one's own beside published results: by their stored scores, where that is fair."""

import json

import pytest
from commands import call
from kept_rows import DOCUMENTS, TOPICS, collection, execution, metadata, ranked

import irplatform as ir
from irplatform.reproduction.keep import keep
from irplatform.run_folder.metadata_files import write_run_with_metadata
from irplatform.runs import write_run

TABLE = "kept/small-test-judged"
FOUND = "kept/small-test"


@pytest.fixture
def platform(tmp_path, capsys, monkeypatch, fresh_home):
    """Call the command line beside two tables of published results, and two runs of one's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KEPT_ROWS", str(tmp_path))
    small = collection(tmp_path / "small")
    for row_id, finals, alone in (("good", {42: 1, 1042: 0}, 2), ("poor", {42: 3}, None)):
        for protocol in ("judged", "retrieved"):
            run_dir = tmp_path / "ran" / protocol / row_id
            keep(
                execution(row_id, small, run_dir, finals, alone=alone, protocol=protocol),
                tmp_path / "kept",
            )
    write_run(ranked("mine", 2), tmp_path / "mine.run")
    for name, shift in (("bm25", 1), ("ranker", 0)):
        run = ranked(name, shift)
        write_run_with_metadata(run, tmp_path / "own" / f"{name}.run", metadata(name, small))
    return lambda *arguments: call(capsys, monkeypatch, *arguments)


def _systems(said):
    return {system["name"]: system for system in json.loads(said.out)["systems"]}


def test_stored_scores_are_compared_with_a_run_of_ones_own(platform, tmp_path):
    said = platform("compare", "mine.run", TABLE, "--json")
    assert said.code == 0
    systems = _systems(said)
    assert [*systems] == ["mine", "good", "poor"]
    assert json.loads(said.out)["baseline"] == "mine"
    means = {}
    for shift in (0, 1, 2, 3):
        scores = ir.evaluate(ranked("x", shift), collection=str(tmp_path / "small"), measures="AP")
        means[shift] = scores["x"].aggregate["AP"]
    mean_of = {name: system["measures"]["AP"]["mean"] for name, system in systems.items()}
    assert mean_of["mine"] == means[2]
    assert mean_of["good"] == pytest.approx((means[1] + means[0]) / 2)
    assert mean_of["poor"] == means[3]
    assert systems["good"]["measures"]["AP"]["alone"] == means[2]
    assert systems["good"]["first_stage_share"] == 0.25
    assert systems["good"]["measures"]["AP"]["judged"] is None
    assert (
        f"2 published results of {TABLE}: the judged documents of each topic; 1 of them by the "
        "mean of 2 seeds." in said.err
    )
    assert "WARNING" not in said.err


def test_the_reranker_of_a_folder_is_the_baseline(platform):
    said = platform("compare", "own", TABLE, "--json")
    assert [*_systems(said)] == ["bm25", "ranker", "good", "poor"]
    assert json.loads(said.out)["baseline"] == "ranker"
    assert (
        json.loads(platform("compare", "own", TABLE, "--json", "--baseline", "poor").out)[
            "baseline"
        ]
        == "poor"
    )


@pytest.mark.parametrize(
    "form", [("--all-pairs",), ("--table", "latex"), ("--table", "csv"), ("--per-topic",)]
)
def test_every_form_has_published_results(platform, form):
    said = platform("compare", "mine.run", TABLE, *form)
    assert (said.code, "good" in said.out, "poor" in said.out) == (0, True, True)


def test_single_results_are_chosen_by_their_files(platform):
    said = platform("compare", "mine.run", f"{TABLE}/good.run.gz", "--json")
    assert [*_systems(said)] == ["mine", "good"]
    alone = platform("compare", "mine.run", f"{TABLE}/good-alone.run.gz", "--json")
    measures = _systems(alone)["good-alone"]["measures"]
    assert measures["AP"]["per_topic"] == _systems(alone)["mine"]["measures"]["AP"]["per_topic"]


def test_evaluate_prints_stored_scores(platform):
    compared = _systems(platform("compare", "mine.run", TABLE, "--json"))
    lines = platform("evaluate", TABLE, "--measure", "AP").out.splitlines()
    mean = compared["good"]["measures"]["AP"]["mean"]
    assert f"good    {mean:.4f}" in lines


def test_runs_in_memory_stand_beside_published_results(platform):
    comparison = ir.compare({"mine": ranked("x", 2), "good": f"{TABLE}/good.run.gz"})
    assert comparison.baseline == "mine"
    assert comparison.pairs[0].system == "good"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("mine.run", TABLE, "--measure", "P@3,AP"),
            "the published results have no P@3: all of them were scored by nDCG@2 and AP.",
        ),
        (("mine.run", TABLE, "--bounds"), "published results have no bounds"),
        (("mine.run", TABLE, FOUND), "cannot be compared with each other"),
        (
            ("mine.run", TABLE, "--collection", "changed"),
            "the published results are of 'small-test', and the collection here has other "
            "judgments. A test would compare these, not systems.",
        ),
        (
            ("mine.run", TABLE, "--qrels", "changed/qrels/test.tsv"),
            "the collection here has other judgments",
        ),
        (
            ("changed/own.run", TABLE, "--collection", "small"),
            "and the run own, of 'changed-test', has other judgments.",
        ),
        (("elsewhere.run", TABLE), "the run elsewhere, of 'small-test', has other documents."),
    ],
)
def test_what_cannot_be_compared_is_refused(platform, tmp_path, words, message):
    changed = collection(tmp_path / "changed", relevant=3)
    run = ranked("own", 1)
    write_run_with_metadata(run, changed / "own.run", metadata("own", changed))
    other = metadata("elsewhere", tmp_path / "small", documents="others")
    write_run_with_metadata(run, tmp_path / "elsewhere.run", other)
    said = platform("compare", *words)
    assert (said.code, message in said.err) == (2, True)


def test_the_same_judgments_as_a_file_are_taken(platform):
    assert platform("compare", "mine.run", TABLE, "--qrels", "small/qrels/test.tsv").code == 0


def test_a_run_of_other_candidates_is_told(platform, tmp_path):
    write_run(ranked("short", 2, depth=4), tmp_path / "short.run")
    assert (
        f"WARNING: short lacks {2 * len(TOPICS)} judged documents and ranks 0 that are not judged; "
        "the published results rank exactly the judged ones."
        in platform("compare", "short.run", TABLE).err
    )
    said = platform("compare", "short.run", FOUND).err
    assert "short has no metadata: whether it ranks the same candidates is not known." in said
    deepest = len(DOCUMENTS)
    assert f"short ranks 4 documents of a topic, the published results {deepest}." in said
    warning = "WARNING: ranker ranks the judged documents, the published results what a first stage"
    assert warning in platform("compare", "own", FOUND).err


def test_a_collection_that_is_not_here_is_asked_for(platform, monkeypatch):
    monkeypatch.delenv("KEPT_ROWS")
    said = platform("compare", "mine.run", TABLE)
    message = "the published results are of ${KEPT_ROWS}/small: set this variable, or give"
    assert (said.code, f"{message} --collection." in said.err) == (2, True)
    assert platform("compare", "mine.run", TABLE, "--collection", "small").code == 0


def test_a_run_file_that_is_gone_or_changed_is_told(platform, tmp_path):
    (tmp_path / TABLE / "good.run.gz").unlink()
    assert (
        "good.run.gz, which it lists, is not here any more"
        in platform("compare", "mine.run", TABLE).err
    )
    write_run(ranked("poor", 1), tmp_path / TABLE / "poor.run.gz")
    said = platform("compare", "mine.run", f"{TABLE}/poor.run.gz")
    assert "poor.run.gz is not the run that was recorded" in said.err


def test_a_damaged_table_is_an_error(platform, tmp_path):
    (tmp_path / TABLE / "published.json").write_text("{}")
    said = platform("compare", "mine.run", TABLE)
    assert (said.code, "published.json: this has another form" in said.err) == (2, True)


def test_a_report_is_refused(platform):
    said = platform("report", "mine.run", TABLE)
    assert (said.code, "`platform compare` compares with them." in said.err) == (2, True)
