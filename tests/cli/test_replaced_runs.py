"""A run that was made in another way is not replaced, unless the user asks for it."""

import json

import pytest
from strangers import GOOD, platform_with

from irplatform.run_folder.folder import alone_in

pytestmark = pytest.mark.java
RUN = ("run", "--collection", "small", "--run-dir", "x")
RERANKED = ("--reranker", "revdocid", "--interpolate", "0.5")


@pytest.fixture
def run_files(platform, folder):
    """The files of a run; what is in them; and a run file of a first stage."""
    assert platform(*RUN, *RERANKED).code == 0
    return lambda: {path.name: path.read_bytes() for path in (folder / "x").iterdir()}


@pytest.mark.parametrize(
    ("options", "run", "differs"),
    [
        (("--depth", "2"), "bm25", "depth 1000 -> 2"),
        (("--set", "bm25.k1=1.5"), "bm25", "bm25.k1 0.9 -> 1.5"),
        (
            ("--set", "k1=1.5", "--set", "bm25.b=0.1"),
            "bm25",
            "bm25.k1 0.9 -> 1.5; bm25.b 0.4 -> 0.1",
        ),
        (("--tag", "ours"), "bm25", "tag not set -> ours"),
        (
            ("--first-stage", "judged"),
            "bm25",
            "depth 1000 -> not set; candidates retrieved -> judged",
        ),
        ((*RERANKED[:2], "--interpolate", "0.25"), "revdocid", "interpolate 0.5 -> 0.25"),
        ((*RERANKED, "--rerank-depth", "7"), "revdocid", "rerank-depth 500 -> 7"),
        ((*RERANKED, "--seed", "7"), "revdocid", "seed 42 -> 7"),
        ((*RERANKED, "--first-stage", "bm25+qld"), "revdocid", "retrievers"),
    ],
)
def test_a_run_of_other_settings_is_refused_and_touches_nothing(
    platform, run_files, options, run, differs
):
    before = run_files()
    refused = platform(*RUN, *options)
    assert refused.code == 2
    assert f"platform: x/{run}.run: this run was made with other settings: " in refused.err
    assert differs in refused.err
    assert refused.err.endswith(". Name another --run-dir, or replace it with --force.\n")
    assert "searching" not in refused.err
    assert run_files() == before


def test_the_same_settings_and_what_does_not_decide_a_run_make_it_again(platform, run_files):
    before = run_files()
    for more in (RERANKED, (), ("--threads", "1"), ("--depth", "1000", "--measure", "P@1")):
        assert platform(*RUN, *more).code == 0
    assert platform(*RUN, "--first-stage", "qld+bm25").code == 0
    after = run_files()
    assert {name for name in before if name.endswith(".run")} < after.keys()
    assert all(after[name] == before[name] for name in before if name.endswith(".run"))


def test_a_run_of_other_data_is_refused(platform, folder, run_files):
    queries = folder / "small" / "queries.jsonl"
    queries.write_text(queries.read_text().replace("mice", "liposarcoma"))
    assert "other settings: topics " in platform(*RUN).err
    (folder / "small" / "corpus.jsonl").write_text('{"_id": "d1", "title": "", "text": "mice"}\n')
    assert "other settings: documents " in platform(*RUN).err


def test_a_run_is_replaced_where_the_user_asks_for_it(platform, run_files):
    before = run_files()
    assert platform(*RUN, *RERANKED, "--set", "bm25.k1=2", "--force").code == 0
    after = run_files()
    assert after["bm25.run"] != before["bm25.run"]
    assert json.loads(after["bm25.run.meta.json"])["method"]["settings"]["bm25.k1"] == 2


def test_a_file_that_is_no_run_of_ours_is_refused(platform, folder, run_files):
    (folder / "x" / "bm25.run.meta.json").unlink()
    before = run_files()
    refused = platform(*RUN)
    assert (refused.code, run_files()) == (2, before)
    assert "x/bm25.run: this file already exists, and no bm25.run.meta.json" in refused.err


def test_a_run_file_that_is_the_first_stage_is_compared_by_its_content(platform, folder, run_files):
    run = ("run", "--collection", "small", *RERANKED, "--first-stage", "good.run", "--run-dir")
    refused = platform(*run, "x")
    assert "x/revdocid.run: this run was made with other settings: " in refused.err
    assert "candidates retrieved -> good.run (" in refused.err
    assert platform(*run, "y").code == 0
    (folder / "good.run").write_text("q1 Q0 d2 1 2.0 x\n")  # its tag names the first stage
    refused = platform(*run, "y")
    assert "y/x.run: this run was made with other settings: candidates good.run (" in refused.err


