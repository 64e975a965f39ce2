"""A terminal obeys control characters: none of a text that others wrote reaches it."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.errors import for_display
from irplatform.plugin import Reranker
from irplatform.registry.loading import registry
from irplatform.registry.registration import Registration

ROOT = Path(__file__).resolve().parents[2]
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e\u2066]")
NASTY = "\x1b]0;owned\x07\x1b[8m\x9b2J\u202e\x7f"
SHOWN = r"\x1b]0;owned\x07"
ESCAPED = json.dumps(NASTY)[1:-1]  # as JSON and TOML write it


class Telling(Reranker):
    """Explains a score with whatever a document says."""

    def score(self, topic, documents):
        return [0.0 for _ in documents]

    def explain(self, topic, documents):
        return [{"score": 0.0, "because": document.text} for document in documents]


@pytest.fixture
def nasty(folder, monkeypatch):
    """A collection whose every text ends in what a terminal would obey, and a run of it."""
    documents = [
        {"id": f"d{n}", "title": f"mice {n} {NASTY}", "abstract": NASTY, "note": NASTY}
        for n in range(3)
    ]
    (folder / "docs.jsonl").write_text("".join(json.dumps(d) + "\n" for d in documents))
    topics = [{"_id": f"q{n}", "text": f"mice {NASTY}"} for n in range(2)]
    (folder / "topics.jsonl").write_text("".join(json.dumps(t) + "\n" for t in topics))
    (folder / "qrels.txt").write_text("q0 0 d1 1\nq1 0 d2 1\nq1 0 d9 1\n")
    (folder / "c.toml").write_text(
        f'id = "c"\ntitle = "A title{ESCAPED}"\nnote = "A note{ESCAPED}"\n'
        '[documents]\nfiles = ["docs.jsonl"]\nfields = ["note"]\n'
        '[topics]\nfile = "topics.jsonl"\nformat = "beir"\n[qrels]\nfile = "qrels.txt"\n'
    )
    (folder / f"{NASTY}.run").write_text("q0 Q0 d1 1 2.0 t\nq1 Q0 d2 1 1.0 t\n")
    (folder / "own.tsv").write_text(
        f"id\tname\tkind\tsynonyms\nDRUG:c\tmice{NASTY}\tdrug\trodent|a{NASTY}\n"
    )
    (folder / "bad.toml").write_text(f'id = "{ESCAPED}"\n[documents]\nfiles = 3\n')
    (folder / "bad.jsonl").write_text(json.dumps({"_id": NASTY}) + "\n")
    (folder / "options.toml").write_text(f'"{ESCAPED}" = 1\n')
    plugin = registry().reranker("lexical").plugin
    registration = Registration("telling", "reranker", Telling, {}, plugin)
    monkeypatch.setitem(registry().rerankers, "telling", registration)
    return folder


@pytest.mark.parametrize(
    ("arguments", "shows"),
    [
        (("collections", "show", "c.toml"), True),
        (("collections", "check", "c.toml"), False),
        (("collections", "list"), False),
        (("collections", "show", "bad.toml"), True),
        (("collections", "show", NASTY), True),
        (("collections", "add", NASTY, "c.toml"), True),
        (("search", "--collection", "c.toml", "--query", f"mice {NASTY}"), True),
        (("search", "--collection", "c.toml", "--topic", "q0", "--explain"), True),
        (
            (
                "explain",
                "--collection",
                "c.toml",
                "--reranker",
                "telling",
                "--topic",
                "q0",
                "--doc",
                "d1",
            ),
            True,
        ),
        (("run", "--collection", "c.toml", "--reranker", NASTY), True),
        (("run", "--collection", "c.toml", "--set", f"{NASTY}=1"), True),
        (("run", "--collection", "c.toml", "--config", "options.toml"), True),
        (("run", "--collection", "c.toml", "--depth", NASTY), True),
        (("evaluate", f"{NASTY}.run", "--collection", "c.toml"), True),
        (("evaluate", f"{NASTY}.run", "--collection", "c.toml", "--measure", NASTY), True),
        (("submit", "check", f"{NASTY}.run"), True),
        (("kb", "show", "rodent", "--kb", "own"), True),
        ((NASTY,), True),
    ],
    ids=lambda value: (
        "-".join(value[:2]).replace(NASTY, "nasty") if isinstance(value, tuple) else ""
    ),
)
def test_control_characters_are_shown_as_escapes(platform, nasty, arguments, shows):
    platform("kb", "add", "own", "own.tsv")
    outcome = platform(*arguments)
    assert not CONTROL.search(outcome.out + outcome.err)
    assert (SHOWN in outcome.out + outcome.err) is shows


@pytest.mark.parametrize(
    "arguments",
    [("collections", "show", "c.toml"), ("search", "--collection", "c.toml", "--query", "mice")],
)
def test_json_says_the_same_without_them(platform, nasty, arguments):
    outcome = platform(*arguments, "--json")
    assert not CONTROL.search(outcome.out)
    assert any(NASTY in text for text in _texts(outcome.json))


def _texts(value):
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _texts(inner)
    elif isinstance(value, str):
        yield value


@pytest.mark.parametrize(
    "arguments",
    [
        ("collections", "show", "x" * 100_000),
        ("run", "--collection", "small", "--set", "k1=" + "x" * 100_000),
        ("run", "--collection", "small", "--depth", "9" * 100_000),
        ("evaluate", "good.run", "--collection", "small", "--measure", "m" * 100_000),
        ("evaluate", "long.run", "--collection", "small"),
    ],
    ids=lambda value: value[0],
)
def test_a_message_quotes_the_ends_of_a_long_value(platform, folder, arguments):
    (folder / "long.run").write_text(f"q1 Q0 d1 1 {'x' * 1_000_000} t\n")
    outcome = platform(*arguments)
    assert outcome.code == 2
    assert "more characters" in outcome.err
    assert len(outcome.err) < 10_000


@given(st.text())
def test_a_shown_line_has_no_control_character(text):
    line = for_display(text)
    assert not CONTROL.search(line)
    assert line.count("\n") == text.count("\n")


def test_all_commands_print_by_one_function():
    """`say` and `notice` show text of others; what prints otherwise has none of it."""
    direct = [
        f"{path.name}: {line.strip()}"
        for folder in ("cli", "reports")
        for path in sorted((ROOT / "platform" / "irplatform" / folder).glob("*.py"))
        for line in path.read_text(encoding="utf-8").splitlines()
        if re.match(r"\s*(?:click\.s?echo|print)\(", line) and "script(" not in line
    ]
    assert direct == [
        'output.py: click.echo(_BEYOND_ASCII.sub(lambda match: f"\\\\u{ord(match[0]):04x}", text))',
        "columns.py: print(text if shows_glyphs(sys.stdout) else text.translate(_ASCII), "
        "flush=True)",
    ]
