"""A plugin that does not work is named, and every other command goes on."""

import json

import pytest

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


def test_a_plugin_that_raises_on_import_is_named_and_commands_go_on(with_plugin):
    result = with_plugin(
        "raise OSError('no licence')",
        *("evaluate", "good.run", "--collection", "small", "--measure", "P@1", "--json"),
    )
    assert result.returncode == 0
    assert '"P@1": 0.5' in result.stdout
    message = result.stderr.splitlines()[0]
    assert message.startswith(
        "plugin 'strange' (strange-distribution 0.3) is not used: OSError: no licence ("
    )
    assert message.endswith("strange_module.py:1, in <module>)")


def test_plugins_list_shows_the_broken_one_with_its_error(with_plugin):
    code = RERANKER.format(scores="[]").replace("(register)", "(registry)", 1)
    result = with_plugin(code, "plugins", "list")
    assert result.returncode == 0
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("strange"))
    assert line.split()[:3] == ["strange", "strange-distribution", "0.3"]
    assert "BROKEN: PluginValidationError: Plugin" in line
    assert "Argument(s) {'registry'} are declared in the hookimpl" in line
    assert "reranker delta" in result.stdout


def test_a_forgotten_mark_is_told_and_listed(with_plugin):
    result = with_plugin(RERANKER.format(scores="[]").replace("@hookimpl", ""), "plugins", "list")
    assert result.returncode == 0
    message = "register_rerankers will not be called without @hookimpl"
    assert result.stderr == f"plugin 'strange' (strange-distribution 0.3): {message}\n"
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("strange"))
    assert line.endswith(message)


@pytest.mark.parametrize("command", ["show", "list"])
def test_one_without_a_docstring_does_not_show_that_of_its_base(with_plugin, command):
    code = RERANKER.format(scores="[]").replace("    '''Strange.'''\n", "")
    result = with_plugin(code, "rerankers", command, *(["strange"] if command == "show" else []))
    assert result.returncode == 0
    assert "Subclass it" not in result.stdout
    assert any(
        line.split()[:1] in (["strange"], ["strange:"]) for line in result.stdout.split("\n")
    )


def test_a_broken_reranker_that_is_asked_for_is_explained(with_plugin):
    result = with_plugin(
        "import not_there", "run", "--collection", "small", "--reranker", "strange"
    )
    assert result.returncode == 2
    last = result.stderr.splitlines()[-1]
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
    result = with_plugin(
        RERANKER.format(scores=scores), "run", "--collection", "small", "--reranker", "strange"
    )
    assert result.returncode == 1
    assert result.stdout == ""
    assert result.stderr.splitlines()[-1].startswith(
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
    result = with_plugin(
        FAILING.format(prepare=prepare),
        *("run", "--collection", "small", "--reranker", "strange", "--run-dir", "out"),
    )
    assert result.returncode == 1
    assert "Traceback" not in result.stderr
    last = result.stderr.splitlines()[-1]
    system = "reranker 'strange' of plugin 'strange' (strange-distribution 0.3)"
    assert last.startswith(f"platform: {system} failed {doing}: {error}")
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
    option = {"reranker": "--reranker", "retriever": "--first-stage"}[kind]
    result = with_plugin(code, "run", "--collection", "small", option, "strange")
    assert result.returncode == 1
    (error_line,) = result.stderr.splitlines()
    system = f"{kind} 'strange' of plugin 'strange' (strange-distribution 0.3)"
    assert error_line.startswith(
        f"platform: {system} failed returning what it reads: FileNotFoundError: "
    )
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
    ("rankings", "message"),
    [
        ("{}[7]", " failed searching: KeyError: 7 ("),
        ("{}", " returned no ranking for topic q1; an empty one is fine."),
        (
            "{t.id: Ranking(('d1', 'd1'), [2.0, 1.0]) for t in topics}",
            " failed searching: ValueError: document 'd1' comes twice (",
        ),
        (
            "{t.id: Ranking(('d1',), [float('nan')]) for t in topics}",
            " failed searching: ValueError: the score of document 'd1' is nan (",
        ),
        ("topics.clear() or {}", " returned no ranking for topic q1; an empty one is fine."),
    ],
)
def test_what_goes_wrong_in_a_search_is_told_like_in_a_run(with_plugin, rankings, message):
    result = with_plugin(
        RETRIEVER.replace("{found}", rankings),
        *("search", "--collection", "small", "--topic", "q1", "--retriever", "strange"),
    )
    assert result.returncode == 1
    (error_line,) = (line for line in result.stderr.splitlines() if line.startswith("platform: "))
    system = "retriever 'strange' of plugin 'strange' (strange-distribution 0.3)"
    assert error_line.startswith(f"platform: {system}{message}")
    assert "Traceback" not in result.stderr


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
    result = with_plugin(code, *arguments, "--explain")
    assert result.returncode == 0, result.stderr
    assert [line.split() for line in result.stdout.splitlines()[1:6]] == [
        ["rounds", "2"],
        [],
        ["terms"],
        ["term", "weight"],
        ["crizotinib", "0.5000"],
    ]


@pytest.mark.java
def test_a_reranker_that_is_named_and_cannot_be_timed_is_a_failure(with_plugin):
    arguments = ("bench", "rerankers", "--collection", "small", "--documents", "1", "--json")
    result = with_plugin(
        RERANKER.replace("{scores}", "1 / 0"),
        *arguments,
        "--reranker",
        "strange",
        "--device",
        "cpu",
    )
    (timing,) = json.loads(result.stdout)["timings"]
    assert "ZeroDivisionError" in timing["problem"]
    assert result.returncode == 1


@pytest.mark.java
def test_an_author_sees_the_whole_traceback(with_plugin, monkeypatch):
    monkeypatch.setenv("IRPLATFORM_TRACEBACK", "1")
    result = with_plugin(
        FAILING.format(prepare="pass"), "run", "--collection", "small", "--reranker", "strange"
    )
    assert result.returncode == 1
    assert "Traceback (most recent call last)" in result.stderr
    assert "in score\n    return [self.look(document)" in result.stderr
    assert result.stderr.splitlines()[-1].startswith("platform: reranker 'strange' of plugin")


BY_PLACE = """
from irplatform.plugin import hookimpl

@hookimpl
def register_rerankers(register):
    register("strange", "not_there_at_all.ranker:Strange")
"""


def test_a_class_that_cannot_be_imported_does_not_break_other_commands(with_plugin):
    result = with_plugin(BY_PLACE, "rerankers", "list")
    assert (result.returncode, result.stderr) == (0, "")
    (line,) = (line for line in result.stdout.splitlines() if line.startswith("strange"))
    assert "[cannot be used: reranker 'strange' of plugin 'strange'" in line
    assert "failed importing 'not_there_at_all.ranker:Strange': ModuleNotFoundError" in line
    assert "delta" in result.stdout
    described = json.loads(with_plugin(BY_PLACE, "rerankers", "list", "--json").stdout)
    (reranker,) = (entry for entry in described["rerankers"] if entry["name"] == "strange")
    assert "not_there_at_all" in reranker["error"]


def test_a_check_tells_of_a_class_that_is_not_at_its_place(with_plugin):
    result = with_plugin(BY_PLACE, "plugins", "check", "strange")
    assert result.returncode == 1
    assert "reranker strange: reranker 'strange' of plugin 'strange'" in result.stdout
    assert "failed importing 'not_there_at_all.ranker:Strange'" in result.stdout
