"""What a shell hands to the command line: closed streams, other encodings, misspelt variables."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from irplatform.cli.main import ready_home

SOURCES = Path(__file__).parents[2]


@pytest.fixture
def shell(folder):
    """Run a line of shell in which `platform` is the command."""

    def run(line, **variables):
        return subprocess.run(
            ["/bin/sh", "-c", f'platform() {{ "{sys.executable}" -m irplatform "$@"; }}; {line}'],
            cwd=folder,
            env={**os.environ, **variables},
            capture_output=True,
            check=False,
        )

    return run


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_do_not_stop_a_command(shell, closed):
    scored = f"platform evaluate good.run --collection small --measure P@1 {closed}"
    result = shell(scored)
    assert result.returncode == 0, result.stderr
    assert b"Traceback" not in result.stderr
    assert (b"0.5" in result.stdout) == (">&-" not in closed.replace("2>&-", ""))


@pytest.mark.parametrize(
    "messages", ["2>/dev/full", "2> >(exec head -c1 >/dev/null)"], ids=["full disk", "closed pipe"]
)
def test_messages_that_nobody_takes_do_not_stop_a_command(shell, folder, messages):
    (folder / "late.run").write_text("# a comment\nq1 Q0 d1 1 2.0 x\nq2 Q0 d9 1 1.0 x\n")
    line = f"platform evaluate late.run --collection small --measure P@1 {messages}"
    result = shell(f"bash -c '{line.replace('platform', sys.executable + ' -m irplatform', 1)}'")
    assert (result.returncode, b"0.5" in result.stdout) == (0, True), result.stderr


@pytest.mark.parametrize("locale", ["C", "POSIX", "tr_TR.ISO-8859-9", "zh_CN.GB18030"])
def test_files_and_streams_are_utf_8_whatever_the_locale(shell, folder, locale):
    (folder / "β.run").write_bytes((folder / "good.run").read_bytes())
    (folder / "small").rename(folder / "kölsch")
    command = "platform evaluate β.run --collection kölsch --measure P@1"
    result = shell(command, LC_ALL=locale, PYTHONUTF8="0", PYTHONCOERCECLOCALE="0")
    assert (result.returncode, "β " in result.stdout.decode()) == (0, True), result.stderr


def test_a_user_without_a_home_folder_is_told_which_one_is_used(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("os.path.expanduser", lambda path: path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("HOME", "")
    ready_home()
    assert os.environ["HOME"] == str(tmp_path / f"irplatform-{os.getuid()}")
    assert f"no home folder; {os.environ['HOME']} is used instead" in capsys.readouterr().err


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        OSError(errno.EAGAIN, "Resource temporarily unavailable"),
        RuntimeError("can't start new thread"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory"),
        ImportError("libtorch.so: failed to map segment from shared object"),
        BaseException("memory allocation of 512 bytes failed"),
    ],
    ids=lambda error: str(error)[:20] or "MemoryError",
)
def test_too_little_memory_is_told_in_a_line(platform, monkeypatch, error):
    def fail(*_, **__):
        raise error

    monkeypatch.setattr("irplatform.search", fail)
    outcome = platform("search", "--collection", "small", "--query", "mice")
    assert outcome.code == 1
    assert outcome.err.startswith("platform: there is too little memory")
    assert len(outcome.err.splitlines()) == 1


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_stdout_cannot_show_is_escaped(shell, folder, encoding):
    (folder / "β.run").write_bytes((folder / "good.run").read_bytes())
    command = "platform evaluate β.run --collection small --measure P@1"
    table = shell(command, PYTHONIOENCODING=encoding)
    assert (table.returncode, b"\\u03b2 " in table.stdout) == (0, True), table.stderr
    result = shell(f"{command} --json", PYTHONIOENCODING=encoding)
    assert b'"path": "\\u03b2.run"' in result.stdout
    assert "β.run".encode() in shell(f"{command} --json", PYTHONIOENCODING="utf-8").stdout


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS])
def test_a_cache_that_belongs_to_others_is_told_in_a_line(platform, folder, monkeypatch, code):
    index = Path(os.environ["IRPLATFORM_HOME"]) / "index"
    forbidden = OSError(code, os.strerror(code), str(index))

    def refuse(*_):
        raise forbidden

    monkeypatch.setattr("irplatform.files.cache._sound_path", refuse)
    outcome = platform("index", "--collection", "small")
    assert outcome.code == 2
    assert outcome.err.splitlines()[-1] == (
        f"platform: {index}: {os.strerror(code)}. Set IRPLATFORM_HOME to one of your folders."
    )
