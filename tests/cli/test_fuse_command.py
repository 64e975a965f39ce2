"""`platform fuse` spares its inputs, and writes metadata beside its run."""

import errno
import hashlib
import json
from pathlib import Path

import pytest
from small_files import piped

LINES = "q1 Q0 d2 1 2.0 y\nq1 Q0 d1 2 1.0 y\nq2 Q0 d1 1 1.0 y\n"


@pytest.fixture
def runs(folder):
    (folder / "other.run").write_text(LINES)
    return ("good.run", "other.run")


def _content(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}


@pytest.mark.parametrize("out", ["other.run", "./small/../other.run", "link.run", "absolute"])
def test_a_run_that_is_fused_is_not_overwritten(platform, folder, runs, out):
    (folder / "link.run").symlink_to("other.run")
    (folder / "other.run.meta.json").write_text("{}")
    before = _content(folder)
    outcome = platform("fuse", *runs, "--out", folder / "other.run" if out == "absolute" else out)
    assert outcome.code == 2
    assert "is the run other.run, which is fused; name another file" in outcome.err
    assert outcome.out == ""
    assert _content(folder) == before


def test_an_input_that_is_a_link_to_the_output_counts_too(platform, folder, runs):
    (folder / "link.run").symlink_to("other.run")
    outcome = platform("fuse", "good.run", "link.run", "--out", "other.run")
    assert outcome.code == 2
    assert (folder / "other.run").read_text() == LINES


@pytest.mark.parametrize("metadata", [None, "{}", "[", '{"method": {"settings": 1}}'])
def test_a_run_of_unknown_making_is_replaced_with_its_metadata_only_if_asked(
    platform, folder, runs, metadata
):
    (folder / "old.run").write_text(LINES)
    if metadata is not None:
        (folder / "old.run.meta.json").write_text(metadata)
    before = _content(folder)
    says = (
        "no old.run.meta.json beside it says"
        if metadata is None
        else "old.run.meta.json does not say"
    )
    refused = platform("fuse", *runs, "--out", "old.run")
    assert refused.code == 2
    assert refused.err.endswith(
        f"platform: old.run: this file already exists, and {says} with which settings it was made. "
        "Name another --out, or replace it with --force.\n"
    )
    assert _content(folder) == before
    outcome = platform("fuse", *runs, "--out", "old.run", "--force")
    assert outcome.code == 0, outcome
    assert "fused" in (folder / "old.run").read_text()
    content = json.loads((folder / "old.run.meta.json").read_text())
    (step,) = content["method"]["retrieval"]
    assert (content["tag"], step["method"], step["k"]) == ("fused", "ranks", 60)
    assert [fused["run"] for fused in step["fuses"]] == list(runs)
    assert step["fuses"][0]["sha256"] != step["fuses"][1]["sha256"]
    assert [fused["weight"] for fused in step["fuses"]] == [1.0, 1.0]


def test_a_fused_run_is_made_again_but_not_replaced_by_another_one(platform, folder, runs):
    assert platform("fuse", *runs, "--out", "new.run").code == 0
    before = _content(folder)
    assert platform("fuse", *runs, "--out", "new.run").code == 0
    assert _content(folder)["new.run"] == before["new.run"]
    refused = platform("fuse", *runs, "--out", "new.run", "--k", "1.5", "--weights", "2,1")
    assert (refused.code, refused.err) == (
        2,
        "platform: new.run: this run was made with other settings: k 60 -> 1.5; weights [1.0, 1.0] "
        "-> [1.0, 0.5]. Name another --out, or replace it with --force.\n",
    )
    (folder / "other.run").write_text(LINES.replace("d1", "d9"))
    assert "; runs " in platform("fuse", *runs, "--out", "new.run", "--depth", "2").err
    assert _content(folder)["new.run"] == before["new.run"]


def test_the_constant_is_any_number_above_0(platform, folder, runs):
    outcome = platform("fuse", *runs, "--k", "0.5", "--out", "half.run")
    assert outcome.code == 0, outcome
    best = max(float(line.split()[4]) for line in (folder / "half.run").read_text().splitlines())
    assert 1 / (0.5 + 1) <= best <= 2 / (0.5 + 1)
    (step,) = json.loads((folder / "half.run.meta.json").read_text())["method"]["retrieval"]
    assert step["k"] == 0.5


@pytest.mark.parametrize("k", ["0", "-1", "inf", "nan", "1e+07"])
def test_a_constant_that_cannot_be_is_refused(platform, folder, runs, k):
    outcome = platform("fuse", *runs, "--k", k, "--out", "w.run")
    assert (outcome.code, outcome.err) == (
        2,
        f"platform: --k is {k}; it must be a number above 0, of at most 1,000,000.\n",
    )
    assert not (folder / "w.run").exists()