def test_a_run_of_edited_code_is_refused(folder, tmp_path):
    """The author of a plugin edits it, and runs it again."""

    def run(code, *more):
        return platform_with(code, tmp_path, *RUN, "--reranker", "length", *more, cwd=folder)

    settings = ("--interpolate", "0.5")
    assert run(GOOD, *settings).returncode == run(GOOD, *settings).returncode == 0
    before = (folder / "x" / "length.run.meta.json").read_bytes()
    edited = GOOD.replace("len(", "-len(")
    refused = run(edited, *settings)
    assert (refused.returncode, refused.stderr) == (
        2,
        "platform: x/length.run: this run was made with other code of 'strange-distribution' "
        "(source changed). Name another --run-dir, or replace it with --force.\n",
    )
    assert (folder / "x" / "length.run.meta.json").read_bytes() == before
    message = run(edited, "--interpolate", "0.25").stderr
    assert "other settings: interpolate 0.5 -> 0.25, and with other code of 'strange" in message
    assert run(edited, *settings, "--force").returncode == 0
    assert (folder / "x" / "length.run.meta.json").read_bytes() != before
    assert run(edited, *settings).returncode == 0
    recorded = folder / "x" / "length.run.meta.json"
    recorded.write_text(recorded.read_text().replace('"version": "0.3"', '"version": "0.2"'))
    assert "'strange-distribution' (version 0.2 -> 0.3). Name" in run(edited, *settings).stderr


def test_a_run_with_other_knowledge_is_refused(platform, folder, drugs):
    expanding = (*RUN, "--expand", "own")
    assert platform(*expanding).code == platform(*expanding).code == 0
    (folder / "own.tsv").write_text("id\tname\tkind\tsynonyms\nDRUG:c\tMice\tdrug\tcrizotinib\n")
    assert platform("kb", "add", "own", "own.tsv").code == 0
    refused = platform(*expanding)
    assert refused.code == 2
    assert "run: this run was made with other content of what bm25 reads (knowledge)" in refused.err
    assert platform(*expanding, "--force").code == 0


def test_a_run_of_before_code_was_recorded_is_made_again(platform, folder, run_files):
    path = folder / "x" / "bm25.run.meta.json"
    content = json.loads(path.read_text())
    del content["method"]["settings"]["code"], content["method"]["settings"]["content"]
    path.write_text(json.dumps(content))
    assert platform(*RUN).code == 0


def test_two_commands_do_not_write_to_one_folder_at_once(platform, folder):
    with alone_in(folder / "x"):
        refused = platform(*RUN)
    assert (refused.code, refused.err) == (
        2,
        "platform: x: another command is writing runs to this folder. Wait for it, or name "
        "another --run-dir.\n",
    )
    assert not any((folder / "x").iterdir())
    assert platform(*RUN).code == 0


def test_options_of_tune_are_not_replaced_by_another_commands(platform, folder):
    (folder / "own.toml").write_text("k1 = 1.5\n")
    tune = ("tune", "--collection", "demo", "--over", "k1", "--trials", "1", "--out")
    refused = platform(*tune, "own.toml")
    assert (refused.code, refused.err) == (
        2,
        "platform: own.toml: this file already exists. Name another --out, or replace it with "
        "--force.\n",
    )
    (folder / "own.toml").write_text("# platform tune --over b\nb = 0.5\n")
    assert "`platform tune --over b` wrote this file" in platform(*tune, "own.toml").err
    assert (folder / "own.toml").read_text() == "# platform tune --over b\nb = 0.5\n"


def test_answers_are_not_replaced_by_others(platform, folder):
    (folder / "batch.toml").write_text(
        'id = "batch"\n[documents]\nfiles = ["docs.jsonl"]\n[topics]\nfile = "t.json"\n'
        'format = "bioasq"\n'
    )
    (folder / "docs.jsonl").write_text('{"id": "1", "title": "CDK4"}\n')
    question = {"id": "b1", "body": "Which drugs target CDK4?", "type": "list"}
    (folder / "t.json").write_text(json.dumps({"questions": [question]}))
    (folder / "my.run").write_text("b1 Q0 7 1 1.0 x\n")
    submit = ("submit", "bioasq", "my.run", "--collection", "batch.toml", "--out", "a.json")
    assert platform(*submit).code == platform(*submit).code == 0
    before = (folder / "a.json").read_bytes()
    (folder / "my.run").write_text("b1 Q0 8 1 1.0 x\n")
    refused = platform(*submit)
    assert refused.code == 2
    assert "a.json: this file already exists, with other content. Name another" in refused.err
    assert (folder / "a.json").read_bytes() == before
    assert platform(*submit, "--force").code == 0
    assert (folder / "a.json").read_bytes() != before
