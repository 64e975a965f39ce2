"""Rows are run, judged and skipped; one that is off fails and says so."""

import subprocess
import sys
import threading
from pathlib import Path
from unittest.mock import Mock

import pytest
from commands import call as platform

from irplatform.errors import InputError
from irplatform.files.cache_contents import contents
from irplatform.files.writing import home
from irplatform.reproduction import execute
from irplatform.reproduction import execute as process
from irplatform.reproduction.execute import Execution, reproduce
from irplatform.reproduction.rows import read_rows


def test_figures_within_their_tolerance_pass(results, called, monkeypatch):
    monkeypatch.delenv("IRPLATFORM_TEST_DATA", raising=False)
    bm25, ranker, elsewhere = reproduce(read_rows(results))
    assert [e.verdict for e in (bm25, ranker, elsewhere)] == ["passed", "passed", "skipped"]
    assert elsewhere.reason == "IRPLATFORM_TEST_DATA is not set"
    assert [figure.obtained for figure in ranker.figures] == [0.59, 0.4, 0.56]
    assert [cache for _, cache in called] == [home()] * 2
    assert called[0][0][-2:] == ("--device", "cpu")


def test_a_row_altered_by_hand_fails_and_says_by_how_much(results, called):
    text = results.read_text(encoding="utf-8").replace("value = 0.6 ", "value = 0.7 ")
    results.write_text(text, encoding="utf-8")
    altered = list(reproduce(read_rows(results)))[1]
    assert altered.verdict == "failed"
    assert [figure.verdict for figure in altered.figures] == [
        *("FAILED: 0.1100 too low, 0.02 is allowed", "ok", "ok")
    ]


@pytest.mark.parametrize(
    ("gain", "verdict", "printed"),
    [
        ("[0.11, 0.05, 0.17]", "passed", "0.6000, +0.1100 [+0.0500, +0.1700]  0.5900, +0.0900  ok"),
        (
            "[0.11, 0.1, 0.12]",
            "failed",
            "0.6000, +0.1100 [+0.1000, +0.1200]  0.5900, +0.0900  "
            "FAILED: the gain is outside the interval",
        ),
    ],
)
def test_a_gain_is_to_lie_in_its_interval_whatever_the_value(
    results, called, capsys, monkeypatch, gain, verdict, printed
):
    text = results.read_text(encoding="utf-8").replace("value = 0.6", f"value = 0.6, gain = {gain}")
    results.write_text(text, encoding="utf-8")
    assert list(reproduce(read_rows(results)))[1].verdict == verdict
    result = platform(capsys, monkeypatch, "reproduce", "--file", results, "--only", "small")
    assert result.out.splitlines()[2] == f"ranker-small: {verdict}, 0 s"
    assert result.out.splitlines()[3] == f"  AP        {printed}"


def test_a_gain_of_the_reranker_alone_is_its_own(results, called):
    text = results.read_text(encoding="utf-8")
    text = text.replace('"AP" = 0.55', '"AP" = { value = 0.55, gain = [0.05, 0.01, 0.07] }')
    results.write_text(text, encoding="utf-8")
    alone = list(reproduce(read_rows(results)))[1].figures[-1]
    assert (alone.passed, alone.obtained_gain) == (True, 0.06)


def test_a_measure_that_is_not_reported_fails(results, called):
    text = results.read_text(encoding="utf-8").replace('"AP" = 0.5 ', '"RR" = 0.5 ')
    results.write_text(text, encoding="utf-8")
    first = next(iter(reproduce(read_rows(results))))
    assert [figure.verdict for figure in first.figures] == ["FAILED: not reported"]


def test_a_fresh_cache_is_empty_and_goes_when_all_is_done(results, report, called, monkeypatch):
    caches = []

    def call(command, cache, run_dir):
        caches.append((cache, cache.exists()))
        cache.mkdir(parents=True, exist_ok=True)
        (cache / "artifact").touch()
        return report

    monkeypatch.setattr(execute, "call", call)
    list(reproduce(read_rows(results)[:2], fresh=True))
    cache = caches[0][0]
    assert caches == [(cache, False), (cache, True)]
    assert not cache.exists()
    (cache / "left").mkdir(parents=True)
    assert [(item.kind, item.path, item.complete) for item in contents()] == [
        ("reproduce", cache, False)
    ]
    list(reproduce(read_rows(results)[:2], fresh=True))
    assert caches[2] == (cache, False), "what an interrupted call left is removed"