def test_no_run_stands_beside_the_metadata_of_another_one(platform, folder, runs, monkeypatch):
    replace = Path.replace

    def interrupted(source, target):
        if target.name == "old.run":
            raise KeyboardInterrupt
        return replace(source, target)

    (folder / "old.run").write_text("q Q0 d 1 1.0 old\n")
    (folder / "old.run.meta.json").write_text('{"tag": "old"}')
    with monkeypatch.context() as broken:
        broken.setattr(Path, "replace", interrupted)
        assert platform("fuse", *runs, "--out", "old.run", "--force").code == 130
    assert not (folder / "old.run").exists()
    assert json.loads((folder / "old.run.meta.json").read_text())["tag"] == "fused"
    assert platform("fuse", *runs, "--out", "old.run").code == 0
    assert "fused" in (folder / "old.run").read_text()


def test_where_writing_fails_the_run_of_before_and_its_metadata_stay(
    platform, folder, runs, monkeypatch
):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    (folder / "old.run").write_text("q Q0 d 1 1.0 old\n")
    (folder / "old.run.meta.json").write_text('{"tag": "old"}')
    monkeypatch.setattr("irplatform.runs.trec.run_lines", full)
    failed = platform("fuse", *runs, "--out", "old.run", "--force")
    assert (failed.code, "no space is left on the disk" in failed.err) == (1, True)
    assert (folder / "old.run").read_text() == "q Q0 d 1 1.0 old\n"
    assert json.loads((folder / "old.run.meta.json").read_text()) == {"tag": "old"}


def test_a_folder_where_metadata_belong_is_refused(platform, folder, runs):
    (folder / "new.run.meta.json").mkdir()
    refused = platform("fuse", *runs, "--out", "new.run")
    assert refused.code == 2
    assert "new.run.meta.json: this is a folder; name a file." in refused.err


def test_the_digest_of_a_pipe_is_that_of_its_content(platform, folder, runs):
    assert platform("fuse", "good.run", piped(LINES), "--out", "new.run").code == 0
    content = json.loads((folder / "new.run.meta.json").read_text())
    (step,) = content["method"]["retrieval"]
    assert step["fuses"][1]["sha256"] == hashlib.sha256(LINES.encode()).hexdigest()


def test_metadata_stays_where_no_run_is_written(platform, folder, runs):
    (folder / "old.run.meta.json").write_text("{}")
    assert platform("fuse", *runs, "--out", "old.run", "--tag", "").code == 2
    assert (folder / "old.run.meta.json").exists()


