"""A stranger's plugin that does not work is named, and every other command goes on."""

import json

import pytest
from strangers import platform_with

RERANKER = """
from irplatform.plugin import Reranker, hookimpl

class Strange(Reranker):
    '''Strange.'''
    def score(self, topic, documents):
        return {scores}

@hookimpl
def register_rerankers(register):
    register("strange", Strange)
"""


@pytest.fixture
def with_plugin(folder, tmp_path):
    """Call `platform` in a process of its own where a plugin with this code is installed."""

    def call(code, *arguments):
        return platform_with(code, tmp_path, *arguments, cwd=folder)

    return call


@pytest.fixture
def demo_index(folder, cache_of_module, monkeypatch):
    """The file's cache, in which `demo` is indexed once; the folder has one of its own."""
    monkeypatch.setenv("IRPLATFORM_HOME", str(cache_of_module))


def test_a_plugin_that_raises_on_import_is_named_and_commands_go_on(with_plugin):
    done = with_plugin(
        "raise OSError('no licence')",
        *("evaluate", "good.run", "--collection", "small", "--measure", "P@1", "--json"),
    )
    assert done.returncode == 0
    assert '"P@1": 0.5' in done.stdout
    told = done.stderr.splitlines()[0]
    assert told.startswith(
        "plugin 'strange' (strange-distribution 0.3) is not used: OSError: no licence ("
    )
    assert told.endswith("strange_module.py:1, in <module>)")


def test_plugins_list_shows_the_broken_one_with_its_error(with_plugin):
    code = RERANKER.format(scores="[]").replace("(register)", "(registry)", 1)
    done = with_plugin(code, "plugins", "list")
    assert done.returncode == 0
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("strange"))
    assert line.split()[:3] == ["strange", "strange-distribution", "0.3"]
    assert "BROKEN: PluginValidationError: Plugin" in line
    assert "Argument(s) {'registry'} are declared in the hookimpl" in line
    assert "reranker delta" in done.stdout


def test_a_forgotten_mark_is_told_and_listed(with_plugin):
    done = with_plugin(RERANKER.format(scores="[]").replace("@hookimpl", ""), "plugins", "list")
    assert done.returncode == 0
    told = "register_rerankers will not be called without @hookimpl"
    assert done.stderr == f"plugin 'strange' (strange-distribution 0.3): {told}\n"
    (line,) = (line for line in done.stdout.splitlines() if line.startswith("strange"))
    assert line.endswith(told)


@pytest.mark.parametrize("command", ["show", "list"])
def test_one_without_a_docstring_does_not_show_that_of_its_base(with_plugin, command):
    code = RERANKER.format(scores="[]").replace("    '''Strange.'''\n", "")
    done = with_plugin(code, "rerankers", command, *(["strange"] if command == "show" else []))
    assert done.returncode == 0
    assert "Subclass it" not in done.stdout
    assert any(line.split()[:1] in (["strange"], ["strange:"]) for line in done.stdout.split("\n"))


def test_a_broken_reranker_that_is_asked_for_is_explained(with_plugin):
    done = with_plugin("import not_there", "run", "--collection", "small", "--reranker", "strange")
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith("platform: unknown reranker 'strange'.")
    assert "plugin 'strange' (strange-distribution 0.3) could not be loaded" in last


@pytest.mark.java
@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ("[1.0]", "returned 1 score for the 2 documents of topic q1"),
        ("[float('nan') for _ in documents]", "gave document d2 of topic q1 the score nan"),
    ],
)
def test_scores_that_are_none_name_the_plugin(with_plugin, folder, scores, message):
    (folder / "small/queries.jsonl").write_text('{"_id": "q1", "text": "cancer case"}\n')
    (folder / "small/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq1\td1\t1\n")
    done = with_plugin(
        RERANKER.format(scores=scores), "run", "--collection", "small", "--reranker", "strange"
    )
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].startswith(
        "platform: reranker 'strange' of plugin 'strange' (strange-distribution 0.3) " + message
    )
    assert [path.name for path in (folder / "runs").rglob("*.run")] == ["bm25.run"]


FAILING = """
from irplatform.plugin import Reranker, hookimpl

class Strange(Reranker):
    '''Strange.'''
    def prepare(self, resources):
        {prepare}

    def score(self, topic, documents):
        return [self.look(document) for document in documents]

    def look(self, document):
        return {{}}[document.id]

@hookimpl
def register_rerankers(register):
    register("strange", Strange)
"""


