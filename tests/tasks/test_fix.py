"""Broken runs: each fault is found with its line, and repaired if it can be."""

import gzip
import itertools
import json
import random
import re

import pytest
from commands import call
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from irplatform.errors import InputError
from irplatform.tasks.repair import repair_run
from irplatform.tasks.submissions import check_runs, fix_run, task_of

TASK = "trec-ct-2021"
DOCUMENTS = 5


def sound():
    """A run by the rules: 75 topics, five results each; line 5 (topic − 1) + rank."""
    return [
        f"{topic} Q0 NCT{topic:03}{rank:05} {rank} {9.5 - rank} mine"
        for topic in range(1, 76)
        for rank in range(1, DOCUMENTS + 1)
    ]


def replaced(line, *pairs):
    """Replace cells of a line: (column, text)."""

    def change(lines):
        cells = lines[line - 1].split()
        for column, text in pairs:
            cells[column] = text
        lines[line - 1] = " ".join(cell for cell in cells if cell)

    return change


def everywhere(before, after):
    def change(lines):
        lines[:] = [line.replace(before, after) for line in lines]

    return change


def inserted(line, text):
    return lambda lines: lines.insert(line - 1, text)


def scores_of(topic, text):
    def change(lines):
        for rank in range(1, DOCUMENTS + 1):
            replaced(5 * (topic - 1) + rank, (4, text))(lines)

    return change


def swapped(lines):
    for number, line in enumerate(lines):
        topic, second, document, rank, score, tag = line.split()
        lines[number] = " ".join((topic, second, document, score, rank, tag))


def deep(lines):
    lines.extend(f"75 Q0 NCT9{n:07} {n + 6} {-n / 8} mine" for n in range(996))


FAULTS = {
    "a document twice": (replaced(7, (2, "NCT00200001")), 7, "a second time"),
    "a rank twice": (replaced(13, (3, "2")), 13, "rank 2 comes twice"),
    "a score that rises": (replaced(18, (4, "99.0")), 18, "rank 3 has a higher score than rank 2"),
    "a result too many": (deep, None, "more than the 1,000 results that are accepted: '75' 1,001"),
    "a tag with a hyphen": (everywhere("mine", "my-run"), 1, "'my-run' does not match"),
    "a tag that is too long": (everywhere("mine", "m" * 13), 1, "mmm' does not match"),
    "a tag with an umlaut": (everywhere("mine", "süß"), 1, "'süß' does not match"),
    "two tags": (replaced(23, (5, "other")), 23, "a second run tag, 'other'"),
    "no second column": (replaced(28, (1, "")), 28, "5 columns"),
    "no tag": (replaced(33, (5, "")), 33, "5 columns"),
    "no rank": (replaced(38, (3, "")), 38, "5 columns"),
    "no second column and no tag": (replaced(43, (1, ""), (5, "")), 43, "4 columns"),
    "text after the tag": (replaced(48, (5, "mine of May")), 48, "8 columns"),
    "commas": (everywhere(" ", ","), 1, "1 column"),
    "a line with commas": (replaced(53, (0, "11,Q0,NCT01100003,3,6.5,mine"), (1, ""), (2, ""),
                           (3, ""), (4, ""), (5, "")), 53, "1 column"),
    "a 0 in the second column": (replaced(58, (1, "0")), 58, "second column is '0', not 'Q0'"),
    "a q0": (everywhere(" Q0 ", " q0 "), 1, "second column is 'q0', not 'Q0'"),
    "a rank with a point": (replaced(63, (3, "3.0")), 63, "the rank is not a whole number"),
    "a decimal comma": (replaced(68, (4, "6,5")), 68, "the score '6,5' is not a number"),
    "a score nan": (replaced(73, (4, "nan")), 73, "the score 'nan' is not a finite number"),
    "a score inf": (replaced(78, (4, "inf")), 78, "the score 'inf' is not a finite number"),
    "a score that is a word": (replaced(83, (4, "high")), 83, "the score 'high' is not a number"),
    "a score with an underscore": (replaced(88, (4, "1_0")), 88, "the score '1_0' is not a number"),
    "a score beyond 32 bits": (replaced(91, (4, "1e39")), 91, "beyond what a 32-bit float holds"),
    "a topic without scores": (scores_of(20, "nan"), 96, "the score 'nan' is not a finite number"),
    "a comment": (inserted(103, "# made in May"), 103, "begins with '#'"),
    "a header": (inserted(1, "qid Q0 docno rank score tag"), 1, "the score 'score' is not a num"),
    "a topic of another task": (inserted(108, "76 Q0 NCT1 1 1.0 mine"), None, "not have: '76'"),
    "a topic with a zero": (everywhere("\n9 ", "\n09 "), None, "does not have: '09'"),
    "an id in small letters": (replaced(113, (2, "nct02300003")), 113, "not of the form NCT[0-9]+"),
    "an address for an id": (
        replaced(118, (2, "https://clinicaltrials.gov/study/NCT02400003")), 118, "not of the form"),
    "an id with its file's ending": (replaced(123, (2, "NCT02500003.xml")), 123, "not of the form"),
    "an id of another collection": (replaced(128, (2, "PMC12345")), 128, "not of the form"),
    "rank and score the other way round": (swapped, 1, "the rank is not a whole number"),
    "a NUL byte": (replaced(133, (5, "mi\0ne")), 133, "NUL byte"),
}  # fmt: skip
"""Name → (what is done to a sound run, the line at fault, a part of the message)."""
ENCODINGS = {
    "a byte order mark": (lambda text: text.encode("utf-8-sig"), 1, "byte order mark"),
    "UTF-16": (lambda text: text.encode("utf-16"), 1, "UTF-16"),
    "carriage returns alone": (
        lambda text: text.replace("\n", "\r").encode(),
        None,
        "the first line has a carriage return",
    ),
    "Latin-1": (lambda text: text.replace(" mine", " mïne", 1).encode("latin-1"), 1, "not UTF-8"),
}
_ALONE = ("commas", "a q0", "rank and score the other way round", "a header", "a comment")
"""Faults of whole files, which hide others, and lines that move others."""
_IN_LINES = [name for name, (_, line, _) in FAULTS.items() if line and name not in _ALONE]
_CHOICE = random.Random(7)
COMBINED = [tuple(_CHOICE.sample(_IN_LINES, number)) for number in (2, 2, 3, 3, 4, 4, 5, 6, 8, 12)]


