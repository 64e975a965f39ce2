"""`platform agree`: sources side by side, from folders of runs."""

import json

import pytest
from sourced_judgments import ANN, BOB, LLM, judged, write

from irplatform.run_folder.folder import FolderScores, SystemScores, write_scores


def a_folder(path, collection, scores, measures=("nDCG@20", "AP")):
    systems = {
        name: SystemScores(
            dict.fromkeys(measures, value), {m: {"1": value, "2": value} for m in measures}
        )
        for name, value in scores.items()
    }
    write_scores(FolderScores(collection, list(measures), systems), path)


@pytest.fixture
def sources(folder):
    a_folder(folder / "one", "first", {"bm25": 0.1, "delta": 0.3, "delta-alone": 0.0, "drmm": 0.2})
    a_folder(folder / "two", "second", {"drmm": 0.2, "delta": 0.3, "bm25": 0.2}, ["AP", "P@10"])
    return "--runs-dir", "one", "--runs-dir", "two"


def test_the_table_shows_scores_ranks_and_the_correlation(platform, sources):
    outcome = platform("agree", *sources)
    assert outcome.code == 0, outcome
    assert outcome.out == (
        "system       first      second\n"
        "           nDCG@20          AP\n"
        "------------------------------\n"
        "bm25    0.1000 (3)  0.2000 (2)\n"
        "delta   0.3000 (1)  0.3000 (1)\n"
        "drmm    0.2000 (2)  0.2000 (2)\n"
        "\n"
        "sources         tau-b  95 % interval      p\n"
        "-------------------------------------------\n"
        "first × second   0.82   [0.82, 0.82]  0.667\n"
        "Kendall's tau-b over 3 systems; intervals over topics, from 10,000 draws; p: chance of a "
        "correlation as strong between independent orders\n"
    )


def test_systems_with_the_same_values_are_named_and_tie(platform, sources):
    outcome = platform("agree", *sources)
    assert outcome.err.splitlines() == [
        "second: 'bm25' and 'drmm' have the same value on every topic; they are two systems all "
        "the same, which tie"
    ]


def test_counts_are_shown_as_in_the_table_of_a_run(platform, folder):
    for name in ("one", "two"):
        a_folder(folder / name, name, {"a": 1200.0, "b": 3.0, "c": 2.5}, ["NumRet(rel=1)"])
    outcome = platform("agree", "--runs-dir", "one", "--runs-dir", "two")
    assert [line.split()[1] for line in outcome.out.splitlines()[3:6]] == ["1,200", "3", "2.5000"]


def test_a_small_p_is_told_as_such(platform, folder):
    for name in ("one", "two"):
        a_folder(folder / name, name, {f"s{n}": n / 10 for n in range(9)})
    outcome = platform("agree", "--runs-dir", "one", "--runs-dir", "two")
    assert outcome.out.splitlines()[-2].split()[-1] == "<0.001"


def test_json_is_one_object(platform, sources):
    agreement = platform("agree", *sources, "--json", "--samples", "200", "--seed", "7").json
    assert agreement["systems"] == ["bm25", "delta", "drmm"]
    assert [s["collection"] for s in agreement["sources"]] == ["first", "second"]
    assert [s["measure"] for s in agreement["sources"]] == ["nDCG@20", "AP"]
    assert agreement["sources"][0]["ranks"] == {"bm25": 3, "delta": 1, "drmm": 2}
    assert agreement["sources"][0]["topics"] == 2
    (pair,) = agreement["correlations"]
    assert pair["sources"] == ["first", "second"]
    assert pair["tau_b"] == pytest.approx(0.8164966)
    assert (agreement["samples"], agreement["seed"]) == (200, 7)


def test_a_measure_goes_for_all_sources_or_for_each(platform, sources):
    one_measure = platform("agree", *sources, "--measure", "AP", "--json").json
    assert [s["measure"] for s in one_measure["sources"]] == ["AP", "AP"]
    two_measures = platform(
        "agree", *sources, "--measure", "AP", "--measure", "P@10", "--json"
    ).json
    assert [s["measure"] for s in two_measures["sources"]] == ["AP", "P@10"]


@pytest.mark.parametrize(("alias", "name"), [("MAP", "AP"), ("NDCG@20", "nDCG@20")])
def test_a_measure_has_the_names_that_run_takes(platform, folder, alias, name):
    folders = ("--runs-dir", "one", "--runs-dir", "one", "--measure", "P@10")
    a_folder(folder / "one", "first", dict.fromkeys("abc", 0.1), ("nDCG@20", "AP", "P@10"))
    agreement = platform("agree", *folders, "--measure", alias, "--json").json
    assert [s["measure"] for s in agreement["sources"]] == ["P@10", name]


def test_a_system_without_the_measure_is_named(platform, folder, sources):
    scores = json.loads((folder / "one" / "scores.json").read_text())
    del scores["systems"]["drmm"]["means"]["AP"]
    (folder / "one" / "scores.json").write_text(json.dumps(scores))
    refused = platform("agree", *sources, "--measure", "AP")
    assert refused.code == 2
    assert "scores.json: the system 'drmm' has no scores by AP" in refused.err
    assert len(refused.err.splitlines()) == 1


def test_rerankers_own_scores_can_be_taken(platform, sources):
    agreement = platform("agree", *sources, "--alone", "--json").json
    assert agreement["sources"][0]["scores"] == {"bm25": 0.1, "delta": 0.0, "drmm": 0.2}
    assert agreement["sources"][1]["scores"]["delta"] == 0.3


