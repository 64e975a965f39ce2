"""`python -m benchmarks` runs each program, keeps what it measured, and names those that fail."""

import json
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location

import pytest

GOOD = {"benchmark": "good", "ours": 2, "peer": 1, "unit": "s", "ratio": 0.5, "detail": {}}


@pytest.fixture
def runner(folder, tmp_path, monkeypatch):
    """The runner, in an empty folder of benchmarks."""
    spec = spec_from_file_location("benchmark_runner", folder / "__main__.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    monkeypatch.setattr(module, "FOLDER", tmp_path)
    monkeypatch.setattr(module, "RESULTS", tmp_path / "results")
    return module


def add(runner, name, program):
    (runner.FOLDER / f"{name}.py").write_text(program)


def call(runner, monkeypatch, *names):
    monkeypatch.setattr(sys, "argv", ["benchmarks", *names])
    return runner.main()


def test_the_last_line_is_kept_and_shown(runner, monkeypatch, capsys):
    add(runner, "good", f"print('first'); print('''{json.dumps(GOOD)}''')")
    assert call(runner, monkeypatch) == 0
    result = json.loads((runner.RESULTS / "good.json").read_text())
    assert GOOD.items() <= result.items()
    assert {"measured", "machine", "cores", "python"} <= result.keys()
    assert "0.50" in capsys.readouterr().out


def test_only_the_benchmarks_named_are_run(runner, monkeypatch):
    add(runner, "good", f"print('''{json.dumps(GOOD)}''')")
    add(runner, "other", "raise RuntimeError")
    assert call(runner, monkeypatch, "good") == 0


def test_modules_that_they_share_are_not_benchmarks(runner):
    add(runner, "_common", "")
    add(runner, "good", "")
    assert list(runner.programs()) == ["good"]


@pytest.mark.parametrize(
    ("program", "said"),
    [
        ("raise SystemExit(3)", "exit code 3"),
        ("print('fast')", "not JSON: 'fast'"),
        ("", "not JSON: ''"),
        ("print('{\"ours\": 1}')", "must have the keys benchmark, detail,"),
        ("print('[]')", "must have the keys"),
    ],
)
def test_one_that_fails_is_named_and_the_others_go_on(runner, monkeypatch, capsys, program, said):
    add(runner, "bad", program)
    add(runner, "good", f"print('''{json.dumps(GOOD)}''')")
    assert call(runner, monkeypatch) == 1
    message = capsys.readouterr().err
    assert "bad: " in message
    assert said in message
    assert [path.name for path in runner.RESULTS.iterdir()] == ["good.json"]


def test_one_that_lacks_its_data_is_left_out_and_said_to_be(runner, monkeypatch, capsys):
    add(runner, "far", f"import sys; print('no data here'); sys.exit({runner.LEFT_OUT})")
    add(runner, "good", f"print({json.dumps(GOOD)!r})")
    assert call(runner, monkeypatch) == 0
    assert "left out: far: no data here" in capsys.readouterr().out


def test_one_without_a_peer_has_a_row_and_is_named(runner, monkeypatch, capsys):
    alone = json.dumps({**GOOD, "peer": None, "ratio": None})
    add(runner, "good", f"print({alone!r})")
    assert call(runner, monkeypatch) == 0
    assert "without a peer on this machine: good" in capsys.readouterr().out


def test_every_benchmark_has_a_tiny_form(folder):
    from _tiny import ARGUMENTS

    programs = {path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")}
    assert set(ARGUMENTS) == programs


def test_a_wrong_name_is_answered_with_the_nearest_one(runner, monkeypatch, capsys):
    add(runner, "startup", "")
    assert call(runner, monkeypatch, "strtup") == 2
    assert "Did you mean 'startup'?" in capsys.readouterr().err


def test_every_benchmark_is_described(folder):
    described = (folder / "README.md").read_text(encoding="utf-8")
    programs = [path.stem for path in folder.glob("*.py") if not path.stem.startswith("_")]
    assert programs
    assert [name for name in programs if f"`{name}`" not in described] == []


def test_it_runs_as_a_module_from_the_root(folder):
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks", "--help"],
        cwd=folder.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    assert "NAME" in process.stdout
