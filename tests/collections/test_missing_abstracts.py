"""A corpus of titles without abstracts is told of: a wrong key looks just so."""

import json
from types import SimpleNamespace

import pytest
from commands import call

from irplatform.collections.inspection import warning_of_abstracts

NAMED = SimpleNamespace(id="c")


@pytest.mark.parametrize(
    ("titles", "abstracts", "beginning"),
    [
        (100, 0, "WARNING: none of the 100 documents of 'c' have an abstract"),
        (80, 49, "WARNING: only 49 of the 100 documents"),
        (100, 50, ""),
        (20, 0, ""),  # documents without titles are another matter
    ],
)
def test_a_warning_where_most_have_a_title_and_no_abstract(titles, abstracts, beginning):
    said = warning_of_abstracts(NAMED, documents=100, titles=titles, abstracts=abstracts)
    assert said.startswith(beginning)
    assert bool(said) == bool(beginning)


@pytest.mark.java
def test_a_run_warns_every_time(fresh_home, tmp_path, capsys, monkeypatch):
    lines = [{"id": f"d{n}", "title": "A title", "body": "The abstract"} for n in range(3)]
    (tmp_path / "d.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (tmp_path / "t.tsv").write_text("q1\ttitle\n")
    for name in ("wrong", "renamed"):
        (tmp_path / f"{name}.toml").write_text(
            f"""
            id = "{name}"
            [documents]
            files = ["d.jsonl"]
            abstract = "text"
            [topics]
            file = "t.tsv"
            format = "tsv"
            """
        )
    monkeypatch.chdir(tmp_path)
    for name in ("wrong", "wrong", "renamed"):
        outcome = call(capsys, monkeypatch, "run", "--collection", f"{name}.toml")
        assert outcome.code == 0, outcome.err
        assert f"none of the 3 documents of '{name}' have an abstract" in outcome.err