def broken(names):
    lines = sound()
    if "a topic with a zero" in names:
        lines = [line.replace("9 Q0", "09 Q0") if line.startswith("9 ") else line for line in lines]
    for name in sorted(names, key=lambda name: -(FAULTS[name][1] or 0)):
        FAULTS[name][0](lines)  # from the end, so that numbers of lines stay
    return "".join(f"{line}\n" for line in lines)


def check_and_fix(tmp_path, content, **options):
    path, out = tmp_path / "my.run", tmp_path / "fixed.run"
    path.write_bytes(content)
    check = check_runs(path, task=TASK)[str(path)]
    fixed = fix_run(path, out, task=TASK, diff=tmp_path / "my.diff", **options)
    assert path.read_bytes() == content
    return check, fixed, out


def deciding(names):
    """Where scores contradict ranks, the user says which hold."""
    return {"order": "scores"} if "a score that rises" in names else {}


def assert_sound(out):
    (check,) = check_runs(out, task=TASK).values()
    assert [problem for problem in check.problems if "fewer" not in problem.message] == []
    assert check.topics == 75
    for topic, lines in itertools.groupby(
        out.read_text().splitlines(), lambda line: line.split()[0]
    ):
        ranks = [int(line.split()[3]) for line in lines]
        assert ranks == [*range(1, len(ranks) + 1)], topic


def test_a_sound_run_stays_as_it_is(tmp_path):
    content = "".join(f"{line}\n" for line in sound()).encode()
    check, fixed, out = check_and_fix(tmp_path, content)
    assert not check.refused
    assert (fixed.repair.changed, fixed.repair.left_out) == ({}, {})
    assert out.read_bytes() == content
    assert (tmp_path / "my.diff").read_text().count("\n") == 2  # the names of the files


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found_with_its_line_and_repaired(tmp_path, name):
    _, line, message = FAULTS[name]
    check, fixed, out = check_and_fix(tmp_path, broken([name]).encode(), **deciding([name]))
    problems = [(problem.line, problem.message) for problem in check.problems]
    assert any(at == line and message in text for at, text in problems), problems
    assert not fixed.check.refused, fixed.check.problems
    assert_sound(out)
    diff = (tmp_path / "my.diff").read_text()
    assert diff.startswith(f"--- {tmp_path / 'my.run'}\n+++ {out}\n@@ line ")


