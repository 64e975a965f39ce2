"""Judgments with their source, and the file of them."""

import pytest

from irplatform.errors import InputError
from irplatform.judging.judgments import (
    Judgment,
    Source,
    current,
    now,
    read_judgments,
    write_judgments,
)

ANN = Source("person", "ann")
LLM = Source("machine", "llm", "gpt-x 1")
EARLY, LATE = "2026-11-30T09:41:07Z", "2026-11-30T09:41:08Z"
LINE = '{"topic": "1", "document": "a", "grade": 2, "source": {"kind": "person", "name": "ann"}}'


def test_a_file_gives_back_what_was_written(tmp_path):
    judgments = [
        Judgment("1", "a", 2, ANN, EARLY, "pool", "a “note”"),
        Judgment("1", "a", None, LLM),
        Judgment("2", "a\n b", -1, ANN),
    ]
    write_judgments(tmp_path / "j.jsonl", judgments)
    assert read_judgments(tmp_path / "j.jsonl") == judgments


def test_a_source_is_called_by_name_and_version():
    assert (str(ANN), str(LLM)) == ("ann", "llm gpt-x 1")


def test_a_later_judgment_replaces_an_earlier_one_of_its_source_wherever_it_stands():
    early, late = Judgment("1", "a", 2, ANN, EARLY), Judgment("1", "a", 0, ANN, LATE)
    other = Judgment("1", "a", 1, LLM, EARLY)
    assert current([early, other, late]) == [late, other]
    assert current([late, other, early]) == [late, other]


def test_the_same_judgment_twice_is_one():
    judgment = Judgment("1", "a", 2, ANN, EARLY)
    assert current([judgment, judgment]) == [judgment]


def test_contradictions_are_named(tmp_path):
    path = tmp_path / "j.jsonl"
    path.write_text(f"{LINE}\n\n{LINE.replace('2', 'null')}\n")
    with pytest.raises(InputError, match="the grades 2 and None at the same time") as caught:
        read_judgments(path)
    assert caught.value.line == 3


def test_times_of_other_zones_are_ordered_in_utc(tmp_path):
    path = tmp_path / "j.jsonl"
    times = "2026-11-30T10:41:07.9+01:00", LATE
    path.write_text("".join(f'{LINE[:-1]}, "time": "{time}"}}\n' for time in reversed(times)))
    assert [judgment.time for judgment in read_judgments(path)] == [LATE]
    path.write_text(f'{LINE[:-1]}, "time": "{times[0]}"}}\n')
    assert [judgment.time for judgment in read_judgments(path)] == [EARLY]


def test_a_time_of_now_is_read(tmp_path):
    write_judgments(tmp_path / "j.jsonl", [judgment := Judgment("1", "a", 2, ANN, now())])
    assert read_judgments(tmp_path / "j.jsonl") == [judgment]


@pytest.mark.parametrize(
    ("old", "new", "problem"),
    [
        ("2", "1.5", r"\(grade: "),
        ("2", "true", r"\(grade: "),
        ("2", '"2"', r"\(grade: "),
        ("2", "1000000", r"\(grade: .*less than 1000000"),
        ('"person"', '"robot"', r"\(source\.kind: "),
        ('"ann"', '""', r"\(source\.name: "),
        ('"1"', '""', r"\(topic: "),
        ('"topic"', '"query"', r"\(topic: "),
        ('"topic"', '"rank": 1, "topic"', r"\(rank: "),
        ('"topic"', '"time": "yesterday", "topic"', r"\(time: 'yesterday' is not a time like"),
        ('"topic"', '"time": "2026-11-30T09:41:07", "topic"', "is not a time like"),
        ('"topic"', '"note": 7, "topic"', r"\(note: "),
        ('{"topic"', '["topic"', "not JSON"),
    ],
)
def test_a_bad_line_is_named(tmp_path, old, new, problem):
    path = tmp_path / "j.jsonl"
    path.write_text(f"{LINE.replace('2', '0').replace('1', '7')}\n{LINE.replace(old, new, 1)}\n")
    with pytest.raises(InputError, match=problem) as caught:
        read_judgments(path)
    assert (caught.value.path, caught.value.line) == (path, 2)


def test_an_empty_file_is_refused(tmp_path):
    (tmp_path / "j.jsonl").write_text("\n")
    with pytest.raises(InputError, match="there are no judgments"):
        read_judgments(tmp_path / "j.jsonl")
