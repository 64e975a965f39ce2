"""Plugins are found, guarded one by one, and named when broken."""

import os
from importlib import metadata
from types import SimpleNamespace

import pytest
from strangers import FILED, GOOD

from irplatform.errors import InputError
from irplatform.registry.loading import load, registry
from irplatform.registry.loading import registry as registry_registry

BROKEN = {
    "raises": ("raise OSError('no licence file')", "OSError: no licence file"),
    "exits": ("import sys; sys.exit(3)", "SystemExit: 3"),
    "does not parse": ("def", "SyntaxError: invalid syntax"),
    "lacks a module": ("import not_there_at_all", "ModuleNotFoundError: No module named"),
    "imports a module that is not there": (
        "from irplatform.storage import fingerprint",
        "(a plugin imports irplatform.plugin and irplatform.kit)",
    ),
    "has a wrong hook signature": (
        GOOD.replace("register_rerankers(register)", "register_rerankers(registry)"),
        "'registry'",
    ),
    "misspells a hook": (GOOD.replace("register_rerankers", "register_reranker"), "unknown hook"),
    "registers no class": (GOOD.replace("Length)", "Length())"), "not a subclass of Reranker"),
    "registers another class": (GOOD.replace("Length)", "int)"), "not a subclass of Reranker"),
    "does not score": (
        GOOD.replace("def score(", "def scores("),
        "reranker 'length': Length does not define score() or score_batch()",
    ),
    "does not learn": (
        GOOD.replace("Reranker", "TrainableReranker"),
        "reranker 'length': Length does not define fit()",
    ),
    "scores without documents": (
        GOOD.replace("(self, topic, documents)", "(self, topic)"),
        "reranker 'length': score() of Length must take (topic, documents)",
    ),
    "prepares with nothing": (
        GOOD.replace("    def score", "    def prepare(self): ...\n\n    def score"),
        "reranker 'length': prepare() of Length must take (resources)",
    ),
    "expands what it has": (
        GOOD.replace("    def score", "    def explain(self, topic): ...\n\n    def score"),
        "reranker 'length': explain() of Length must take (topic, documents)",
    ),
    "uses a bad name": (GOOD.replace('"length"', '"Length!"'), "'Length!' cannot name a reranker"),
    "takes the name of the fused run": (
        GOOD.replace('"length"', '"fused"'),
        "'fused' cannot name a reranker",
    ),
    "takes the name of another reranker's run": (
        GOOD.replace('"length"', '"delta-seed42"'),
        "'delta-seed42' cannot name a reranker",
    ),
    "registers twice": (
        GOOD + '    register("length", Length)\n',
        "reranker 'length' is registered twice",
    ),
    "gives an option that is none": (GOOD.replace("Length)", "Length, size=3)"), "'size'"),
    "has an option without a default": (
        GOOD.replace("import Reranker", "import Options, Reranker").replace(
            "    def score", "    class Options(Options):\n        size: int\n\n    def score"
        ),
        "option 'size' of reranker 'length' needs a default",
    ),
    "has an option that is not finite": (
        GOOD.replace("import Reranker", "import Options, Reranker").replace(
            "    def score",
            "    class Options(Options):\n        size: float = float('inf')\n\n    def score",
        ),
        "option 'size' of reranker 'length' cannot be inf",
    ),
    "has options without an order": (
        FILED
        + "class Words(Options):\n    inner: dict[str, frozenset[str]] = {}\n"
        + "class Own(Options):\n    words: Words = Words()\n"
        + GOOD.replace("    def score", "    Options = Own\n\n    def score"),
        "option 'inner' of reranker 'length' is a set",
    ),
    "registers by keyword": (
        GOOD.replace('"length", Length', 'name="length", reranker=Length'),
        "register() missing 2 required positional arguments: 'name' and 'system'",
    ),
    "registers a collection without a title": (
        GOOD + "\n@hookimpl\ndef register_collections(register):\n    register('few', len)\n",
        "() missing 1 required keyword-only argument: 'title'",
    ),
    "raises what is no Exception": (
        "import pytest\npytest.importorskip('not_there_at_all')\n",
        "Skipped: could not import 'not_there_at_all'",
    ),
    "fails while registering": (GOOD + "    1 / 0\n", "ZeroDivisionError: division by zero"),
}


