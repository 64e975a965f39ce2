"""A run in the dialect of any program keeps its order, or is refused with what was seen."""

import csv
import io
import itertools
import json
import random
import re
from collections import Counter

import pytest

from irplatform.errors import InputError
from irplatform.tasks.repair import repair_run
from irplatform.tasks.submissions import fix_run, task_of

TASK = """[[task]]
name = "two"
title = "Two topics"
[[task.rules]]
topics = 2
topic_ids = "7-8"
documents = "[1-9][0-9]*"
depth = 1000
"""
RIGHT = {"7": ["501", "502", "503"], "8": ["511", "512", "513"]}


def text_of(separator, names, *, index=""):
    """A table of the right run; columns by name, scores and ranks as usual."""
    lines = []
    for topic, documents in RIGHT.items():
        for rank, document in enumerate(documents, start=1):
            row = {"topic": topic, "document": document, "rank": rank, "from0": rank - 1}
            row |= {"score": 3 - rank / 4, "Q0": "Q0", "tag": "us", "of": "a, b"}
            number = [len(lines)] if index else []
            lines.append([*number, *(row[name] for name in names)])
    out = io.StringIO()
    csv.writer(out, delimiter=separator, lineterminator="\n").writerows(lines)
    return out.getvalue()


def blanks(text):
    return text.replace("\t", " ")


TABS = text_of("\t", ["topic", "document", "score"])
COMMAS = TABS.replace("\t", ",")
PYTERRIER = text_of(",", ["topic", "document", "from0", "score", "of"])
TABLES = {
    "PyTerrier": "qid,docid,docno,rank,score,query\n" + re.sub(r"(?m)^(\d),", r"\1,9,", PYTERRIER),
    "pandas with its index": ",qid,docno,score\n"
    + text_of(",", ["topic", "document", "score"], index="0"),
    "pandas with its index, no header": text_of(",", ["topic", "document", "rank"], index="0"),
    "MS MARCO": text_of("\t", ["topic", "document", "rank"]),
    "MS MARCO with Q0 and name": blanks(text_of("\t", ["topic", "Q0", "document", "rank", "tag"])),
    "ranks from 0 alone": text_of("\t", ["topic", "document", "from0"]),
    "a header in another order": "Score;DocID;Rank;QueryID\n"
    + text_of(";", ["score", "document", "rank", "topic"]).replace(".", ","),
    "trectools": "query,q0,docid,rank,score,system\n"
    + text_of(",", ["topic", "Q0", "document", "rank", "score", "tag"]),
    "cells of several lines": 'qid,text,docno,score\n'
    + re.sub(r"(?m)^(.)", r'\1,"A ""b"",\n\nc"', COMMAS),
    "names of two words": "\tTopic ID\tDocNo\tScore\tText\n"
    + re.sub("(?m)$", "\t", re.sub("(?m)^(?=.)", "0\t", TABS).strip()),
    "BEIR": "query-id\tcorpus-id\tscore\n" + TABS,
    "R's row names": '"qid" "docno" "score"\n' + re.sub(r"(?m)^(.)", r'"1" \1', blanks(TABS)),
    "a comment as header": "#qid\tdocno\tscore\n" + TABS,
    "tuples of Python": re.sub(r"(?m)^(.+)$", r"(\1)", COMMAS),
    "documents and nothing else": text_of("\t", ["topic", "document"]),
    "lists of documents": "qid,documents\n7,501 502 503\n8,511 512 513\n",
    "lists without a header": "7,501 502 503\n8,511 512 513\n",
    "a run's name that is a number": blanks(
        text_of("\t", ["topic", "document", "rank", "score", "tag"])
    ).replace("us", "2026"),
    "no-break spaces": text_of("\t", ["topic", "Q0", "document", "rank", "score", "tag"]).replace(
        "\t", "\u00a0"
    ),
    "headers of files one after another": "qid,docno,score\n" + "qid,docno,score\n8".join(
        COMMAS.split("8", 1)
    ),
    "ids as floats": re.sub(r"(?m)^(.)\t(\d+)", r"\1.0\t\2.0", TABS),
    "ids with exponents": re.sub(r"(?m)\t5(\d+)", r"\t5.\g<1>e+02", TABS),
    "ids in addresses": re.sub(r"(?m)\t(5\d+)", r"\tpubmed.ncbi.nlm.nih.gov/\1/", TABS),
    "ids with zeros": re.sub(r"(?m)^(.)\t(\d+)", r"00\1\t0\2", TABS),
    "ids in objects": "qid;docno;score\n"
    + re.sub(r";(5\d\d);", r";{'pmid': \1};", text_of(";", ["topic", "document", "score"])),
}  # fmt: skip
ROWS = [
    {"qid": int(topic), "docid": document, "rank": rank, "score": 3 - rank / 4}
    for topic, documents in RIGHT.items()
    for rank, document in enumerate(documents, start=1)
]
SCORES = {
    topic: {row["docid"]: row["score"] for row in ROWS if str(row["qid"]) == topic}
    for topic in RIGHT
}
JSON = {
    "ranx": json.dumps(SCORES),
    "mteb": json.dumps({"mteb_model_meta": {"n_parameters": 3}, "default": {"test": SCORES}}),
    "pairs": json.dumps({topic: [*scores.items()] for topic, scores in SCORES.items()}, indent=1),
    "lists": json.dumps(RIGHT),
    "pandas' split": json.dumps(
        {"columns": [*ROWS[0]], "index": [*range(6)], "data": [[*row.values()] for row in ROWS]}
    ),
    "pandas' index": json.dumps(dict(enumerate(ROWS))),
    "rows": json.dumps([*reversed(ROWS)]),
    "rows, one a line": "\n".join(map(json.dumps, ROWS)),
    "rank_llm": "\n".join(
        json.dumps({"query": {"qid": topic, "text": "x"},
                    "candidates": [{"docid": d, "score": s, "doc": {}} for d, s in scores.items()]})
        for topic, scores in SCORES.items()
    ),
    "hits by topic": json.dumps(
        {topic: {"hits": {"total": 3, "hits": [{"_id": d, "_score": s} for d, s in scores.items()]}}
         for topic, scores in SCORES.items()}
    ),
}  # fmt: skip