def test_one_collection_by_two_measures_is_told_apart(platform, sources):
    folders = ("--runs-dir", "one", "--runs-dir", "one")
    agreement = platform(
        "agree", *folders, "--measure", "AP", "--measure", "nDCG@20", "--json"
    ).json
    assert [s["name"] for s in agreement["sources"]] == ["first AP", "first nDCG@20"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--runs-dir", "one"), "at least two sources"),
        (("--runs-dir", "one", "--runs-dir", "small"), "small: there is no scores.json here"),
        (("--runs-dir", "one", "--runs-dir", "nowhere"), "nowhere: there is no such folder"),
        (("--runs-dir", "one", "--runs-dir", "good.run"), "good.run: this is a file"),
        (("--runs-dir", "one", "--runs-dir", "one"), "given twice with the same measure"),
        (("--runs-dir", "one", "--runs-dir", "few"), "of these there are 2"),
        (("--runs-dir", "one", "--runs-dir", "none"), "'none' has no judgments"),
        (
            ("--runs-dir", "one", "--runs-dir", "two", "--measure", "PA@10"),
            "'PA@10' is not a measure of one",
        ),
        (("--runs-dir", "one", "--runs-dir", "two", *("--measure", "AP") * 3), "3 measures for 2"),
    ],
)
def test_a_mistake_is_answered_in_a_line(platform, folder, sources, arguments, message):
    a_folder(folder / "few", "few", {"bm25": 0.1, "delta": 0.3})
    write_scores(FolderScores("none", ["AP"], {"bm25": SystemScores({}, {})}), folder / "none")
    refused = platform("agree", *arguments)
    assert refused.code == 2
    assert refused.out == ""
    assert message in refused.err
    assert len(refused.err.splitlines()) == 1


@pytest.fixture
def judges(folder):
    """Two people and a machine over two topics, and three runs."""
    documents = [f"d{n}" for n in range(6)]
    grades = {ANN: "012012", BOB: "012112", LLM: "112002"}
    write(
        folder / "j.jsonl",
        *(
            judged(source, topic, dict(zip(documents, map(int, digits), strict=True)))
            for source, digits in grades.items()
            for topic in ("q1", "q2")
        ),
    )
    for place, name in enumerate(("a", "b", "c")):
        ranked = documents[place * 2 :] + documents[: place * 2]
        lines = [f"{t} Q0 {d} {r} {9 - r} x\n" for t in ("q1", "q2") for r, d in enumerate(ranked)]
        (folder / f"{name}.run").write_text("".join(lines))
    return "j.jsonl", "--runs", "a.run", "--runs", "b.run", "--runs", "c.run", "--samples", "100"


def test_a_judge_is_measured_against_people(platform, judges):
    outcome = platform("agree", *judges, "--measure", "P@2")
    assert outcome.code == 0, outcome
    for part in (
        "llm gpt-x 1 against people\n",
        "People among themselves: alpha, ordinal, ",
        "beyond the mean error",
        "tau-ap with those of people as the truth",
        "If llm replaces a random tenth of the grades (100 draws)",
        "They grade 4 documents differently, and nobody settled it. First to adjudicate:",
    ):
        assert part in outcome.out
    assert "held out: nothing says which judgments llm was fitted on" in outcome.err
    assert "--fitted-on TOPIC,…" in outcome.err
    assert len(outcome.out.partition("adjudicate:")[2].strip().splitlines()) == 6


def test_the_object_of_a_judge_has_all(platform, judges):
    agreement = platform("agree", *judges, "--judge", "bob", "--against", "ann", "--json").json
    assert (agreement["judge"], agreement["against"]) == ("bob", "ann")
    assert agreement["of_grades"]["table"] == [[2, 2, 0], [0, 4, 0], [0, 0, 4]]
    assert agreement["of_grades"]["values"]["same grade"]["value"] == pytest.approx(10 / 12)
    assert agreement["of_systems"]["symmetric"] is True
    assert agreement["of_systems"]["lowest_tau"] <= 1
    assert [(d["document"], d["first"], d["second"]) for d in agreement["differences"]] == [
        ("d3", 0, 1),
        ("d3", 0, 1),
    ]


def test_topics_that_a_judge_was_fitted_on_are_left_out(platform, judges):
    command = ("agree", "j.jsonl", "--samples", "100", "--json", "--fitted-on")
    assert sum(map(sum, platform(*command, "q1").json["of_grades"]["table"])) == 6
    assert platform(*command, "q1,q2").code == 2


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ([], "name sources with --runs-dir, or pools or files of judgments"),
        (["j.jsonl", "--alone"], "--alone compares sources by their runs"),
        (["j.jsonl", "--runs-dir", "x"], "--runs-dir compares sources by their runs"),
        (["--runs-dir", "x", "--judge", "llm"], "--judge needs judgments to compare"),
        (["j.jsonl", "--width", "-1"], "--width: -1.0 is not in the range"),
        (["j.jsonl", "--fitted-on", "q3"], "unknown topic 'q3'"),
        (["j.jsonl", "--measure", "AP,P@5"], "name one measure"),
        (["j.jsonl", "--runs", "a.run"], "at least 3 systems"),
    ],
)
def test_what_does_not_go_together_is_refused(platform, judges, arguments, problem):
    outcome = platform("agree", *arguments)
    assert (outcome.code, problem in outcome.err) == (2, True), outcome
