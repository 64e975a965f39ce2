"""Records of documents are made once, kept, and made again if they are damaged or do not fit."""

import errno
import multiprocessing
import os
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from irplatform_encoders.records import DocumentRecords


def _texts(blocks):
    """The texts themselves as records."""
    return ([text.encode() for text in block] for block in blocks)


def _records(resources, encode=_texts, **options):
    return DocumentRecords(resources, "texts", {"of": 1}, encode, **options)


def _read(records, rows):
    """The records of some documents, in order."""
    texts = {}
    for block in records.get(rows):
        for place, begin, size in zip(block.places, block.begins, block.sizes, strict=True):
            assert begin % 8 == 0
            texts[int(place)] = block.data[begin : begin + size].tobytes().decode()
    return [texts[place] for place in range(len(rows))]


class _Counting:
    """Makes records of texts, and counts the texts."""

    def __init__(self):
        self.texts = []

    def __call__(self, blocks):
        for block in blocks:
            self.texts += block
            yield [text.encode() for text in block]


@pytest.fixture
def expected(text_resources):
    return list(text_resources.texts.values())


@pytest.fixture
def rows(text_resources):
    return text_resources.index.rows(list(text_resources.texts))


def test_a_record_is_made_once(text_resources, rows, expected):
    counter = _Counting()
    records = _records(text_resources, counter)
    order = np.random.default_rng(1).permutation(len(rows))
    assert _read(records, rows[order[:30]]) == [expected[place] for place in order[:30]]
    assert len(counter.texts) == 30
    again = _records(text_resources, counter)
    assert _read(again, rows) == expected
    assert len(counter.texts) == len(rows)
    assert _read(records, rows) == expected, "also where another instance added them"
    assert len(counter.texts) == len(rows)
    assert "" in expected


@given(bit=st.integers(0, 120 * 24 * 8 - 1), kind=st.sampled_from(["records.bin", "entries.bin"]))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_damaged_record_is_made_again(text_resources, rows, expected, bit, kind):
    records = _records(text_resources)
    records.fill()
    path = records._files._folder / kind
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)
    assert _read(_records(text_resources), rows) == expected
    assert _read(_records(text_resources), rows) == expected


def test_damage_is_told(text_resources, rows, expected):
    records = _records(text_resources)
    records.fill()
    path = records._files._folder / "records.bin"
    path.write_bytes(b"x" + path.read_bytes()[1:])
    text_resources.told.clear()
    assert _read(_records(text_resources), rows) == expected
    assert text_resources.told == ["1 vectors of documents are damaged, and made again"]


def test_what_was_made_before_an_interruption_stays(text_resources, rows, expected, monkeypatch):
    monkeypatch.setattr("irplatform_encoders.records._BLOCK", 16)

    def interrupted(blocks):
        for number, block in enumerate(_texts(blocks)):
            if number == 3:
                raise KeyboardInterrupt
            yield block

    with pytest.raises(KeyboardInterrupt):
        _records(text_resources, interrupted).fill()
    rest = _Counting()
    assert _read(_records(text_resources, rest), rows) == expected
    assert len(rest.texts) == len(rows) - 3 * 16


def test_progress_counts_the_documents_that_are_encoded(text_resources, rows, monkeypatch):
    reports = []
    monkeypatch.setattr(
        text_resources,
        "progress",
        lambda label, total, unit: reports.append((label, total)) or nullcontext(reports.append),
    )
    records = _records(text_resources)
    records.get(rows[:4])
    records.fill(label="filling")
    records.get(rows)
    assert reports == [("encoding documents", 4), 4, ("filling", 116), 116]


def test_what_does_not_fit_is_made_again_and_that_is_told_before(text_resources, rows, expected):
    counter = _Counting()
    sizes = -(-np.array([len(text) for text in expected]) // 8) * 8
    most = int(sizes[:50].sum())
    records = _records(text_resources, counter, most_bytes=most, option="texts.most=1")
    assert _read(records, rows) == expected
    total = sum(map(len, expected))
    assert text_resources.told == [
        f"Vectors of 120 documents take about {total / 1e6:.2f} MB, and {most / 1e6:.2f} MB are "
        "left of texts.most=1: what does not fit is encoded again whenever it is asked for"
    ]
    assert _read(records, rows) == expected
    assert _read(records, rows) == expected
    assert len(counter.texts) == 120 + 2 * 70
    assert records._files.size() <= most
    counter.texts.clear()
    records.fill()
    assert counter.texts == [], "nothing is made for a full store"


def test_without_room_all_is_made_again(text_resources, rows, expected):
    assert _read(_records(text_resources, most_bytes=0, option="o"), rows) == expected


def _refusing(monkeypatch, code):
    def refuse(path, flags):
        raise OSError(code, os.strerror(code), str(path))

    monkeypatch.setattr("irplatform_encoders.records.os.open", refuse)


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_cache_that_cannot_be_written_to_is_read(
    text_resources, rows, expected, monkeypatch, code
):
    _records(text_resources).get(rows[:50])
    _refusing(monkeypatch, code)
    counter = _Counting()
    records = _records(text_resources, counter)
    assert _read(records, rows) == expected
    assert len(counter.texts) == len(rows) - 50


def test_a_full_disk_is_an_error_and_leaves_the_rest_whole(
    text_resources, rows, expected, monkeypatch
):
    records = _records(text_resources)
    records.get(rows[:50])
    size = records._files.size()
    calls = []

    def full(file, data, begin):
        calls.append(begin)
        return 0 if len(calls) > 1 else os.write(file, data[:3])

    monkeypatch.setattr("irplatform_encoders.records.os.pwrite", full)
    with pytest.raises(OSError, match="No space"):
        records.fill()
    monkeypatch.undo()
    assert records._files.size() <= size + 8
    assert _read(_records(text_resources), rows) == expected


def _fill_a_share(folder, count, shares, share):
    from irplatform_encoders.records import _Files

    files = _Files(folder, count)
    for row in range(share, count, shares):
        files.add(np.array([row]), [bytes([row]) * row], None)


def test_several_processes_may_add_records(tmp_path):
    from irplatform_encoders.records import _Files, _make

    _make(tmp_path, 90)
    context = multiprocessing.get_context("spawn")
    processes = [
        context.Process(target=_fill_a_share, args=(tmp_path, 90, 3, share)) for share in range(3)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    files = _Files(tmp_path, 90)
    mask, damaged = files.check(np.arange(90))
    assert (mask.all(), damaged) == (True, 0)
    begins, sizes = files.spans(np.arange(90))
    for row, (begin, size) in enumerate(zip(begins, sizes, strict=True)):
        assert files.data[begin : begin + size].tobytes() == bytes([row]) * row