def test_a_plugin_is_known_with_its_distribution_and_what_it_provides(install):
    plugins = load(install("good", GOOD))
    (plugin,) = plugins.plugins
    assert str(plugin) == "plugin 'good' (irplatform-good 1.5)"
    assert plugin.provides == ("reranker length",)
    assert plugins.broken == []
    assert str(plugins.reranker("length").plugin) == str(plugin)


@pytest.mark.parametrize(("code", "reason"), BROKEN.values(), ids=BROKEN)
def test_a_broken_plugin_is_named_and_the_others_go_on(install, code, reason):
    plugins = load((*install("broken", code), *install("good", GOOD)))
    (broken,) = plugins.broken
    assert (broken.name, broken.distribution, broken.version) == (
        "broken",
        "irplatform-broken",
        "1.5",
    )
    assert reason in broken.error
    assert "\n" not in broken.error
    assert list(plugins.rerankers) == ["length"]
    assert plugins.rerankers["length"].plugin.name == "good"


@pytest.mark.parametrize(
    "method",
    [
        "def score(self, *arguments):",
        "def score(self, topic, documents, batch_size=8):",
        "@staticmethod\n    def score(topic, documents):",
        "@classmethod\n    def score(cls, topic, documents):",
        "score = min  # which does not say what it takes\n    def scores(self, documents):",
    ],
)
def test_a_method_may_take_more_and_need_no_instance(install, method):
    code = GOOD.replace("def score(self, topic, documents):", method)
    assert not load(install("good", code)).broken


@pytest.mark.parametrize(
    ("code", "place"),
    [
        ("import sys\nsize = len(undefined)", ":2, in <module>)"),
        ("\nimport not_there_at_all", ":2, in <module>)"),
        (GOOD + "    look()\n\ndef look():\n    1 / 0\n", ":15, in look)"),
        ("\nimport", ".py:2)"),
    ],
    ids=["imported", "imports", "called", "parsed"],
)
def test_a_broken_plugin_is_told_with_the_place(install, code, place):
    (broken,) = load(install("broken", code)).broken
    assert place in broken.error
    assert "importlib" not in broken.error


def test_whole_tracebacks_are_shown_to_who_asks(install, capsys, monkeypatch):
    points = install("broken", GOOD + "    1 / 0\n")
    load(points)
    assert capsys.readouterr().err == ""
    monkeypatch.setenv("IRPLATFORM_TRACEBACK", "1")
    load(points)
    assert "Traceback (most recent call last)" in capsys.readouterr().err


def test_a_hook_that_nobody_marked_is_noticed(install):
    plugins = load((*install("forgetful", GOOD.replace("@hookimpl\n", "")), *install("good", GOOD)))
    forgetful, good = plugins.plugins
    assert (forgetful.unmarked, forgetful.error) == (("register_rerankers",), "")
    assert good.unmarked == ()
    assert plugins.broken == []
    with pytest.raises(InputError, match=r"'forgetful'.*register_rerankers will not be"):
        plugins.reranker("longest-first")


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (
            "def register_reranker(register)",
            "unknown hook 'register_reranker'. Did you mean 'register_rerankers'?",
        )
    ],
)
def test_a_misspelt_hook_or_argument_is_told_with_the_right_name(install, function, message):
    code = GOOD.replace("def register_rerankers(register)", function)
    (broken,) = load(install("misspelt", code)).broken
    assert broken.error == f"PluginError: {message}"