@pytest.mark.parametrize("name", ENCODINGS)
def test_encodings_and_line_ends_are_repaired(tmp_path, name):
    encode, line, message = ENCODINGS[name]
    check, fixed, out = check_and_fix(tmp_path, encode("".join(f"{line}\n" for line in sound())))
    problems = [(problem.line, problem.message) for problem in check.problems]
    assert any(at == line and message in text for at, text in problems), problems
    assert not fixed.check.refused, fixed.check.problems
    assert_sound(out)


@pytest.mark.parametrize("names", COMBINED, ids=lambda names: str(len(names)))
def test_many_faults_are_all_found_and_repaired(tmp_path, names):
    check, fixed, out = check_and_fix(tmp_path, broken(names).encode(), **deciding(names))
    lines = {line for problem in check.problems for line in (problem.line, *problem.lines)}
    # Of the ranks of a topic only the first problem is told, and of tags the second one.
    expected = {FAULTS[name][1] for name in names}
    assert expected <= lines, sorted(expected - lines)
    assert not fixed.check.refused, fixed.check.problems
    assert_sound(out)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("".join(f"{line}\n" for line in sound()[:-5]), "1 of 75 topics have no results: '75'"),
        ("", "there are no results in this file"),
    ],
)
def test_what_cannot_be_repaired_is_said(tmp_path, content, message):
    check, fixed, _ = check_and_fix(tmp_path, content.encode())
    assert check.refused
    assert fixed.check.refused
    assert any(message in problem.message for problem in fixed.check.problems)


@pytest.mark.parametrize("content", ['{"questions": []}', '\n[\n{"id": 1}]'])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_answers_in_json_need_their_task(tmp_path, content, encoding):
    file = tmp_path / "answers.json"
    file.write_text(content, encoding=encoding)
    with pytest.raises(InputError, match=r"this is JSON, not a run\. Looked for were scores"):
        fix_run(file, tmp_path / "fixed")


def test_a_topic_in_braces_is_not_json(tmp_path):
    path, out = tmp_path / "my.run", tmp_path / "fixed.run"
    path.write_text("{1} Q0 a 1 2 t\n")
    fix_run(path, out)
    assert out.read_text() == "{1} Q0 a 1 2 t\n"


def test_the_original_is_never_written_to(tmp_path):
    path = tmp_path / "my.run"
    path.write_text("1 Q0 a 1 2 t\n")
    with pytest.raises(InputError, match="is the input itself"):
        fix_run(path, path)
    (tmp_path / "other.run").write_text("something else\n")
    with pytest.raises(InputError, match="already exists, with other content"):
        fix_run(path, tmp_path / "other.run")
    fix_run(path, tmp_path / "other.run", force=True)
    assert (tmp_path / "other.run").read_text() == "1 Q0 a 1 2 t\n"


def test_ranks_decide_where_asked_for(tmp_path):
    path, out = tmp_path / "my.run", tmp_path / "out.run"
    path.write_text("1 Q0 a 1 1.0 t\n1 Q0 b 2 2.0 t\n2 Q0 c 1 3.0 t\n2 Q0 d 2 2.0 t\n")
    with pytest.raises(
        InputError, match=r"rank 2 of topic '1' .* higher score than rank 1 .*order='scores'"
    ):
        fix_run(path, out)
    assert not out.exists()
    fix_run(path, out, order="scores")
    assert [line.split()[2] for line in out.read_text().splitlines()] == ["b", "a", "c", "d"]
    fixed = fix_run(path, out, order="ranks", force=True)
    assert out.read_text() == "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n2 Q0 c 1 3.0 t\n2 Q0 d 2 2.0 t\n"
    assert fixed.repair.changed == {"score, from the rank": [1, 2]}


def test_documents_that_the_collection_does_not_have_are_left_out(tmp_path):
    path = tmp_path / "my.run"
    path.write_text("1 Q0 NCT1 1 3 t\n1 Q0 NCT2 2 2 t\n1 Q0 NCT3 3 1 t\n")
    repair = repair_run(path, task_of(TASK), has_document=lambda name: name != "NCT2")
    assert repair.content == b"1 Q0 NCT1 1 3 t\n1 Q0 NCT3 2 1 t\n"
    assert repair.left_out == {"document that the collection does not have": [2]}