@pytest.fixture
def fix(tmp_path):
    (tmp_path / "two.toml").write_text(TASK)

    def fix(content, **options):
        (tmp_path / "in").write_text(content)
        task = str(tmp_path / "two.toml")
        return fix_run(tmp_path / "in", tmp_path / "out", task=task, force=True, **options)

    return fix


def order_of(content):
    order = {}
    for line in content.decode().splitlines():
        topic, _, document, *_ = line.split(" ")
        order.setdefault(topic, []).append(document)
    return order


@pytest.mark.parametrize("name", [*TABLES, *JSON])
def test_a_run_of_another_program_keeps_its_documents_and_order(fix, name):
    fixed = fix({**TABLES, **JSON}[name])
    assert not fixed.check.refused, fixed.check.problems
    assert order_of(fixed.repair.content) == RIGHT
    assert {*fixed.repair.left_out} <= {"header"}


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("7 501 3\n7 502 1\n7 503 2\n", "column 3 may be ranks or scores, and there is no header"),
        ("7 1 501\n7 2 502\n", "columns 2 and 3 may be ranks or documents"),
        ("0,7,501\n1,7,502\n2,8,511\n", "column 1 may number lines or topics"),
        ("7,501,2,5,us\n7,502,1,75,us\n7,503,1,25,us\n", "may be ranks or scores"),
        ("Thema Text Punkte\n7 501 2.5\n", "seems to be a header, but names no topic and document"),
        ("qid,docno,bm25\n7,501,2\n", "no column is named rank or score"),
        ("qid,docno,score\n7,501,1\n7,502,2\n", "scores rise from line to line .* Say what holds"),
        ("7,501,1\n7,502,1\n7,503,2\n", "scores rise from line to line"),
        ("[]", "columns 1 and 2|one column"),
        ("PAR1\0\x15\n7,501,2\n", "NUL byte, as damaged and binary files have"),
        ("7 Q0 501 1 0.1 us\n7 Q0 502 2 0.2 us\n", "contradict each other .* order='ranks'"),
        ("7 Q0 501 1 5 us\n7 Q0 502 2 5 us\n", "ranks differ, and all scores of a topic are equal"),
        ('{"team": 1, "results": []}', "this is JSON, not a run. Looked for were scores"),
        (json.dumps({"dev": SCORES, "test": SCORES}), "this JSON has 2 runs: dev, test"),
    ],
)
def test_what_cannot_be_told_is_refused(fix, content, message):
    with pytest.raises(InputError, match=message):
        fix(content)


