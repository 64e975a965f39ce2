"""Several collections to learn from: all commands that learn take them, as the same topics."""

import json

import pytest

pytestmark = pytest.mark.java

SUBJECTS = ("melanoma", "glioma", "lymphoma", "sarcoma", "leukemia", "myeloma")
SMALL = ("--set=delta.loop.epochs=1", "--set=vectors.dimensions=8", "--set=vectors.epochs=1")
DELTA = ("--reranker", "delta", "--members", "1", "--threads", "1", *SMALL)
BOTH = ("--train-on", "a.toml", "--train-on", "b.toml")


@pytest.fixture
def collections(folder):
    """`a`, `b` and `c` number their topics from 1; `named.toml` is `c` that names both others."""
    words = {"a": "therapy", "b": "diagnosis", "c": "prognosis"}
    documents = [
        {"id": f"{word}{n}{kind}", "abstract": f"{subject} {word} {about}"}
        for word in words.values()
        for n, subject in enumerate(SUBJECTS)
        for kind, about in (("p", "patients trial"), ("m", "mouse cells"))
    ]
    (folder / "docs.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    for name, word in words.items():
        topics = [f"{n}\t{subject} {word}\n" for n, subject in enumerate(SUBJECTS)]
        (folder / f"{name}.tsv").write_text("".join(topics))
        judged = [
            f"{n} 0 {word}{n}{kind} {grade}\n"
            for n in range(len(SUBJECTS))
            for kind, grade in (("p", 1), ("m", 0))
        ]
        (folder / f"{name}.qrels").write_text("".join(judged))
        declared = (
            f'id = "{name}"\n[documents]\nfiles = ["docs.jsonl"]\n'
            f'[topics]\nfile = "{name}.tsv"\nformat = "tsv"\n[qrels]\nfile = "{name}.qrels"\n'
        )
        (folder / f"{name}.toml").write_text(declared)
    trained = '[train]\ncollection = ["a.toml", "b.toml"]\n'
    (folder / "named.toml").write_text(declared + trained)
    return folder


def test_documents_that_differ_in_fields_alone_are_learned_from_as_the_same(platform, collections):
    plain = platform("run", "--collection", "c.toml", *DELTA, "--train-on", "a.toml")
    assert plain.code == 0, plain.err
    with_fields = (
        (collections / "a.toml").read_text().replace("[topics]", 'fields = ["id"]\n[topics]')
    )
    (collections / "fields.toml").write_text(with_fields)
    trained = ("--train-on", "fields.toml", "--run-dir", "fields")
    run = platform("run", "--collection", "c.toml", *DELTA, *trained)
    assert run.code == 0, run.err
    assert "training delta" not in run.err  # what was learned from the same topics fits
    files = collections / "fields/delta.run", collections / "runs/c/delta.run"
    assert files[0].read_text() == files[1].read_text()


def test_all_commands_learn_from_the_same_topics(platform, collections):
    run = platform("run", "--collection", "c.toml", *DELTA, *BOTH)
    assert run.code == 0, run.err
    assert "training delta on a+b: 1 member on 9 topics and validated on 3" in run.err
    assert "WARNING" not in run.err
    recorded = json.loads((collections / "runs/c/delta.run.meta.json").read_text())
    assert recorded["method"]["training"][0]["trained_on"] == "a+b"
    outcome = platform("run", "--collection", "named.toml", *DELTA, "--run-dir", "named")
    assert outcome.code == 0, outcome.err
    assert "training delta" not in outcome.err  # what the first run trained fits
    assert (collections / "named/delta.run").read_text() == (
        collections / "runs/c/delta.run"
    ).read_text()
    trained = platform(
        "train", "--collection", "a.toml", "--collection", "b.toml", *DELTA, "--json"
    )
    assert "training delta" not in trained.err
    assert (trained.json["trained_on"], trained.json["topics"]) == ("a+b", 12)
    explained = platform(
        *("explain", "--collection", "c.toml", *DELTA, *BOTH, "--json"),
        *("--topic", "1", "--doc", "prognosis1p"),
    )
    assert "training delta" not in explained.err
    assert explained.json["trained_on"] == "a+b"


def test_some_of_the_training_topics_are_drawn_for_all_that_learn(platform, collections):
    options = (*BOTH, "--train-topics", "7", "--force")
    run = platform("run", "--collection", "c.toml", *DELTA, "--reranker", "revdocid", *options)
    assert run.code == 0, run.err
    assert "training delta on a+b: 1 member on 5 topics and validated on 2" in run.err
    recorded = json.loads((collections / "runs/c/delta.run.meta.json").read_text())
    assert recorded["implementation"]["call"]["settings"]["train_topics"] == 7
    trained = platform(
        *("train", "--collection", "a.toml", "--collection", "b.toml", *DELTA, "--json"),
        *("--train-topics", "7"),
    )
    assert "training delta" not in trained.err  # the same topics
    assert trained.json["topics"] == 7
    again = platform("rerun", "runs/c/delta.run", "--json")
    assert again.code == 0, again.err
    refused = platform("run", "--collection", "c.toml", *DELTA, *BOTH)
    assert "train-topics" in refused.err
    assert refused.code == 2


def test_every_seed_draws_topics_of_its_own(platform, collections):
    options = (*BOTH, "--train-topics", "7")
    run = platform("run", "--collection", "c.toml", *DELTA, *options, "--seeds", "2")
    assert run.code == 0, run.err
    alone = ("--seed", "1042", "--run-dir", "alone")
    second = platform("run", "--collection", "c.toml", *DELTA, *options, *alone)
    assert "training delta" not in second.err  # what the repetition trained fits
    files = collections / "runs/c/delta-seed1042.run", collections / "alone/delta.run"
    rows = [[line.split()[:5] for line in file.read_text().splitlines()] for file in files]
    assert rows[0] == rows[1]


def test_options_are_tuned_on_the_topics_of_all(platform, collections):
    tuned = platform(
        *("tune", "--collection", "c.toml", "--over", "b", "--trials", "1", "--folds", "2"),
        *(*BOTH, "--json"),
    )
    assert tuned.code == 0, tuned.err
    assert (tuned.json["tuned_on"], tuned.json["topics"]) == ("a+b", 12)


def test_training_on_the_evaluated_topics_among_others_is_refused_or_told(platform, collections):
    refused = platform("run", "--collection", "c.toml", *DELTA, *BOTH, "--train-on", "c.toml")
    assert (refused.code, refused.err) == (2, "platform: 'c' cannot train rerankers for itself.\n")
    copied = (collections / "c.toml").read_text().replace('id = "c"', 'id = "copy"')
    (collections / "copy.toml").write_text(copied)
    outcome = platform(
        *("run", "--collection", "c.toml", "--reranker", "revdocid"),
        *("--train-on", "a.toml", "--train-on", "copy.toml", "--json"),
    )
    assert "was chosen on 6 of these 6 topics (0, 1, 2, 3, 4, …)" in outcome.json["warnings"][0]
    fused = platform(
        *("run", "--collection", "c.toml", "--first-stage", "bm25+qld"),
        *("--reranker", "revdocid", "--train-on", "copy.toml", "--interpolate", "0.5", "--json"),
        "--force",
    )
    (warning,) = fused.json["warnings"]
    assert "weights of the fused retrievers were chosen on 6 of these 6 topics" in warning
    assert fused.err.count(warning) == 1
