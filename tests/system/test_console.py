"""Progress and notices: one line on a terminal, lines now and then elsewhere."""

import fcntl
import io
import os
import re
import struct
import sys
import termios
import threading
import time
from types import SimpleNamespace

import pytest

from irplatform.system import console
from irplatform.system.console import detail, notice, progress, section, sections, steps, waiting
from irplatform.system.process import isolated
from irplatform.system.progress import Work, texts_of
from irplatform.workers.pool import Workers

WIDE = pytest.mark.parametrize("terminal", [140], indirect=True)
LINE = re.compile(r"\r([^\r\n]*)\x1b\[K")
"""A paint of the progress line."""


class Terminal:
    """A pseudo-terminal that stands for stderr, and what was written to it."""

    def __init__(self, columns):
        self.own_end, other_end = os.openpty()
        fcntl.ioctl(other_end, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        self.stream = os.fdopen(other_end, "w", encoding="utf-8")
        self.written = bytearray()
        self.grown = threading.Condition()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        while True:
            try:
                data = os.read(self.own_end, 65536)
            except OSError:
                return
            with self.grown:
                self.written += data
                self.grown.notify_all()

    @property
    def text(self):
        return self.written.decode(errors="replace")

    def wait_for(self, pattern):
        """What a pattern finds, as soon as it is written."""
        with self.grown:
            match = self.grown.wait_for(lambda: re.search(pattern, self.text), 20)
            assert match, self.text[-500:]
        return re.search(pattern, self.text)


@pytest.fixture(params=[80])
def terminal(monkeypatch, request):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(console, "_QUICKEST", 0.02)
    screen = Terminal(request.param)
    # pytest puts its own stderr back between a fixture and its test
    monkeypatch.setattr(console, "sys", SimpleNamespace(stderr=screen.stream))
    yield screen
    screen.stream.close()


@pytest.fixture(autouse=True)
def usual_level():
    yield
    console.set_level(console.NORMAL)


def test_a_line_says_what_of_what_and_a_bar_how_far_the_whole_is(terminal):
    with sections(10):
        with section(4), progress("searching", 2) as advance:
            advance(2)
        with (
            section(6, "training delta"),
            steps("fold", 5, 1),
            steps("member", 5, 2),
            steps("epoch", 4, 3),
        ):
            match = terminal.wait_for(r"\r(training[^\r]*)\x1b\[K")
    assert re.fullmatch(
        r"training delta: fold 2/5, member 3/5, epoch 4/4 ━+─+ +59% 0:00:\d\d", match[1]
    )  # 4 of 10, and of the 6 others 1/5, 2/5 of a fifth and 3/4 of a fifth of that
    assert "\n" not in terminal.text
    terminal.wait_for(r"\r\x1b\[K$")


@pytest.mark.parametrize("columns", [20, 40, 80, 140])
def test_the_line_fits_the_terminal(columns, monkeypatch):
    monkeypatch.setattr(console, "_QUICKEST", 0.02)
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal(columns)
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    with (
        section(title="training delta"),
        steps("member", 5),
        progress("training word vectors 単語", 3),
    ):
        terminal.wait_for("0:00")
    lines = LINE.findall(terminal.text)
    assert all(len(line) < columns for line in lines)
    terminal.stream.close()


def test_what_plugins_print_and_notices_stand_above_the_line(terminal):
    with progress("reranking with delta", 3) as advance:
        terminal.wait_for("0 of 3")
        with isolated():
            print("from a plugin")
        notice("from the platform")
        advance(1)
        terminal.wait_for("1 of 3")
    assert "\r\x1b[Kfrom a plugin\r\n" in terminal.text
    assert re.search(r"(\r\x1b\[K|\n)from the platform\r\n", terminal.text)


def test_the_display_writes_to_its_own_stream_whatever_replaces_stderr(terminal):
    """A display that looks `sys.stderr` up may write to a proxy of itself, and never ends."""
    with progress("reranking with delta", 3):
        terminal.wait_for("0 of 3")
        console.sys.stderr = other = io.StringIO()
        notice("still here")
    terminal.wait_for("still here")
    assert other.getvalue() == ""


def test_what_a_library_writes_to_the_terminal_is_not_painted_over(terminal):
    with progress("reranking with delta", 3) as advance:
        terminal.wait_for("0 of 3")
        os.write(terminal.stream.fileno(), b"from Java\n")
        advance(1)
        terminal.wait_for("1 of 3")
    assert "\x1b[A" not in terminal.text  # no paint moves to the line above


def test_paints_become_rarer(terminal, monkeypatch):
    monkeypatch.setattr(console, "_QUICKEST", 0.05)
    monkeypatch.setattr(console, "_PAINTS", 2)
    with progress("counting", 3):
        time.sleep(1)  # in which a paint each 0.05 seconds would be 20 of them
    assert 2 <= len(LINE.findall(terminal.text)) < 12


@WIDE
def test_the_bar_moves_within_every_piece_of_work(terminal):
    def shares():
        return [int(share) for share in re.findall(r" (\d+)% 0:", terminal.text)]

    with sections(2), section(title="training delta"), steps("member", 2) as advance_members:
        with progress("encoding", 100, "topics", part=0.5) as advance:
            advance(50)
            terminal.wait_for("encoding: 50 of 100 topics ━+─+ +6%")  # half of 50 % of 25 %
            advance(50)
        with steps("epoch", 2, part=0.8) as advance, steps("", 10) as advance_batches:
            terminal.wait_for(r"epoch 1 of 2 ━+─+ +12%")
            advance_batches(5)
            terminal.wait_for(r"epoch 1 of 2 ━+─+ +15%")  # and a quarter of 80 % of the rest
            advance(1)
        terminal.wait_for(r"member 1 of 2 ━+─+ +22%")
        advance_members(1)
        terminal.wait_for(r"member 2 of 2 ━+─+ +25%")
    assert shares() == sorted(shares())


@WIDE
def test_work_for_all_that_follows_takes_a_part_of_all_that_is_left(terminal):
    with sections(5) as finished:
        finished(1)
        with section(4, "training delta"), steps("fold", 100):
            with progress("training word vectors", 10, "words", part=0.5, once=True) as advance:
                advance(5)
                terminal.wait_for("training word vectors: 5 of 10 words ━+─+ +40%")
            terminal.wait_for("fold 1 of 100 ━+─+ +60%")
        terminal.wait_for("100%")


@WIDE
def test_work_in_a_batch_fills_the_batch(terminal):
    with (
        progress("reranking", 20, "topics"),
        section(10),
        progress("scoring", 4, "documents", part=1) as advance,
    ):
        advance(2)
        said = "reranking: 0 of 20 topics, scoring: 2 of 4 documents"
        terminal.wait_for(f"{said} ━+─+ +25%")


@WIDE
def test_time_that_is_left_is_told_where_steps_are_alike_and_some_are_done(terminal, monkeypatch):
    monkeypatch.setattr("irplatform.system.progress._SECONDS_TO_LEARN", 0.2)
    with steps("trial", 100, 90) as advance:
        terminal.wait_for("90%")
        time.sleep(0.3)
        assert "left" not in terminal.text  # what was done before tells nothing of the speed
        advance(5)
        terminal.wait_for("95% 0:00:0., 0:00:0. left")
        with progress("searching", 2):
            terminal.wait_for(r"searching: 0 of 2 ━+─* +\d+% 0:00:0.\x1b")


@WIDE
def test_the_time_left_of_one_step_of_several_stands_behind_it(terminal, monkeypatch):
    monkeypatch.setattr("irplatform.system.progress._SECONDS_TO_LEARN", 0)
    with section(title="training delta"), steps("fold", 5), steps("epoch", 10) as advance:
        advance(5)
        terminal.wait_for(r"fold 1 of 5, epoch 6 of 10 \(about 1 s left\) ━")


def test_elsewhere_a_line_tells_the_time_left_too(capsys, monkeypatch):
    monkeypatch.setattr(console, "_LINE_INTERVAL", 0)
    monkeypatch.setattr("irplatform.system.progress._SECONDS_TO_LEARN", 0)
    with progress("counting", 300, "stems") as advance:
        advance(100)
    assert capsys.readouterr().err == "counting: 100 of 300 stems (about 1 s left) after 0 s\n"


@pytest.mark.parametrize(
    ("took", "remainder"),
    [(10, "about 30 s left"), (100, "about 5 min left"), (4000, "about 3 h left")],
)
def test_the_outermost_work_of_which_enough_is_done_tells_its_time(took, remainder):
    fold, epoch = Work(noun="fold", total=4, progress=2), Work(noun="epoch", total=8)
    epoch.began -= took
    epoch.advance(2)
    assert texts_of([fold, epoch])[0] == f"fold 3 of 4, epoch 3 of 8 ({remainder})"
    fold.began -= took * 10
    fold.advance(1)
    assert "fold 4 of 4 (about" in texts_of([fold, epoch])[0]
    assert texts_of([fold, epoch])[0].endswith("epoch 3 of 8")
    assert texts_of([fold, epoch])[2] == "fold 4/4, epoch 3/8"
    assert texts_of([fold, epoch], left=False)[0] == "fold 4 of 4, epoch 3 of 8"


def test_the_time_left_becomes_less_within_a_long_step():
    fold = Work(noun="fold", total=2)
    fold.began -= 200
    fold.advance(1)
    fold.began, fold.advanced = fold.began - 150, fold.advanced - 150
    assert texts_of([fold])[0] == "fold 2 of 2 (about 50 s left)"


def test_work_of_which_nothing_is_counted_yet_is_named_alone():
    assert str(Work("trying score()")) == "trying score()"
    assert str(Work("reading", unit="concepts", progress=3)) == "reading: 3 concepts"


def test_a_narrow_line_is_brief_before_it_leaves_words_out():
    works = [
        Work("training delta", section=True),
        Work(noun="fold", total=5, progress=1),
        Work("reranking with delta", unit="topics", total=6),
        Work(noun="batch", total=40),
    ]
    assert texts_of(works)[:4] == [
        "training delta: fold 2 of 5, reranking with delta: 0 of 6 topics, batch 1 of 40",
        "training delta: fold 2/5, reranking with delta: 0/6 topics, batch 1/40",
        "training delta: fold 2 of 5, reranking with delta: 0 of 6 topics",
        "training delta: fold 2/5, reranking with delta: 0/6 topics",
    ]
    assert texts_of(works)[-2:] == ["batch 1 of 40", "training delta"]


def test_a_narrow_line_first_leaves_out_which_of_several_is_underway(capsys):
    with console.place("reranker", 1, 3):
        works = [*console._display._works, Work(noun="epoch", total=8, progress=2)]
    assert texts_of(works)[:3] == [
        "reranker 2 of 3, epoch 3 of 8",
        "reranker 2/3, epoch 3/8",
        "epoch 3 of 8",
    ]
    with console.place("reranker", 0, 1):
        assert not console._display._works


def test_a_bar_never_goes_back(terminal):
    with sections(1), section(1):
        with progress("reading", 2, part=0.6) as advance:
            advance(2)
        with progress("searching", 2) as advance:
            assert " 60% " in terminal.wait_for("searching[^\r]*")[0]
            advance(-1)
            assert " 60% " in terminal.wait_for("searching: -1 of 2[^\r]*")[0]


@pytest.mark.parametrize("term", ["dumb", "unknown"])
def test_a_terminal_that_moves_no_cursor_gets_lines(term, monkeypatch):
    monkeypatch.setenv("TERM", term)
    monkeypatch.setattr(console, "_LINE_INTERVAL", 0)
    terminal = Terminal(80)
    monkeypatch.setattr(sys, "stderr", terminal.stream)
    with progress("counting", 2) as advance:
        advance(1)
    terminal.wait_for("counting: 1 of 2 after 0 s\r\n")
    assert "\x1b" not in terminal.text
    terminal.stream.close()


def test_elsewhere_a_line_says_how_far_it_is(capsys, monkeypatch):
    monkeypatch.setattr(console, "_LINE_INTERVAL", 0)
    with section(title="training delta"), steps("member", 5, 1), steps("epoch", 12) as advance:
        advance(1)
    line = "training delta: member 2 of 5, epoch 2 of 12 after 0 s\n"
    assert capsys.readouterr().err.startswith(line)


def _reported(number):
    console._QUICKEST = 0
    with console.steps("epoch", 4, counts=True) as advance:
        advance(number)
    notice(f"worker {number} is done")
    return number


def test_workers_report_to_the_line_of_the_process_that_started_them(capsys, monkeypatch):
    monkeypatch.setattr(console, "_LINE_INTERVAL", 0)
    with Workers(_reported, 1) as pool, section(title="training delta"), sections(5):
        pool.give(0, 2)
        results = {}
        while not results:
            results.update(pool.results())
    output = capsys.readouterr().err
    assert results == {0: 2}
    assert "worker 2 is done\n" in output
    assert re.search(r"training delta: epoch 3 of 4 after \d+ s\n", output)


def test_quiet_keeps_warnings_and_verbose_adds_details(capsys, monkeypatch):
    monkeypatch.setattr(console, "_LINE_INTERVAL", 0)
    outputs = []
    for level in (console.QUIET, console.NORMAL, console.VERBOSE):
        console.set_level(level)
        notice("usual")
        notice("x: WARNING: few topics")
        detail("reusing index/demo")
        with progress("counting", 2) as advance:
            advance(1)
        outputs.append(capsys.readouterr().err.splitlines())
    assert outputs[0] == ["x: WARNING: few topics"]
    assert outputs[1] == ["usual", "x: WARNING: few topics", "counting: 1 of 2 after 0 s"]
    assert outputs[2][2:3] == ["reusing index/demo"]


def test_lines_that_repeat_are_written_once(capsys):
    for cell in ("one", "two"):
        with console.with_subject(cell), console.without_repeats():
            notice("first")
    with console.without_repeats("WARNING"):
        for cell in ("one", "two"):
            with console.with_subject(cell), console.with_subject("seed 1"):
                notice("WARNING: it")
                notice("step")
    assert capsys.readouterr().err.splitlines() == [
        "one: first",
        "two: first",  # in a block of its own
        "one: seed 1: WARNING: it",
        "one: seed 1: step",
        "two: seed 1: step",
    ]


def test_a_terminal_that_was_closed_stops_no_work(monkeypatch):
    reading, writing = os.pipe()
    os.close(reading)
    monkeypatch.setattr(sys, "stderr", os.fdopen(writing, "w", encoding="utf-8"))
    notice("nobody reads this")
    with pytest.raises(BrokenPipeError):
        sys.stderr.close()


def test_what_nobody_can_measure_is_named_when_it_takes_long(terminal, monkeypatch):
    with waiting("reading demo"):
        time.sleep(0.1)
    assert terminal.text == ""
    monkeypatch.setattr(console, "_PATIENCE", 0.05)
    with waiting("loading torch"):
        assert terminal.wait_for(LINE)[1] == "loading torch 0:00:00"
    with sections(2, 1), waiting("starting Java"):
        assert "50%" in terminal.wait_for(r"starting Java([^\r]*)\x1b")[1]