@pytest.mark.parametrize("lines", ["7 Q0 {} {} {} us", "7,{},{},{}"])
def test_ranks_that_fall_from_line_to_line_are_not_taken_for_scores(fix, lines):
    text = "".join(lines.format(500 + n, n, 4 - n) + "\n" for n in (3, 2, 1))
    if "," in lines:
        text = "qid,docno,rank,score\n" + text
    assert order_of(fix(text).repair.content) == {"7": ["501", "502", "503"]}


@pytest.mark.parametrize(
    "document", ["https://example.org/501", "https://doi.org/10.1000/501", "PMC501", "a/501"]
)
def test_a_number_in_the_id_of_something_else_is_no_pmid(fix, document):
    fixed = fix(f"7 Q0 {document} 1 2.5 us\n8 Q0 511 1 2.5 us\n")
    assert order_of(fixed.repair.content) == {"8": ["511"]}
    assert fixed.check.refused


def test_without_ranks_the_user_says_what_rising_scores_are(fix):
    rising = "qid,docno,score\n7,501,1\n7,502,2\n8,511,1\n8,512,4\n"
    assert order_of(fix(rising, order="scores").repair.content)["7"] == ["502", "501"]
    assert order_of(fix(rising, order="ranks").repair.content)["7"] == ["501", "502"]


@pytest.mark.parametrize("value", ["inf", "nan", "-Infinity", "none"])
def test_a_score_that_is_no_number_keeps_its_document_where_ranks_agree(fix, value):
    text = blanks(text_of("\t", ["topic", "Q0", "document", "rank", "score", "tag"]))
    fixed = fix(text.replace("2.75", value))
    assert (order_of(fixed.repair.content), dict(fixed.repair.left_out)) == (RIGHT, {})
    assert fixed.repair.changed == {"score, from the rank": [1, 2, 3, 4, 5, 6]}


def test_a_topic_that_loses_all_documents_is_never_accepted(tmp_path):
    path, out = tmp_path / "a", tmp_path / "b"
    path.write_text("a Q0 d1 1 2.5 us\nb Q0 d2 x high us\n")
    check = fix_run(path, out).check
    assert [p.message for p in check.problems if p.level == "error"] == [
        "all documents of 1 topic (b) are left out."
    ]


def test_numbers_with_a_comma_before_three_digits_may_be_thousands(fix):
    text = "qid;docno;score\n7;501;1,204\n7;502;999\n"
    assert order_of(fix(text).repair.content) == {"7": ["502"]}
    assert "score that is not a number" in fix(text).repair.left_out


# Generated runs

NAMES = {
    "topic": ["qid", "query_id", "query-id", "topic", "Topic ID", "QueryID"],
    "document": ["docno", "docid", "doc_id", "corpus-id", "pid", "DOCID"],
    "rank": ["rank", "Rank", "position"],
    "score": ["score", "SCORE", "similarity", "_score"],
    "tag": ["run", "run_id", "tag", "run_name", "system"],
    "query": ["query", "text"],
    "index": ["", "Unnamed: 0", "index"],
}


