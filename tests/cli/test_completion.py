"""What a shell is answered at the tab key."""

import subprocess
import sys

import click
import pytest

from irplatform.cli.completion import completion
from irplatform.cli.main import cli


@pytest.fixture
def complete(platform, monkeypatch):
    """The values for a line with the cursor at its end, as bash asks for them."""

    def complete(line, shell="bash"):
        words = [*line.split(), *([""] if line.endswith(" ") else [])]
        monkeypatch.setenv("COMP_WORDS", "\n".join(words))
        monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
        monkeypatch.setenv("_PLATFORM_COMPLETE", f"{shell}_complete")
        answer = platform()
        assert (answer.code, answer.err) == (0, "")
        return [item.partition(",")[2] for item in answer.out.splitlines() if item]

    return complete


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("platform re", ["report", "rerun", "reproduce", "rerankers", "retrievers"]),
        ("platform features ", ["list", "show"]),
        ("platform run --rer", ["--reranker", "--rerank-depth"]),
        ("platform run --collection demo --reranker revd", ["revdocid"]),
        ("platform run --reranker delta,revd", ["delta,revdocid"]),
        ("platform search --retriever rm", ["rm3"]),
        ("platform run --first-stage judged,bm25+rm", ["judged,bm25+rm3"]),
        ("platform run --first-stage jud", ["judged"]),
        ("platform run --topics f", ["first:10"]),
        ("platform run --preset pa", ["paper", "paper-small"]),
        ("platform run --fusion ra", ["ranks"]),
        ("platform run --first-stage ju", ["judged"]),
        ("platform run --pretrain mes", ["mesh"]),
        ("platform run --device cu", ["cuda"]),
        ("platform retrievers show bm", ["bm25"]),
        ("platform collections show demo-", ["demo-train"]),
        ("platform run --collection sma", ["small"]),
        ("platform train --collection demo,sma", ["demo,small"]),
        ("platform run --collection small : t", ["test"]),
        ("platform run --train-on demo,small : ", ["test"]),
        ("platform run --collection beir/nfcorpus/te", ["beir/nfcorpus/test"]),
        ("platform run --measure AP,Judg", ["AP,Judged@20"]),
        ("platform completion z", ["zsh"]),
        ("platform run --tag ", []),
    ],
)
def test_commands_options_and_names(complete, line, values):
    if "beir/" in line:
        pytest.importorskip("ir_datasets")
    assert complete(line)[: max(3, len(values))] == values


def test_a_path_is_left_to_the_shell(complete):
    assert complete("platform run --collection ../he") == ["../he"]  # of the type file
    assert complete("platform run --first-stage runs/bm25") == ["runs/bm25"]
    assert complete("platform run --collection nowhere : t") == ["t"]


def test_files_that_describe_collections_are_collections(folder, complete):
    (folder / "mine.toml").write_text('id = "mine"\n[documents]\nfiles = ["d.jsonl"]\n')
    (folder / "miner.toml").write_text("k1 = 1\n")
    assert complete("platform run --collection mine") == ["mine.toml"]
    assert complete("platform run --collection ./sm") == ["./small"]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("platform run --measure Judged @ 2", ["@20"]),
        ("platform run --measure AP,Judged @ 2", ["@20"]),
        ("platform run --measure = Judged @ 2", ["@20"]),
        ("platform run --reranker = revd", ["revdocid"]),
        ("platform run --reranker = delta,revd", ["delta,revdocid"]),
    ],
)
def test_words_that_bash_breaks_are_put_together(complete, line, values):
    assert complete(line) == values


def test_commands_of_plugins_are_completed(complete, monkeypatch):
    monkeypatch.setitem(cli.commands, "shelve", click.Command("shelve"))
    assert complete("platform sh") == ["shelve"]


def test_a_failure_answers_nothing(platform, monkeypatch):
    def fail():
        print("a traceback", file=sys.stderr)
        raise RuntimeError

    monkeypatch.setattr("irplatform.collections.names.aliases", fail)
    monkeypatch.setenv("COMP_WORDS", "platform\nrun\n--collection\nx")
    monkeypatch.setenv("COMP_CWORD", "3")
    monkeypatch.setenv("_PLATFORM_COMPLETE", "bash_complete")
    answer = platform()
    assert (answer.code, answer.out, answer.err) == (1, "", "")


@pytest.mark.parametrize("shell", completion.params[0].type.choices)
def test_the_script_of_a_shell_is_printed(platform, shell):
    printed = platform("completion", shell)
    assert printed.code == 0
    assert f"_PLATFORM_COMPLETE={shell}_complete" in printed.out


def test_fish_keeps_the_commas_of_lists(platform):
    assert 'string split --max 1 "," $completion' in platform("completion", "fish").out


def test_bash_takes_the_script(platform):
    script = platform("completion", "bash").out
    program = f"{script}\ncomplete -p platform"
    result = subprocess.run(["bash", "-c", program], check=True, capture_output=True, text=True)
    assert (result.stdout.split()[-1], result.stderr) == ("platform", "")
