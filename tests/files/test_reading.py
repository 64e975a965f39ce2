"""What is read ends: devices, named pipes and lines without end are refused."""

import gzip
import os
import subprocess
import sys
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from irplatform.building.click_log import read_log
from irplatform.collections.topic_formats import FORMATS, read_topics
from irplatform.errors import InputError
from irplatform.evaluation.qrels import read_qrels
from irplatform.files import reading as text_files
from irplatform.files.digests import digest
from irplatform.files.formats import read_json, read_toml
from irplatform.files.reading import blocks_of_lines, numbered_lines, read_whole, reporting_reads
from irplatform.runs.trec import read_run

READERS = {
    "lines": lambda path: list(numbered_lines(path)),
    "blocks": lambda path: list(blocks_of_lines(path)),
    "run": read_run,
    "topics": lambda path: list(read_topics(path, "trec")),
    "TOML": read_toml,
    "JSON": read_json,
    "digest": digest,
}


@pytest.fixture(params=["pipe", "device", "link", "memory"])
def endless(request, tmp_path):
    """What is no file, or no end of one."""
    path = tmp_path / "endless"
    if request.param == "pipe":
        os.mkfifo(path)
    else:
        target = {"device": "/dev/zero", "link": "/dev/tty", "memory": "/proc/self/mem"}
        path.symlink_to(target[request.param])
    return path


@pytest.mark.parametrize("reader", READERS)
def test_what_is_no_file_is_refused(reader, endless):
    with pytest.raises(InputError, match="this is a device or a"):
        READERS[reader](endless)


def test_what_is_piped_is_read_more_than_once():
    code = (
        "import sys; from pathlib import Path; from irplatform.files.reading import open_bytes\n"
        "for path in sys.argv[1:]:\n"
        "    for _ in range(2):\n"
        "        with open_bytes(Path(path)) as file: print(len(file.read()))"
    )
    command = f'cat /dev/zero | head -c 70000 | {sys.executable} -c "$0" /dev/stdin <(echo abc)'
    process = subprocess.run(
        ["bash", "-c", command, code], capture_output=True, text=True, check=True
    )
    assert process.stdout.split() == ["70000", "70000", "4", "4"]


@pytest.mark.parametrize("name", ["lines", "blocks", "run"])
def test_a_line_without_end_is_refused_while_it_is_read(name, tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "LONGEST_LINE", 1 << 20)
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"q1 Q0 d1 1 2.0 t\n")
        for _ in range(4):
            file.write(bytes([120]) * (1 << 20))
    with pytest.raises(InputError, match="more than 64 MB"):
        READERS[name](path)


PACKED = {
    "judgments": read_qrels,
    "run": read_run,
    "click log": lambda path: list(read_log(path)),
    **{name: partial(read_topics, format_name=name) for name in FORMATS},
}


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    reader=st.sampled_from(sorted(PACKED)),
    beginning=st.sampled_from(
        [b"", b"1 0 a 1\n", b'{"a": "', b"<top>", b"<topics>", b"id\tquery\n"]
    ),
    filling=st.sampled_from([b"\0", b" ", b"x", b"[", b"1\t"]),
)
def test_a_packed_line_without_end_is_refused_by_every_reader(
    tmp_path, monkeypatch, reader, beginning, filling
):
    monkeypatch.setattr(text_files, "LONGEST_LINE", 1 << 12)
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(beginning + filling * (1 << 13)))
    with pytest.raises(InputError) as raised:
        PACKED[reader](path)
    assert str(raised.value).startswith(str(path))


@pytest.mark.parametrize("reader", ["json", "bioasq", "trec", "trec-pm", "judgments"])
def test_what_is_read_whole_is_bounded(tmp_path, reader):
    path = tmp_path / "bomb.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"[\n")
        for _ in range(17):
            file.write(bytes(1 << 24))
    with pytest.raises(InputError, match="more than 256 MB"):
        PACKED[reader](path)


@pytest.mark.parametrize("length", [10, 11])
def test_the_longest_line_that_is_read(length, tmp_path, monkeypatch):
    monkeypatch.setattr(text_files, "LONGEST_LINE", 11)
    (tmp_path / "lines").write_bytes(b"a" * (length - 1) + b"\nb")
    if length < 11:
        assert [line for _, line in numbered_lines(tmp_path / "lines")] == [b"a" * 9 + b"\n", b"b"]
    else:
        with pytest.raises(InputError, match="lines:1: this line has more than"):
            list(numbered_lines(tmp_path / "lines"))


def test_a_file_that_is_read_whole_has_an_end(tmp_path):
    (tmp_path / "whole").write_bytes(b"x" * (1 << 20))
    assert len(read_whole(tmp_path / "whole", 1 << 20)) == 1 << 20
    with pytest.raises(InputError, match="more than 0 MB"):
        read_whole(tmp_path / "whole", (1 << 20) - 1)


def test_it_is_told_how_much_of_a_packed_file_is_read(tmp_path):
    path, amounts = tmp_path / "packed.gz", []
    path.write_bytes(gzip.compress(b"a line\n" * 100_000))
    with reporting_reads(amounts.append):
        assert sum(1 for _ in numbered_lines(path)) == 100_000
    assert sum(amounts) == path.stat().st_size
    assert sum(1 for _ in numbered_lines(path)) == 100_000
    assert sum(amounts) == path.stat().st_size  # and nothing outside of the block
