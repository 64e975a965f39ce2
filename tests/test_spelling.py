"""Settings in messages: options for who calls a command, keywords for a program."""

import ast
import re
from pathlib import Path

import pytest

import irplatform
from irplatform.errors import InputError
from irplatform.settings import check_least
from irplatform.spelling import command, for_command, option, option_words, written_for_command
from irplatform.workers.pool import Workers

PLATFORM = Path(irplatform.__file__).parent
_OPTION = re.compile(r"(?<![\w-])--[a-z{]")
_OTHERS = {
    "lucene/java/jar.py": "of pip",
    "lucene/java/machine.py": "of Java",
    "reports/html/page.py": "names in CSS",
    "reports/plots.py": "names in CSS",
    "run_folder/campaigns.py": "of git",
    "run_folder/environment.py": "of git",
    "spelling.py": "written here",
}
"""Files whose strings hold options that are not settings, and what these are."""


@pytest.mark.parametrize(
    ("arguments", "keyword", "command_form"),
    [
        (("depth",), "depth=", "--depth"),
        (("rerank_depth", 5), "rerank_depth=5", "--rerank-depth 5"),
        (("first_stages", "bm25+rm3"), "first_stages='bm25+rm3'", "--first-stage bm25+rm3"),
        (("rerankers", "NAME"), "rerankers=NAME", "--reranker NAME"),
        (("expand", "KB,…"), "expand=KB,…", "--expand KB,…"),
        (("force", True), "force=True", "--force"),
        (("resume", False), "resume=False", "--no-resume"),
        (("out", Path("a.run")), "out='a.run'", "--out a.run"),
        (
            ("settings", {"delta.filters": 64}),
            "settings={'delta.filters': 64}",
            "--set delta.filters=64",
        ),
        (("settings", {"chat.url": "URL"}), "settings={'chat.url': URL}", "--set chat.url=URL"),
        (("settings", {"ltr.on": True}), "settings={'ltr.on': True}", "--set ltr.on=true"),
        (("settings", {"ltr.stack": "[…]"}), "settings={'ltr.stack': […]}", "--set ltr.stack=[…]"),
    ],
)
def test_a_setting_is_a_keyword_or_an_option(arguments, keyword, command_form):
    assert option(*arguments) == keyword
    with written_for_command():
        assert option(*arguments) == command_form
    assert not for_command()


def test_a_quoted_value_is_quoted_for_both():
    assert option("tag", "a b", quoted=True) == "tag='a b'"
    with written_for_command():
        assert option("tag", "a b", quoted=True) == "--tag 'a b'"


def test_words_of_a_command_line_are_apart():
    assert option_words("run_dir", "my runs") == ["--run-dir", "my runs"]
    assert option_words("settings", {"bm25.k1": 1}) == ["--set", "bm25.k1=1"]


def test_words_follow_the_options_of_a_command():
    assert (
        command("submit fix RUN", "-o OUT", task="t") == "`platform submit fix RUN --task t -o OUT`"
    )


def test_a_command_is_a_command_line_for_both():
    line = "`platform submit fix my.run --task bioasq-13b-a --force`"
    assert command("submit fix my.run", task="bioasq-13b-a", force=True) == line
    with written_for_command():
        assert command("submit fix my.run", task="bioasq-13b-a", force=True) == line


def test_the_least_number_is_told():
    with pytest.raises(InputError, match=r"^rerank_depth= is 0; it must be at least 1\.$"):
        check_least("rerank_depth", 0, 1)


def test_a_worker_writes_for_the_reader_of_its_parent():
    with written_for_command(), Workers(option, 1) as workers:
        workers.give(0, "rerank_depth")
        answer = workers.result()
    assert answer == "--rerank-depth"


def _strings(source: str) -> list[str]:
    """All strings of a module, docstrings too; "{}" stands for what a string is filled with."""
    strings = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            strings.append(node.value)
        elif isinstance(node, ast.JoinedStr):
            parts = [part.value if isinstance(part, ast.Constant) else "{}" for part in node.values]
            strings.append("".join(map(str, parts)))
    return strings


def test_settings_are_spelled_in_one_place():
    names = set()
    for path in PLATFORM.rglob("*.py"):
        name = path.relative_to(PLATFORM).as_posix()
        if not name.startswith("cli/") and any(
            map(_OPTION.search, _strings(path.read_text("utf-8")))
        ):
            names.add(name)
    assert names == {*_OTHERS}


@pytest.mark.parametrize(
    "line", ['f"--{name} is"', '"--seed"', '"""Reads `--set`."""', 'f"{a} --no-x"']
)
def test_an_option_in_a_string_is_found(line):
    assert any(map(_OPTION.search, _strings(line)))