@pytest.mark.parametrize(
    "function",
    [
        "def register_rerankers(register, loud=False)",
        "def register_rerankers(register, **named)",
        "def my_own(register)",
    ],
)
def test_a_hook_may_have_defaults_and_be_named_in_its_mark(install, function):
    marked = "@hookimpl(specname='register_rerankers')\n" + function
    code = GOOD.replace("@hookimpl\ndef register_rerankers(register)", marked)
    assert list(load(install("good", code)).rerankers) == ["length"]


def test_nothing_of_a_plugin_that_breaks_halfway_is_used(install):
    halfway = GOOD + "\n@hookimpl\ndef register_measures(register):\n    raise ValueError('no')\n"
    plugins = load(install("halfway", halfway))
    assert plugins.rerankers == {}
    assert plugins.manager.get_plugins() == set()


def test_what_an_interrupted_uninstallation_leaves_is_a_broken_plugin(tmp_path):
    info = tmp_path / "gone-1.0.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text("[irplatform]\ngone = gone_module\n")
    (broken,) = load(tuple(metadata.Distribution.at(info).entry_points)).broken
    assert (broken.distribution, broken.version) == ("unknown distribution", "?")


def test_an_entry_point_that_cannot_be_read_is_a_broken_plugin(install):
    (entry_point,) = install("good", GOOD)
    broken = metadata.EntryPoint("m bad", "m_bad/foo", "irplatform")
    plugins = load((broken, entry_point))
    assert [plugin.name for plugin in plugins.broken] == ["m bad"]
    assert list(plugins.rerankers) == ["length"]


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("not_there_at_all", "No module named 'not_there_at_all'"),
        ("json.not_there:hooks", "No module named 'json.not_there'"),
    ],
)
def test_an_entry_point_that_names_no_module_is_told(value, message):
    (broken,) = load([metadata.EntryPoint("bad", value, "irplatform")]).broken
    assert broken.error.startswith(f"ModuleNotFoundError: {message}")


def test_a_plugin_of_a_former_version_is_told_with_the_remedy():
    package = SimpleNamespace(name="irplatform", version="0.2.0", requires=())
    point = SimpleNamespace(name="gone", value="irplatform_gone", dist=package)
    point.load = lambda: __import__("irplatform_gone")
    (broken,) = load([point]).broken
    message = "ModuleNotFoundError: No module named 'irplatform_gone': install irplatform again"
    assert broken.error == message


def test_the_built_in_plugins_are_sound():
    plugins = registry()
    assert plugins.broken == []
    assert {"bm25", "qld", "rm3"} <= set(plugins.retrievers)
    assert {"delta", "delta-32"} <= set(plugins.rerankers)
    assert "demo" in plugins.collections


def test_plugins_are_loaded_where_the_working_directory_is_gone(install, tmp_path, monkeypatch):
    points = install("good", GOOD)
    monkeypatch.chdir(tmp_path)
    (gone := tmp_path / "gone").mkdir()
    os.chdir(gone)
    gone.rmdir()
    assert load(points).broken == []


def test_the_registry_loads_plugins_once():
    assert registry_registry() is registry_registry()


@pytest.mark.parametrize(
    ("required", "contract"),
    [
        ("irplatform>=0.2,<0.3", ">=0.2,<0.3"),
        ("irplatform[neural] <0.3,>=0.2 ; python_version > '3'", ">=0.2,<0.3"),
        ("irplatform (==0.2.*)", "==0.2.*"),
        ("irplatform", ""),
        ("irplatform-other>=3", ""),
    ],
)
def test_the_versions_that_a_plugin_was_made_for_are_known(required, contract):
    package = SimpleNamespace(name="theirs", version="1", requires=["numpy>=2", required])
    point = SimpleNamespace(name="theirs", value="no_such_module", dist=package)
    point.load = lambda: __import__("no_such_module")
    (plugin,) = load([point]).plugins
    assert plugin.contract == contract