@pytest.mark.java
@pytest.mark.parametrize(
    ("prepare", "doing", "error", "place"),
    [
        ("pass", "scoring topics q1, q2", "KeyError: 'd1'", "strange_module.py:13, in look"),
        ("int('x')", "preparing", "ValueError: invalid", "strange_module.py:7, in prepare"),
    ],
)
def test_what_goes_wrong_inside_is_placed_and_finished_runs_stay(
    with_plugin, folder, prepare, doing, error, place
):
    done = with_plugin(
        FAILING.format(prepare=prepare),
        *("run", "--collection", "small", "--reranker", "strange", "--run-dir", "out"),
    )
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    last = done.stderr.splitlines()[-1]
    who = "reranker 'strange' of plugin 'strange' (strange-distribution 0.3)"
    assert last.startswith(f"platform: {who} failed {doing}: {error}")
    assert f"{place})" in last
    assert (folder / "out" / "bm25.run").exists()
    assert (folder / "out" / "bm25.run.meta.json").exists()


@pytest.mark.parametrize("kind", ["reranker", "retriever"])
def test_what_it_depends_on_is_asked_before_any_work(with_plugin, folder, kind):
    base = kind.capitalize()
    code = f"""
from irplatform.plugin import {base}, hookimpl

class Strange({base}):
    def reads(self):
        return {{"file": open("not-there").read()}}
    score = retrieve = lambda self, *arguments: []

@hookimpl
def register_{kind}s(register):
    register("strange", Strange)
"""
    done = with_plugin(code, "run", "--collection", "small", f"--{kind}", "strange")
    assert done.returncode == 1
    (told,) = done.stderr.splitlines()
    who = f"{kind} 'strange' of plugin 'strange' (strange-distribution 0.3)"
    assert told.startswith(f"platform: {who} failed returning what it reads: FileNotFoundError: ")
    assert not (folder / "runs").exists()


RETRIEVER = """
from irplatform.plugin import Retriever, hookimpl
from irplatform.runs import Ranking, Run

class Strange(Retriever):
    def retrieve(self, topics, depth, resources):
        return Run("strange", {found})

@hookimpl
def register_retrievers(register):
    register("strange", Strange)
"""


@pytest.mark.java
@pytest.mark.parametrize(
    ("found", "message"),
    [
        ("{}[7]", " failed searching: KeyError: 7 ("),
        ("{}", " returned no ranking for topic q1; an empty one is fine."),
        (
            "{t.id: Ranking(('d1', 'd1'), [2.0, 1.0]) for t in topics}",
            " returned no ranking for topic q1: document 'd1' comes twice.",
        ),
        (
            "{t.id: Ranking(('d1',), [float('nan')]) for t in topics}",
            " returned no ranking for topic q1: the score of document 'd1' is nan.",
        ),
        ("topics.clear() or {}", " returned no ranking for topic q1; an empty one is fine."),
    ],
)
def test_what_goes_wrong_in_a_search_is_told_like_in_a_run(with_plugin, found, message):
    done = with_plugin(
        RETRIEVER.replace("{found}", found),
        *("search", "--collection", "small", "--topic", "q1", "--retriever", "strange"),
    )
    assert done.returncode == 1
    (told,) = (line for line in done.stderr.splitlines() if line.startswith("platform: "))
    who = "retriever 'strange' of plugin 'strange' (strange-distribution 0.3)"
    assert told.startswith(f"platform: {who}{message}")
    assert "Traceback" not in done.stderr


@pytest.mark.java
def test_a_retriever_explains_in_its_own_way(with_plugin):
    code = RETRIEVER.replace(
        "{found}", "{t.id: Ranking.of(['d1'], [1.0]) for t in topics}"
    ).replace(
        "    def retrieve",
        "    def explain(self, topic, resources):\n"
        "        return {'terms': [{'term': 'crizotinib', 'weight': 0.5}], 'rounds': 2}\n\n"
        "    def retrieve",
    )
    arguments = ("search", "--collection", "small", "--topic", "q1", "--retriever", "strange")
    done = with_plugin(code, *arguments, "--explain")
    assert done.returncode == 0, done.stderr
    assert [line.split() for line in done.stdout.splitlines()[1:6]] == [
        ["rounds", "2"],
        [],
        ["terms"],
        ["term", "weight"],
        ["crizotinib", "0.5000"],
    ]


@pytest.mark.java
def test_a_reranker_that_is_named_and_cannot_be_timed_is_a_failure(with_plugin):
    arguments = ("bench", "rerankers", "--collection", "small", "--documents", "1", "--json")
    done = with_plugin(
        RERANKER.replace("{scores}", "1 / 0"),
        *arguments,
        "--reranker",
        "strange",
        "--device",
        "cpu",
    )
    (timing,) = json.loads(done.stdout)["timings"]
    assert "ZeroDivisionError" in timing["problem"]
    assert done.returncode == 1