def test_ties_are_ranked_as_trec_eval_does_and_a_copy_may_be_packed(tmp_path):
    path, out = tmp_path / "my.run.gz", tmp_path / "out.run.gz"
    path.write_bytes(gzip.compress(b"1 Q0 a 1 1.0 t\n1 Q0 b 2 1.0 t\n"))
    with pytest.raises(InputError, match="ranks differ, and all scores of a topic are equal"):
        fix_run(path, out)
    fixed = fix_run(path, out, order="scores")
    assert gzip.decompress(out.read_bytes()) == b"1 Q0 b 1 1.0 t\n1 Q0 a 2 1.0 t\n"
    assert (fixed.repair.changed, fixed.check.problems[0].level) == (
        {"rank, from the score": [1, 2]},
        "note",
    )


@pytest.mark.parametrize("cut", ["2 Q0 24", "2 Q0 2405 20", "2 Q0 2405 2 4", "2"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_a_last_line_that_is_cut_off_is_left_out(tmp_path, cut, end):
    path, out = tmp_path / "my.run", tmp_path / "out.run"
    path.write_bytes(end.join(["1 Q0 a 1 9.5 t", "2 Q0 b 1 9.0 t", cut]).encode())
    fixed = fix_run(path, out)
    assert out.read_text() == "1 Q0 a 1 9.5 t\n2 Q0 b 1 9.0 t\n"
    assert fixed.repair.left_out == {"last line, which is cut off": [3]}
    path.write_bytes(b"1 a 9.5 t\n2 b 9.0 t")  # columns that all lines lack
    assert fix_run(path, out, force=True).repair.left_out == {}


CELLS = st.one_of(
    st.sampled_from(["1", "2", "01", "Q0", "0", "nan", "1e99", "2.5", "7,5", "NCT1", "nct2", "t"]),
    st.text("NCT01 ,.-é\0#\t", max_size=6),
)
LINES = st.one_of(
    st.builds(
        lambda topic, number, rank, score, tag: f"{topic} Q0 NCT{number} {rank} {score} {tag}",
        st.integers(1, 3),
        st.integers(1, 4),
        st.integers(0, 5),
        st.sampled_from(["1", "1.0", "2.5", "-3", "1e39", "nan", "x"]),
        st.sampled_from(["mine", "mine", "my-run", "mïne"]),
    ),
    st.lists(CELLS, max_size=8).map(" ".join),
)
TWO = """[[task]]
name = "three"
title = "Three topics"
[[task.rules]]
topics = 3
topic_ids = "1-3"
depth = 3
tag = "[a-z_]{1,6}"
documents = "NCT[0-9]+"
"""


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    lines=st.lists(LINES, max_size=12),
    end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
    encoding=st.sampled_from(["utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252"]),
    order=st.sampled_from(["scores", "ranks"]),
)
def test_whatever_a_file_holds_its_copy_lacks_topics_at_most(tmp_path, lines, end, encoding, order):
    (tmp_path / "three.toml").write_text(TWO)
    path, out, again = (tmp_path / name for name in ("a.run", "b.run", "c.run"))
    path.write_bytes("".join(line + end for line in lines).encode(encoding))
    options = {"task": str(tmp_path / "three.toml"), "order": order, "force": True}
    try:
        fixed = fix_run(path, out, **options)
    except InputError as error:
        assert re.search("qid|order=|NUL", str(error))
        return
    messages = [p.message for p in fixed.check.problems if p.level == "error"]
    lacking = re.compile(r"\d of 3 topics have no results|there are no results in|all documents of")
    assert [message for message in messages if not lacking.match(message)] == []
    assert fix_run(out, again, diff=tmp_path / "diff", **options).repair.lines == ()
    assert again.read_bytes() == out.read_bytes()


PUBMED = "http://www.ncbi.nlm.nih.gov/pubmed/"


def test_answers_to_bioasq_are_repaired(tmp_path):
    snippet = {"document": "11", "text": "So.", "beginSection": "title", "endSection": "title"}
    placed = {**snippet, "offsetInBeginSection": 0, "offsetInEndSection": 3}
    question = {
        "id": "q1",
        "body": "Half a pair: \ud83d",
        "documents": [11, "PMID: 12", PUBMED + "11", "PMC5", *range(21, 31)],
        "snippets": [snippet, *[placed] * 11],
    }
    path, out = tmp_path / "a.json", tmp_path / "b.json"
    path.write_text(json.dumps({"questions": [question, question]}))
    fixed = fix_run(path, out, task="bioasq-13b-a")
    (mended,) = json.loads(out.read_text())["questions"]
    assert mended["documents"] == [PUBMED + str(n) for n in (11, 12, *range(21, 29))]
    assert mended["body"] == "Half a pair: \ufffd"
    assert mended["snippets"] == [{**placed, "document": PUBMED + "11"}] * 10
    assert fixed.repair.left_out == {"topic that comes a second time": [1]}
    assert not fixed.check.refused


def test_answers_to_biogen_are_repaired(tmp_path):
    def entry(number, run="us"):
        sentence = {
            "text": "So.",
            "existing_supported_citations": [1],
            "supported_citations": ["1", "2", "2", "PMID:3", 4, 5],
        }
        return {"metadata": {"team_id": "t", "run_id": run, "qa_id": number}, "answer": [sentence]}

    path, out = tmp_path / "a", tmp_path / "b"
    entries = [entry(number, "us" if number < 150 else "other") for number in range(116, 157)]
    path.write_text("".join(json.dumps(answer) + "\n" for answer in entries))
    fixed = fix_run(path, out, task="trec-biogen-2025-a")
    assert not fixed.check.refused, fixed.check.problems
    lines = out.read_text().splitlines()
    assert len(lines) == 40
    (sentence,) = json.loads(lines[0])["answer"]
    assert sentence["supported_citations"] == ["2", "3", 4]
    assert sentence["contradicted_citations"] == []
    assert fixed.repair.left_out == {"topic that the task does not have": [41]}


def test_the_command_says_what_it_did(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my.run").write_text(broken(["a document twice", "a tag with a hyphen"]))
    command = ("submit", "fix", "my.run", "--task", TASK, "-o", "fixed.run")
    result = call(capsys, monkeypatch, *command)
    assert result.code == 0
    assert [" ".join(line.split()) for line in result.out.splitlines()] == [
        "changed 374 lines tag: 1, 2, 3, …",
        "changed 3 lines rank: 8, 9, 10",
        "left out 1 line document a second time in its topic: 7",
        "fixed.run: accepted; 75 topics, 4 to 5 results each, tag 'my_run'.",
    ]
    (tmp_path / "my.run").write_text("".join(f"{line}\n" for line in sound()[5:]))
    result = call(capsys, monkeypatch, *command, "--force")
    assert "my.run: there is nothing that can be repaired." in result.out
    (tmp_path / "far.run").write_text("1 Q0 NCT1 1 0.1\n1 Q0 NCT2 2 0.2\n")
    fix_far = ("submit", "fix", "far.run", "--task", TASK, "-o", "near.run")
    far = call(capsys, monkeypatch, *fix_far)
    assert (far.code, (tmp_path / "near.run").exists()) == (2, False)
    assert "Say which holds: --order scores, or --order ranks." in far.err
    far = call(capsys, monkeypatch, *fix_far, "--order", "ranks")
    assert (tmp_path / "near.run").read_text().split()[2] == "NCT1"
    assert "--tag gives the run one of yours" in far.err
    assert "Documents were not looked up" in far.err
    result = call(capsys, monkeypatch, *command, "--force", "--json")
    assert result.code == 1
    assert result.json["unrepaired"] == ["1 of 75 topics have no results: '1'."]


def test_empty_lines_are_left_out_and_counted(tmp_path):
    (tmp_path / "a.run").write_text("\n41 Q0 d7 1 2.5 my\n\n41 Q0 d3 2 1.5 my\n \n")
    fixed = fix_run(tmp_path / "a.run", tmp_path / "b.run")
    assert fixed.repair.left_out == {"empty line": [1, 3, 5]}
    assert not fixed.check.refused
    assert (tmp_path / "b.run").read_text() == "41 Q0 d7 1 2.5 my\n41 Q0 d3 2 1.5 my\n"