def generated(choice):
    """A run in a random dialect: its text, the order it means, and whether that is contradicted."""
    tag, base = choice.choice(["mine", "42"]), choice.choice([1, 101])
    scores = {
        f"{choice.choice(['', 'q'])}{base + topic}": sorted(
            {
                choice.choice([1, -1]) * round(choice.uniform(0, 30), 4)
                for _ in range(choice.randint(1 + (topic == 0), 6))
            },
            reverse=True,
        )
        for topic in range(choice.randint(1, 4))
    }
    order, rows, first = {}, [], choice.choice([0, 1, 1])
    for topic, values in scores.items():
        for rank, score in enumerate(values):
            document = choice.choice(["NCT", "d-", "3"]) + f"{choice.randrange(10**7):07}"
            order.setdefault(topic, []).append(document)
            rows.append({"topic": topic, "document": document, "rank": rank + first, "score": score,
                         "tag": tag, "query": "a, b"})  # fmt: skip
    contradicts = False
    figures = choice.choice([["rank", "score"], ["rank", "score"], ["score"], ["rank"], []])
    if "score" in figures and choice.random() < 0.2:
        pairs = [pair for pair in itertools.pairwise(rows) if pair[0]["topic"] == pair[1]["topic"]]
        for one, other in pairs[:1]:
            one["score"], other["score"] = other["score"], one["score"]
            order[one["topic"]][:2] = order[one["topic"]][1::-1]
            contradicts = "rank" in figures
    elif figures and choice.random() < 0.2:
        choice.shuffle(rows)
    for number, row in enumerate(rows):
        row["index"] = number
    form = choice.choice(["named", "bare", "rows", "scores"])
    if form == "scores" and "score" in figures:
        text = json.dumps(
            {t: {r["document"]: r["score"] for r in rows if r["topic"] == t} for t in order}
        )
        return text, order, False
    columns = ["topic", "document", *figures, *choice.choice([[], ["tag"]])]
    names = {column: choice.choice(NAMES[column]) for column in NAMES}
    if form in ("rows", "scores"):
        return (
            "\n".join(json.dumps({names[c]: r[c] for c in columns}) for r in rows),
            order,
            contradicts,
        )
    if form == "named":
        columns += choice.choice([[], ["query"]])
        choice.shuffle(columns)
    columns = choice.choice([[], ["index"]]) + columns
    out = io.StringIO()
    separator, quoting = (
        choice.choice([",", "\t", ";"]),
        choice.choice([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]),
    )
    table = csv.writer(out, delimiter=separator, quoting=quoting, lineterminator="\n")
    table.writerows([[names[c] for c in columns]] * (form == "named"))
    table.writerows([r[c] for c in columns] for r in rows)
    return out.getvalue(), order, contradicts


def assert_order_or_refusal(path, seeds):
    task, verdicts = task_of("trec-ct-2021"), Counter()
    task = type(task)("any", "Any")
    for seed in seeds:
        text, order, contradicts = generated(random.Random(seed))
        path.write_text(text)
        try:
            repair = repair_run(path, task)
        except InputError as error:
            assert re.search("order=|there is no header|to be a header", str(error)), (seed, text)
            verdicts["refused"] += 1
            continue
        assert not contradicts, (seed, text)
        losses = sum(map(len, repair.left_out.values())) - len(repair.left_out.get("header", []))
        assert (order_of(repair.content), losses) == (order, 0) or repair.faults, (seed, text)
        verdicts["kept"] += 1
    assert verdicts["kept"] > 5 * verdicts["refused"]


def test_generated_runs_keep_their_order_or_are_refused(tmp_path):
    assert_order_or_refusal(tmp_path / "run", range(300))


@pytest.mark.slow
def test_ten_thousand_generated_runs_keep_their_order_or_are_refused(tmp_path):
    assert_order_or_refusal(tmp_path / "run", range(10_000))