@pytest.mark.java
def test_an_author_sees_the_whole_traceback(with_plugin, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_TRACEBACK", "1")
    done = with_plugin(
        FAILING.format(prepare="pass"), "run", "--collection", "small", "--reranker", "strange"
    )
    assert done.returncode == 1
    assert "Traceback (most recent call last)" in done.stderr
    assert "in score\n    return [self.look(document)" in done.stderr
    assert done.stderr.splitlines()[-1].startswith("platform: reranker 'strange' of plugin")


LOUD = """
import os, subprocess, sys
from irplatform.plugin import Reranker, hookimpl

print("imported")
os.write(1, b"descriptor\\n")

class Strange(Reranker):
    '''Strange.'''
    def prepare(self, resources):
        print("prepared")

    def score(self, topic, documents):
        print("scored")
        sys.__stdout__.write("process\\n")
        subprocess.run(["echo", "program"])
        return [1.0] * len(documents)

@hookimpl
def register_rerankers(register):
    print("registered")
    register("strange", Strange)

@hookimpl
def run_started(event):
    print("started")
"""


@pytest.mark.java
def test_what_a_plugin_prints_does_not_break_json(with_plugin):
    done = with_plugin(LOUD, "run", "--collection", "small", "--reranker", "strange", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["collection"] == "small-test"
    told = done.stderr.splitlines()
    assert {"imported", "registered", "started", "prepared", "scored"} <= set(told)
    assert {"descriptor", "process", "program"} <= set(told)


LATE = """
import threading

def tell():
    threading.main_thread().join()
    print("late")

class Late(Strange):
    def score(self, topic, documents):
        threading.Thread(target=tell).start()
        return super().score(topic, documents)

Strange = Late
"""


@pytest.mark.java
def test_nor_does_it_stand_among_the_findings_of_a_check(with_plugin, demo_index):
    """Nor below them, where a thread goes on at the end."""
    done = with_plugin(LOUD + LATE, "plugins", "check", "strange", "--device", "cpu")
    assert (done.returncode, done.stdout) == (0, "reranker strange: keeps the contract\n")
    assert {"scored", "descriptor", "program", "late"} <= set(done.stderr.split())


WRAPPING = """
import io, sys
from irplatform.plugin import Reranker, hookimpl

sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")

class Strange(Reranker):
    def score(self, topic, documents):
        sys.stdout = io.TextIOWrapper(sys.stdout.buffer, encoding="utf-8")
        return [1.0] * len(documents)

@hookimpl
def register_rerankers(register):
    register("strange", Strange)
"""


@pytest.mark.java
def test_a_plugin_that_wraps_stdout_takes_it_from_nobody(with_plugin):
    done = with_plugin(WRAPPING, "run", "--collection", "small", "--reranker", "strange", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["collection"] == "small-test"
    assert "lost sys.stderr" not in done.stderr


def test_a_plugin_that_wraps_stdout_at_import_leaves_errors_readable(with_plugin):
    done = with_plugin(WRAPPING, "run", "--collection", "smal")
    assert done.returncode == 2
    assert done.stderr.startswith("platform: unknown collection 'smal'")


def test_nor_does_what_is_printed_between_calls_while_a_plugin_is_checked(platform, monkeypatch):
    monkeypatch.setattr(
        "irplatform.conformance.check.check_plugin", lambda *_: print("between") or []
    )
    told = platform("plugins", "check", "demo")
    assert (told.code, told.out, told.err) == (0, "", "between\n")


FORKING = """
import multiprocessing
import os
import signal

from irplatform.plugin import hookimpl

@hookimpl
def register_commands(cli):
    @cli.command("forked")
    def forked():
        with multiprocessing.get_context("fork").Pool(1) as pool:
            print(pool.map(len, ["length"]))
        child = os.fork()
        if child == 0:
            os.kill(os.getpid(), signal.SIGTERM)
            print("went on")
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_sigterm_ends_forked_workers_of_a_plugin_as_ever(with_plugin):
    done = with_plugin(FORKING, "forked")
    assert (done.returncode, done.stdout, done.stderr) == (0, "[6]\n-15\n", "")


@pytest.mark.parametrize("returned", ["5", "True", "'text'"])
def test_what_a_plugins_command_returns_is_no_exit_code(with_plugin, returned):
    code = """
import click
from irplatform.plugin import hookimpl

@hookimpl
def register_commands(cli):
    @cli.command("greet")
    def greet():
        print("hello")
        return RETURNED

    @cli.command("leave")
    @click.pass_context
    def leave(context):
        context.exit(7)
""".replace("RETURNED", returned)
    done = with_plugin(code, "greet")
    assert (done.returncode, done.stdout) == (0, "hello\n")
    assert with_plugin(code, "leave").returncode == 7


def test_defaults_of_any_kind_that_json_has_are_listed(with_plugin):
    code = """
from enum import Enum
from pathlib import Path
from irplatform.plugin import Field, Options, Reranker, hookimpl

class Mode(Enum):
    FAST = "fast"

class Kinds(Options):
    file: Path = Field(Path("words.txt"), description="a file")
    files: tuple[Path, ...] = Field((Path("a"),), description="files")
    mode: Mode = Field(Mode.FAST, description="how")

class Kind(Reranker):
    Options = Kinds

    def score(self, topic, documents):
        return [0.0 for _ in documents]

@hookimpl
def register_rerankers(register):
    register("kind", Kind)
"""
    done = with_plugin(code, "rerankers", "show", "kind", "--json")
    assert done.returncode == 0, done.stderr
    options = {o["name"]: o["default"] for o in json.loads(done.stdout)["options"]}
    assert options == {"file": "words.txt", "files": ["a"], "mode": "fast"}
    assert with_plugin(code, "rerankers", "show", "kind").returncode == 0
    assert with_plugin(code, "rerankers", "list", "--json").returncode == 0


@pytest.mark.java
def test_what_a_plugin_does_with_results_that_it_is_told_changes_no_report(with_plugin):
    code = """
from irplatform.plugin import hookimpl

@hookimpl
def run_finished(event):
    event.results["bm25"]["P@1"] = 9.0
"""
    done = with_plugin(code, "run", "--collection", "small", "--measure", "P@1", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["runs"][0]["measures"]["P@1"] <= 1


LISTENING = """
from irplatform.plugin import TrainableReranker, hookimpl

class Strange(TrainableReranker):
    def fit(self, data):
        pass
    def save(self, folder):
        (folder / "nothing").touch()
    def load(self, folder):
        pass
    def score(self, topic, documents):
        return [1.0] * len(documents)

@hookimpl
def register_rerankers(register):
    register("strange", Strange)

@hookimpl
def run_started(event):
    print("started", *event.systems, *event.results, *event.runs)

@hookimpl
def run_finished(event):
    print("finished", *event.systems)
    print("results", *event.results)
    print("made", *sorted(name for name in event.runs if (event.run_dir / f"{name}.run").exists()))
    print("files", *sorted(path.stem for path in event.run_dir.glob("*.run")))
"""


@pytest.mark.java
def test_hooks_are_told_what_was_asked_for_and_which_runs_were_made(with_plugin, demo_index):
    done = with_plugin(
        LISTENING,
        *("run", "--collection", "demo", "--retriever", "bm25", "--retriever", "qld"),
        *("--reranker", "strange", "--seeds", "2", "--members", "1", "--fusion", "plain"),
    )
    assert done.returncode == 0, done.stderr
    told = {line.split()[0]: line.split()[1:] for line in done.stderr.splitlines() if line}
    assert told["started"] == told["finished"] == ["bm25", "qld", "strange"]
    assert told["results"] == ["bm25", "qld", "fused", "strange"]
    reranked = [f"strange-seed{seed}{kind}" for seed in (42, 1042) for kind in ("", "-alone")]
    assert told["made"] == told["files"] == sorted(["bm25", "qld", "fused", *reranked])


BY_PLACE = """
from irplatform.plugin import hookimpl

@hookimpl
def register_rerankers(register):
    register("strange", "not_there_at_all.ranker:Strange")
"""


def test_a_class_that_cannot_be_imported_does_not_hinder_other_commands(with_plugin):
    listed = with_plugin(BY_PLACE, "rerankers", "list")
    assert (listed.returncode, listed.stderr) == (0, "")
    (line,) = (line for line in listed.stdout.splitlines() if line.startswith("strange"))
    assert "[cannot be used: reranker 'strange' of plugin 'strange'" in line
    assert "failed importing 'not_there_at_all.ranker:Strange': ModuleNotFoundError" in line
    assert "delta" in listed.stdout
    described = json.loads(with_plugin(BY_PLACE, "rerankers", "list", "--json").stdout)
    (told,) = (each for each in described["rerankers"] if each["name"] == "strange")
    assert "not_there_at_all" in told["error"]


def test_a_check_tells_of_a_class_that_is_not_at_its_place(with_plugin):
    done = with_plugin(BY_PLACE, "plugins", "check", "strange")
    assert done.returncode == 1
    assert "reranker strange: reranker 'strange' of plugin 'strange'" in done.stdout
    assert "failed importing 'not_there_at_all.ranker:Strange'" in done.stdout
