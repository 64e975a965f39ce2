"""What a notebook shows of errors: a line, with the cell of the user's own code."""

import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from irplatform.errors import InputError, PluginError

INTERACTIVE = pytest.importorskip("IPython.core.interactiveshell")


@pytest.fixture(scope="module")
def shell():
    traitlets = pytest.importorskip("traitlets.config")
    config = traitlets.Config()
    config.HistoryManager.enabled = False
    config.InteractiveShell.colors = "nocolor"
    hooks = {name: getattr(sys, name) for name in ("excepthook", "displayhook")}
    shell = INTERACTIVE.InteractiveShell.instance(config=config)
    yield shell
    INTERACTIVE.InteractiveShell.clear_instance()
    for name, value in hooks.items():
        setattr(sys, name, value)


@pytest.fixture
def cell_output(shell, capsys):
    """Runs a cell and returns the lines that it shows."""

    def run(cell):
        capsys.readouterr()
        shell.run_cell(cell, store_history=True)
        return capsys.readouterr().out.splitlines()

    return run


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ('ir.run("demo", rerankers=["detla"])', "unknown reranker 'detla'. Did you mean 'delta'?"),
        ('ir.evaluate("no.run", qrels="no.qrels")', "no.qrels: there is no such file."),
        ('ir.reranker("dlh13", settings={"k9": 1})', ""),
        ('ir.run("demo", members="five")', ""),
        ('ir.run("demo", reranker="delta")', ""),
    ],
)
def test_a_wrong_call_is_told_in_a_line(cell_output, call, line):
    (message,) = cell_output(f"import irplatform as ir\n{call}")
    assert message.startswith(f"InputError: {line}")


@pytest.mark.usefixtures("restored_registry")
def test_an_error_of_the_users_code_names_the_cell_and_its_line(cell_output, shell):
    cell = (
        "import irplatform as ir\n"
        "class Own(ir.Reranker):\n"
        '    """Own."""\n'
        "    def score(self, topic, documents):\n"
        "        return [document.titel for document in documents]\n"
        'ir.reranker(Own).score("melanoma", ["one", "two"])'
    )
    (message,) = cell_output(cell)
    assert message.startswith("PluginError: ") and "failed scoring" in message
    place = rf"(Cell In[{shell.execution_count - 1}], line 5, in <listcomp>)"
    assert message.endswith((place, place.replace("<listcomp>", "score")))


def test_causes_and_notes_of_an_error_are_not_shown(cell_output, shell):
    shell.user_ns["PluginError"] = PluginError
    cell = "try:\n    1 / 0\nexcept Exception as e:\n    raise PluginError('it broke') from e"
    assert cell_output(cell) == ["PluginError: it broke"]


def test_control_characters_of_a_name_are_escaped(cell_output, shell):
    shell.user_ns["InputError"] = InputError
    assert cell_output(r"raise InputError('no \x1b[2J', path='a.txt', line=3)") == [
        r"InputError: a.txt:3: no \x1b[2J"
    ]


def _fail(_number):
    raise InputError("it is damaged.", path="a.run", line=7)


def test_an_error_of_another_process_is_told_in_a_line(cell_output, shell):
    with ProcessPoolExecutor(1, mp_context=get_context("fork")) as pool:
        shell.user_ns["result"] = pool.submit(_fail, 1)
        assert cell_output("result.result()") == ["InputError: a.run:7: it is damaged."]


def test_an_interruption_says_what_is_kept(cell_output, shell):
    from irplatform.system.arithmetic import settings_kept

    @settings_kept()
    def work():
        stop = KeyboardInterrupt()
        stop.add_note("vectors/x starts over: 19 s of work are lost.")
        raise stop

    shell.user_ns["work"] = work
    assert cell_output("work()") == [
        "KeyboardInterrupt: what was finished is kept, and the same call goes on from there. "
        "vectors/x starts over: 19 s of work are lost."
    ]


@pytest.mark.parametrize("way", ["variable", "xmode"])
def test_a_traceback_comes_where_it_is_asked_for(cell_output, shell, monkeypatch, way):
    shell.user_ns["InputError"] = InputError
    if way == "variable":
        monkeypatch.setenv("IRPLATFORM_TRACEBACK", "1")
    else:
        shell.run_line_magic("xmode", "Verbose")
    try:
        lines = cell_output("raise InputError('wrong')")
    finally:
        shell.run_line_magic("xmode", "Context")
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[-1].endswith("InputError: wrong")
    assert any("raise InputError('wrong')" in line for line in lines)


def test_other_errors_keep_their_traceback(cell_output):
    assert len(cell_output("1 / 0")) > 3


def test_debug_opens_the_place_of_the_error(cell_output, shell, monkeypatch):
    shell.user_ns["InputError"] = InputError
    cell_output("1 / 0")
    cell_output("def f():\n    here = 41\n    raise InputError('wrong')\nf()")
    tracebacks = []
    methods = {
        "reset": lambda _self: None,
        "interaction": lambda _self, _, tb: tracebacks.append(tb),
    }
    monkeypatch.setattr(shell.InteractiveTB, "pdb", type("Debugger", (), methods)())
    cell_output("%debug")
    (error,) = tracebacks
    traceback = getattr(error, "__traceback__", error)
    while traceback.tb_next:
        traceback = traceback.tb_next
    assert traceback.tb_frame.f_locals == {"here": 41}