def test_the_upload_says_what_was_fused(platform, folder, runs, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_TEAM", "us")
    monkeypatch.setenv("IRPLATFORM_REPOSITORY", "https://example.org/us")
    options = ("--by", "combsum", "--norm", "sum", "--weights", "4,1")
    assert platform("fuse", *runs, "--out", "new.run", *options).code == 0
    assert platform("submit", "tira", "new.run", "--out", "upload").code == 0
    words = "the runs good and other are fused by combsum of sum scores (weights 1, 0.25)."
    assert f"description: {words}" in (folder / "upload" / "ir-metadata.yml").read_text()


def test_only_a_tag_that_can_be_submitted_is_taken(platform, folder, runs):
    refused = platform("fuse", *runs, "--out", "new.run", "--tag", "bm25+rm3")
    assert refused.code == 2
    assert "--tag 'bm25+rm3' is not a run tag: TREC takes letters, digits, '-', '_'" in refused.err
    assert not (folder / "new.run").exists()
    long = platform("fuse", *runs, "--out", "new.run", "--tag", "a" * 21)
    assert (long.code, "has 21 characters; TREC accepts 20" in long.err) == (0, True)


def test_json_says_what_was_written(platform, folder, runs):
    outcome = platform("fuse", *runs, "--out", "new.run", "--weights", "1,0", "--json")
    assert outcome.json == {
        "path": "new.run",
        "topics": 2,
        "runs": 1,
        "method": {"by": "ranks", "k": 60, "weights": [1.0, 0.0]},
    }


def test_a_new_run_needs_no_word_about_metadata(platform, folder, runs):
    outcome = platform("fuse", *runs, "--out", "new.run")
    assert (outcome.code, outcome.err) == (0, "")


def test_runs_that_are_not_about_the_same_topics_are_fused_with_a_warning(platform, folder, runs):
    (folder / "half.run").write_text("q1 Q0 d2 1 2.0 y\nq3 Q0 d2 1 2.0 y\n")
    outcome = platform("fuse", *runs, "half.run", "--out", "new.run")
    assert outcome.code == 0, outcome
    assert "1 of 3 are in all of them (good.run 2, other.run 2, half.run 2)" in outcome.err
    assert "new.run: 3 topics from 3 runs" in outcome.out


def test_runs_without_a_common_topic_are_refused(platform, folder, runs):
    (folder / "else.run").write_text("q9 Q0 d2 1 2.0 y\n")
    outcome = platform("fuse", *runs, "else.run", "--out", "new.run")
    assert outcome.code == 2
    assert "no topic in common: good.run has 2 topics (q1, q2), else.run 1 (" in outcome.err
    assert not (folder / "new.run").exists()


@pytest.mark.parametrize("by", ["ranks", "scores"])
def test_weights_say_how_much_each_run_counts(platform, folder, by):
    (folder / "one.run").write_text("q1 Q0 d1 1 2 x\nq1 Q0 d2 2 1 x\n")
    (folder / "two.run").write_text("q1 Q0 d2 1 2 x\nq1 Q0 d1 2 1 x\n")
    for weights, first in (("3,1", "d1"), ("1, 3", "d2"), ("0,.5", "d2"), ("1e308,1e300", "d1")):
        outcome = platform(
            *("fuse", "one.run", "two.run", "--by", by, "--weights", weights),
            *("--out", "w.run", "--force"),
        )
        assert outcome.code == 0
        assert (folder / "w.run").read_text().split()[2] == first


@pytest.mark.parametrize("by", ["ranks", "scores"])
def test_a_run_that_does_not_count_brings_no_documents(platform, folder, by):
    (folder / "one.run").write_text("q1 Q0 d1 1 2 x\nq1 Q0 d2 2 1 x\n")
    (folder / "two.run").write_text("q1 Q0 d3 1 2 x\n")
    outcome = platform(
        "fuse", "one.run", "two.run", "--by", by, "--weights", "1,0", "--out", "w.run"
    )
    assert outcome.out == "w.run: 1 topic from 1 run\n"
    lines = (folder / "w.run").read_text().splitlines()
    assert [line.split()[2] for line in lines] == ["d1", "d2"]


@pytest.mark.parametrize(
    ("weights", "said"),
    [
        ("1", "has 1 number for 2 runs"),
        ("1,two", "'two' is not a number"),
        ("1,-1", "must be 0 or more"),
        ("0,0", "must be 0 or more"),
        ("1,inf", "must be 0 or more"),
        ("1,nan", "must be 0 or more"),
    ],
)
def test_weights_that_cannot_be_are_refused(platform, folder, runs, weights, said):
    outcome = platform("fuse", *runs, "--weights", weights, "--out", "w.run")
    assert outcome.code == 2
    assert said in outcome.err
    assert not (folder / "w.run").exists()


def test_a_run_is_fused_once(platform, folder, runs):
    outcome = platform("fuse", *runs, "./good.run", "--weights", "1,2,3", "--out", "new.run")
    assert outcome.code == 2
    assert "good.run is named twice: name each once; with --weights it counts more" in outcome.err
    assert not (folder / "new.run").exists()


def test_topics_are_compared_between_the_runs_that_count(platform, folder, runs):
    (folder / "first.run").write_text("q1 Q0 d2 1 2.0 y\n")
    arguments = ("fuse", "good.run", "first.run")
    outcome = platform(*arguments, "--out", "both.run", "--weights", "1,1")
    assert "not about the same topics" in outcome.err
    one = platform(*arguments, "--out", "one.run", "--weights", "1,0")
    assert (one.code, one.err) == (0, "")


BETTER = "".join(
    f"q{topic} Q0 d{rank if rank < 9 else 20 + rank} {rank} {10 - rank} x\n"
    for topic in range(1, 9)
    for rank in range(1, 10)
)
WORSE = "".join(
    f"q{topic} Q0 d{10 - rank + (topic % 3)} {rank} {10 - rank} y\n"
    for topic in range(1, 9)
    for rank in range(1, 10)
)
JUDGED = "".join(f"q{topic} 0 d{1 + topic % 2} 1\n" for topic in range(1, 9))


@pytest.fixture
def judged(folder):
    (folder / "better.run").write_text(BETTER)
    (folder / "worse.run").write_text(WORSE)
    (folder / "judged.txt").write_text(JUDGED)
    return ("better.run", "worse.run")


def test_a_method_is_learned_from_the_runs_of_training_topics(platform, folder, judged):
    new = BETTER.replace("q", "n"), WORSE.replace("q", "n")
    (folder / "one.run").write_text(new[0])
    (folder / "two.run").write_text(new[1])
    command = ("fuse", "one.run", "two.run", "--out", "f.run", "--train-on", "judged.txt")
    outcome = platform(*command, "--train-runs", ",".join(judged))
    assert (outcome.code, outcome.err) == (0, "")
    lines = outcome.out.splitlines()
    assert lines[0].startswith("f.run: 8 topics from ")
    assert lines[1].startswith("Chosen on 8 topics: ")
    assert lines[2].split() == ["Held", "out,", "in", "5", "folds:"]
    assert lines[3].split() == ["nDCG@20", "gain", "95", "%", "interval"]
    assert [line.split()[0] for line in lines[4:]] == ["chosen", "equal", "better.run"]
    (step,) = json.loads((folder / "f.run.meta.json").read_text())["method"]["retrieval"]
    assert step["learned"]["topics"] == 8
    assert [run["run"] for run in step["learned"]["from"]] == [
        str(folder / name) for name in judged
    ]
    weights = ",".join(str(run["weight"]) for run in step["fuses"])
    method = ["--by", step["method"], *(("--norm", step["norm"]) if "norm" in step else ())]
    method += ["--k", step["k"]] if "k" in step else []
    fusion = platform("fuse", "one.run", "two.run", "--out", "g.run", *method, "--weights", weights)
    assert fusion.code == 0
    assert (folder / "g.run").read_bytes() == (folder / "f.run").read_bytes()
    again = platform("rerun", "f.run.meta.json")
    assert again.code == 0, again
    (folder / judged[1]).write_text(BETTER)
    changed = platform("verify", "f.run")
    assert (changed.code, "training run" in changed.out) == (1, True), changed


def test_topics_of_the_runs_are_fused_as_other_folds_choose(platform, folder, judged):
    command = ("fuse", *judged, "--train-on", "judged.txt", "--by", "combsum", "--json")
    outcome = platform(*command, "--out", "f.run")
    assert outcome.code == 0, outcome
    learned = outcome.json["learned"]
    assert (learned["topics"], learned["folds"], learned["measure"]) == (8, 5, "nDCG@20")
    low, high = learned["held_out"]["over_best_run"]["interval_95"]
    assert low <= learned["held_out"]["over_best_run"]["difference"] <= high
    scored = platform(
        "evaluate", "f.run", "--qrels", "judged.txt", "--measure", "nDCG@20", "--json"
    )
    value = scored.json["runs"][0]["measures"]["nDCG@20"]
    assert value == pytest.approx(learned["held_out"]["chosen"])
    (step,) = json.loads((folder / "f.run.meta.json").read_text())["method"]["retrieval"]
    topics = [topic for fold in step["learned"]["by_fold"] for topic in fold["topics"]]
    assert sorted(topics) == [f"q{number}" for number in range(1, 9)]


def test_runs_of_another_collection_than_the_one_learned_from_are_refused(platform, folder, judged):
    for name in judged:
        of_demo = {"data": {"test collection": {"name": "demo", "topics": "1", "qrels": "2"}}}
        (folder / f"{name}.meta.json").write_text(json.dumps(of_demo))
    refused = platform("fuse", *judged, "--out", "f.run", "--train-on", "demo-train")
    assert refused.code == 2
    assert "better.run: this is a run of 'demo', and its topics are not those of" in refused.err
    assert not (folder / "f.run").exists()
    same = platform("fuse", *judged, "--out", "f.run", "--train-on", "demo")
    assert "fewer than two topics" in same.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--norm", "sum"), "--norm has no effect with --by ranks: it is for combsum and combmnz."),
        (("--by", "isr", "--k", "9"), "--k has no effect with --by isr"),
        (("--train-on", "judged.txt", "--k", "9"), "--k has no effect with --train-on, which"),
        (("--train-on", "judged.txt", "--weights", "1,2"), "exclude each other"),
        (("--train-runs", "better.run,worse.run"), "--train-runs needs --train-on"),
        (("--train-on", "judged.txt", "--train-runs", "good.run"), "names 1 run for 2 runs"),
        (("--train-on", "one.txt"), "fewer than two topics of the runs have a relevant document"),
    ],
)
def test_options_that_do_not_go_together_are_refused(platform, folder, judged, options, said):
    (folder / "one.txt").write_text("q1 0 d1 1\n")
    outcome = platform("fuse", *judged, "--out", "f.run", *options)
    assert outcome.code == 2
    assert said in outcome.err
    assert not (folder / "f.run").exists()