def test_a_fresh_cache_knows_the_names_of_collections(results, report, monkeypatch, fresh_home):
    texts = []

    def call(command, cache, run_dir):
        texts.append((cache / "collections.json").read_text())
        return report

    monkeypatch.setattr(execute, "call", call)
    home().mkdir(exist_ok=True)
    (home() / "collections.json").write_text('{"mine": "/data/mine"}')
    list(reproduce(read_rows(results)[:1], fresh=True))
    assert texts == ['{"mine": "/data/mine"}']


def test_a_value_that_can_be_no_path_breaks_off_nothing(results, called):
    row = read_rows(results)[0].model_copy(update={"settings": {"prompt": "a question " * 60}})
    assert len(list(reproduce([row, read_rows(results)[1]]))) == 2
    assert len(called) == 2


def test_a_command_without_a_report_is_a_failure_of_its_row(tmp_path, fresh_home):
    result = process.call(["run", "--help"], tmp_path / "cache", tmp_path)
    assert result == {"error": "it printed no report"}


def test_a_cache_that_cannot_be_is_told(results, monkeypatch, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("IRPLATFORM_HOME", str(tmp_path / "file"))
    with pytest.raises(InputError, match="not a folder to write to"):
        list(reproduce(read_rows(results)[:1]))


def test_a_folder_to_keep_in_is_refused_before_the_first_row(
    results, called, capsys, monkeypatch, tmp_path
):
    (tmp_path / "file").write_text("")
    target = tmp_path / "file" / "kept"
    result = platform(capsys, monkeypatch, "reproduce", "--file", results, "--keep", target)
    assert (result.code, called) == (2, [])
    assert "not a folder" in result.err


def test_rows_of_one_command_share_its_run(results, called):
    row = read_rows(results)[1]
    other = row.model_copy(update={"id": "its-first-stage", "system": "bm25", "alone": {}})
    assert len(list(reproduce([row, other]))) == 2
    assert len(called) == 1


def test_rows_run_at_a_time_and_are_told_in_their_order(results, report, monkeypatch, fresh_home):
    together = threading.Barrier(2, timeout=60)
    labels = []

    def call(command, cache, run_dir, label):
        labels.append(label)
        together.wait()
        return report

    monkeypatch.setattr(execute, "call", call)
    rows = read_rows(results)[:2]
    assert [e.row.id for e in reproduce(rows, jobs=2)] == [row.id for row in rows]
    assert sorted(labels) == sorted(row.id for row in rows)


def test_what_runs_is_ended_and_nothing_more_starts_when_somebody_stops(
    results, report, monkeypatch, fresh_home
):
    running, ended = threading.Event(), threading.Event()
    calls = []

    def call(command, cache, run_dir):
        calls.append(run_dir.name)
        running.set()
        assert ended.wait(timeout=60)
        return report

    monkeypatch.setattr(execute, "call", call)
    monkeypatch.setattr(execute, "_PROCESSES", {Mock(terminate=ended.set)})
    row = read_rows(results)[0]
    runs = execute._Runs(fresh_home, 1)
    for seed in range(3):
        other = row.model_copy(update={"id": f"seed-{seed}"})
        runs.start(Execution(other, ["run", str(seed)]))
    running.wait(timeout=60)
    runs.stop()
    assert calls == ["seed-0"]


@pytest.mark.parametrize("fresh", [False, True])
def test_a_row_that_lacks_a_knowledge_base_is_skipped(results, called, monkeypatch, fresh):
    bases = {"hgnc": None, "mesh": None} if fresh else {"hgnc": None}
    monkeypatch.setattr(execute, "installed", lambda: bases)
    row = read_rows(results)[0].model_copy(update={"expand": ("hgnc",), "knowledge": ("mesh",)})
    (execution,) = reproduce([row], fresh=fresh)
    assert execution.verdict == "skipped"
    lacking = "hgnc" if fresh else "mesh"  # a fresh cache has none
    assert execution.reason.endswith(f"`platform kb add {lacking} FILE` adds it")
    assert called == []
    assert row.command()[-4:-2] == ["--expand", "hgnc"]


def test_a_row_whose_collection_is_not_built_yet_is_skipped(results, called):
    row = read_rows(results)[0].model_copy(update={"collection": "trec-pm-pool-2017"})
    (execution,) = reproduce([row])
    assert execution.verdict == "skipped"
    assert "`platform collections build trec-pm-pool-2017` fetches it" in execution.reason
    assert called == []


def test_a_row_that_names_an_unknown_collection_cannot_run(results, called):
    row = read_rows(results)[0].model_copy(update={"collection": "dmeo"})
    (execution,) = reproduce([row])
    assert execution.verdict == "cannot_run"
    assert "Did you mean 'demo'?" in execution.reason
    assert called == []


def test_two_calls_do_not_share_a_cache(results, called):
    first = reproduce(read_rows(results))
    next(first)
    with pytest.raises(InputError, match="is running"):
        next(reproduce(read_rows(results)))
    first.close()


def _program(monkeypatch, tmp_path, code: str) -> None:
    """Let a script stand in for the Python that runs `-m irplatform`."""
    script = tmp_path / "python"
    script.write_text(f"#!{sys.executable}\nimport os, sys\n{code}\n")
    script.chmod(0o755)
    monkeypatch.setattr(process.sys, "executable", str(script))


def test_a_command_runs_in_a_process_with_its_cache(monkeypatch, tmp_path, capsys):
    _program(
        monkeypatch,
        tmp_path,
        "print('note', file=sys.stderr)\n"
        'print(\'{"runs": [], "home": "%s"}\' % os.environ[\'IRPLATFORM_HOME\'])',
    )
    report = process.call(["run"], Path("/cache"), tmp_path / "runs")
    assert report == {"runs": [], "home": "/cache"}
    assert capsys.readouterr().err == "note\n"


def test_a_command_that_fails_is_told_by_its_last_message(monkeypatch, tmp_path):
    _program(monkeypatch, tmp_path, "sys.exit('platform: no disk')")
    assert process.call(["run"], tmp_path, tmp_path) == {"error": "no disk"}


def test_what_a_command_refuses_is_its_reason(monkeypatch, tmp_path, capsys):
    message = "platform: unknown reranker 'detla'."
    _program(
        monkeypatch,
        tmp_path,
        f"print('note', file=sys.stderr)\nprint({message!r}, file=sys.stderr)\nsys.exit(2)",
    )
    report = process.call(["run"], tmp_path, tmp_path)
    assert report == {"error": "unknown reranker 'detla'.", "refused": True}
    assert capsys.readouterr().err == f"note\n{message}\n"


def test_a_message_of_a_command_that_goes_well_is_not_lost(monkeypatch, tmp_path, capsys):
    _program(monkeypatch, tmp_path, "print('platform: hm', file=sys.stderr)\nprint('{}')")
    assert process.call(["run"], tmp_path, tmp_path) == {}
    assert capsys.readouterr().err == "platform: hm\n"


def test_the_run_is_asked_for_the_measures_that_are_expected(results, called):
    rows = read_rows(results)[:2]
    said = rows[1].model_copy(update={"id": "said", "arguments": ("--measure=AP", "--compare")})
    list(reproduce([*rows, said]))
    arguments = [[*command[command.index("--seed") + 2 : -2]] for command, _ in called]
    assert arguments == [
        ["--measure", "AP"],
        ["--measure", "AP", "--measure", "P@10"],
        ["--measure=AP", "--compare", "--measure", "P@10"],
    ]


def test_the_run_files_of_an_earlier_call_do_not_lie_beside_those_of_this_one(
    results, report, monkeypatch, fresh_home
):
    files = []

    def call(command, cache, run_dir):
        files.append(sorted(path.name for path in run_dir.glob("*")))
        run_dir.mkdir(parents=True, exist_ok=True)
        (run_dir / "bm25.run").touch()
        return report

    monkeypatch.setattr(execute, "call", call)
    row = read_rows(results)[0]
    list(reproduce([row]))
    list(reproduce([row]))
    assert files == [[], []]
    assert (home() / "reproduce" / "runs" / row.id / "bm25.run").exists()


def test_rows_that_cannot_run_end_with_2_and_wrong_figures_with_1(
    results, report, capsys, monkeypatch, fresh_home
):
    refusal = {"error": "unknown reranker 'delta'.", "refused": True}
    monkeypatch.setattr(
        execute, "call", lambda command, *_: refusal if "--reranker" in command else report
    )
    arguments = ("reproduce", "--file", results, "--only", "*-small")
    result = platform(capsys, monkeypatch, *arguments)
    assert result.code == 2
    assert result.err == ""
    assert result.out.splitlines()[-2:] == [
        "ranker-small: CANNOT RUN: unknown reranker 'delta'.",
        "1 passed, 0 failed, 1 cannot run, 0 skipped",
    ]
    result = platform(capsys, monkeypatch, *arguments, "--json")
    assert result.code == 2
    assert result.json["cannot_run"] == 1
    assert [r["verdict"] for r in result.json["results"]] == ["passed", "cannot_run"]
    text = results.read_text(encoding="utf-8").replace('"AP" = 0.5 ', '"AP" = 0.4 ')
    results.write_text(text, encoding="utf-8")
    assert platform(capsys, monkeypatch, *arguments).code == 1


def test_a_run_that_breaks_down_fails(results, capsys, monkeypatch, fresh_home):
    monkeypatch.setattr(execute, "call", lambda *_: {"error": "no disk"})
    result = platform(capsys, monkeypatch, "reproduce", "--file", results, "--only", "small")
    assert result.code == 1
    assert "ranker-small: FAILED: no disk\n" in result.out


def test_the_spread_over_seeds_is_shown_beside_what_is_expected(
    results, called, capsys, monkeypatch
):
    text = results.read_text(encoding="utf-8").replace("value = 0.6", "value = 0.6, std = 0.25")
    results.write_text(text, encoding="utf-8")
    arguments = ("reproduce", "--file", results, "--only", "small")
    result = platform(capsys, monkeypatch, *arguments)
    header, _, _, line, *_ = result.out.splitlines()
    assert line == "  AP        0.6000 ± 0.02 (std 0.2500)  0.5900    ok"
    assert header.index("obtained") == line.index("0.5900")
    result = platform(capsys, monkeypatch, *arguments, "--json")
    assert [figure["std"] for figure in result.json["results"][0]["figures"]] == [0.25, None, None]


def test_the_command_prints_verdicts_and_fails(results, called, capsys, monkeypatch):
    monkeypatch.delenv("IRPLATFORM_TEST_DATA", raising=False)
    text = results.read_text(encoding="utf-8").replace("value = 0.6 ", "value = 0.7 ")
    results.write_text(text, encoding="utf-8")
    result = platform(capsys, monkeypatch, "reproduce", "--file", results)
    assert result.code == 1
    assert result.out == (
        "  figure    expected         obtained  verdict\n"
        "----------------------------------------------\n"
        "bm25-small: passed, 0 s\n"
        "  AP        0.5000 ± 0.0001  0.5000    ok\n"
        "ranker-small: failed, 0 s\n"
        "  AP        0.7000 ± 0.02    0.5900    FAILED: 0.1100 too low, 0.02 is allowed\n"
        "  P@10      0.3000 ± 0.1     0.4000    ok\n"
        "  AP alone  0.5500 ± 0.02    0.5600    ok\n"
        "elsewhere: skipped: IRPLATFORM_TEST_DATA is not set\n"
        "1 passed, 1 failed, 1 skipped\n"
    )
    result = platform(
        capsys, monkeypatch, "reproduce", "--file", results, "--only", "bm25-*", "--json"
    )
    assert result.code == 0
    assert (result.json["passed"], result.json["failed"], result.json["skipped"]) == (1, 0, 0)
    assert result.json["results"][0]["figures"] == [
        {
            "measure": "AP",
            "alone": False,
            "expected": 0.5,
            "tolerance": 0.0001,
            "std": None,
            "gain": None,
            "obtained": 0.50004,
            "obtained_gain": None,
            "verdict": "passed",
        }
    ]


def test_the_list_runs_nothing(results, called, capsys, monkeypatch):
    result = platform(capsys, monkeypatch, "reproduce", "--file", results, "--list")
    assert result.code == 0
    assert "platform run --collection demo --first-stage bm25 --seed 42 --measure AP" in result.out
    result = platform(capsys, monkeypatch, "reproduce", "--file", results, "--list", "--json")
    assert result.json["results"][0]["id"] == "bm25-small"
    assert called == []


def test_a_shell_understands_the_commands_of_the_list(results, capsys, monkeypatch, tmp_path):
    text = results.read_text(encoding="utf-8").replace(
        'collection = "${IRPLATFORM_TEST_DATA}/nowhere:dev"',
        'collection = "${IRPLATFORM_TEST_DATA}/a b"\narguments = ["--qrels", "${HERE}/q"]',
    )
    monkeypatch.delenv("IRPLATFORM_TEST_DATA", raising=False)
    results.write_text(text, encoding="utf-8")
    result = platform(capsys, monkeypatch, "reproduce", "--file", results, "--list")
    command = result.out.splitlines()[2].partition("platform ")[2]
    understood = subprocess.run(
        ["sh", "-c", f"printf '%s\\n' {command}"],
        env={"IRPLATFORM_TEST_DATA": "/my data"},
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    assert understood[2] == "/my data/a b"
    assert understood[-3] == f"{tmp_path}/q"


@pytest.mark.slow
@pytest.mark.java
def test_the_quick_rows_pass_on_a_fresh_cache(capsys, monkeypatch, fresh_home):
    result = platform(capsys, monkeypatch, "reproduce", "--quick", "--fresh")
    assert result.code == 0, result.out
    assert "0 failed, 0 skipped" in result.out
