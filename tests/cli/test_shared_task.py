"""The collection of a shared task, as docs/shared-tasks.md has it, before there are judgments."""

import re
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "shared-tasks.md"
TOPICS = """<topics task="2019 TREC Precision Medicine">
<topic number="1"><disease>lung cancer</disease><gene>ALK</gene>
<demographic>64-year-old male</demographic></topic>
<topic number="2"><disease>liposarcoma</disease><gene>CDK4</gene>
<demographic>38-year-old male</demographic></topic>
</topics>
"""


@pytest.fixture
def topics_of_a_new_year(folder):
    (declared,) = re.findall(r'```toml\n(id = "trec-pm-2019".*?)```', PAGE.read_text(), re.DOTALL)
    declared = declared[: declared.index("[train]")]
    section = (
        '[documents]\nfiles = ["small/corpus.jsonl"]\nid = "_id"\nabstract = "text"\n\n[topics]'
    )
    declared = re.sub(r"\[documents\].*?\[topics\]", section, declared, flags=re.DOTALL)
    (folder / "2019.toml").write_text(declared)
    (folder / "topics2019.xml").write_text(TOPICS)
    return declared


@pytest.mark.java
def test_topics_without_judgments_are_checked_run_and_submitted(
    platform, folder, topics_of_a_new_year
):
    assert "infNDCG" in topics_of_a_new_year
    checked = platform("collections", "check", "2019.toml")
    assert (checked.code, "no judgments" in checked.out) == (0, True), checked
    outcome = platform("run", "--collection", "2019.toml", "--run-dir", "base", "--tag", "mygroup1")
    assert outcome.code == 0, outcome.err
    assert outcome.out.split()[:6] == ["system", "topics", "results", "per", "topic", "seconds"]
    assert outcome.out.splitlines()[2].split()[:3] == ["bm25", "2", "1"]
    assert "\n  platform submit check base/bm25.run --collection 2019.toml\n" in outcome.err
    assert "runs and scores" not in outcome.err
    run = (folder / "base" / "bm25.run").read_text().splitlines()
    assert {line.split()[5] for line in run} == {"mygroup1"}
    submitted = platform("submit", "check", "base/bm25.run", "--collection", "2019.toml")
    assert submitted.code == 0
    counts, note = submitted.out.splitlines()
    assert counts.startswith("base/bm25.run: nothing is wrong; 2 topics, 1 result each")
    assert "note: 2 of 2 topics have fewer than the 1,000 results" in note
    assert "--documents" in submitted.err
