"""The start-up benchmark counts the modules of a fresh process and names the heavy ones."""

import pytest


def test_a_process_tells_which_heavy_modules_it_has_loaded():
    from startup import run

    count, *heavy = run("import ir_datasets")
    assert int(count) > 50
    assert "ir_datasets" in heavy
    assert "torch" not in heavy


@pytest.mark.parametrize("side", ["platform --help", "platform plugins list"])
def test_the_commands_load_no_heavy_module(side):
    from startup import SIDES, run

    _, *heavy = run(SIDES[side])
    assert heavy == []


def test_a_program_that_fails_ends_the_benchmark():
    from startup import run

    with pytest.raises(SystemExit, match="ZeroDivisionError"):
        run("1 / 0")
