"""Collections, measures and formats are functions of plugins: guarded where they are called."""

import pytest
from strangers import GOOD

from irplatform.errors import PluginError
from irplatform.evaluation.scoring import evaluate
from irplatform.registry.loading import load
from irplatform.runs import Ranking, Run


@pytest.mark.parametrize("name", ["AP", "nDCG@20", "P", "infNDCG", "ndcg_cut_20", "P(x)@5"])
def test_no_stranger_computes_a_measure_that_everybody_knows(install, name):
    code = f"{GOOD}\n@hookimpl\ndef register_measures(register):\n    register({name!r}, len)\n"
    (broken,) = load(install("measuring", code)).broken
    assert f"measure '{name}' is, or begins as, a standard one" in broken.error


@pytest.mark.parametrize("name", ["", " ", " Share", "Share\t", "Sha\nre", "Sha\x1b[1mre", 7])
def test_a_measure_has_a_name_that_a_table_can_show(install, name):
    code = f"{GOOD}\n@hookimpl\ndef register_measures(register):\n    register({name!r}, len)\n"
    (broken,) = load(install("measuring", code)).broken
    assert "cannot name a measure" in broken.error


FUNCTIONS = """
from irplatform.plugin import hookimpl

def load():
    {body}

def compute(qrels, run):
    {body}

@hookimpl
def register_collections(register):
    register("few", load, title="Few")

@hookimpl
def register_measures(register):
    register("Share", compute)

@hookimpl
def register_knowledge(register):
    register("few-lines", load)
"""


@pytest.mark.parametrize(
    ("body", "of_collection", "of_measure", "of_format"),
    [
        (
            "raise KeyError('gone')",
            r"failed being loaded: KeyError: 'gone' \(.*:5, in load\)",
            r"failed scoring good: KeyError: 'gone' \(.*:8, in compute\)",
            r"failed being loaded: KeyError: 'gone' \(.*:5, in load\)",
        ),
        (
            "pass",
            "is NoneType, not a Collection",
            "returned NoneType; a mapping of topic to",
            "is None; a Format of this name is needed",
        ),
    ],
)
def test_a_function_that_fails_or_returns_nothing_is_named(
    install, body, of_collection, of_measure, of_format
):
    plugins = load(install("functions", FUNCTIONS.replace("{body}", body)))
    of = r"of plugin 'functions' \(irplatform-functions 1.5\)"
    with pytest.raises(PluginError, match=f"^collection 'few' {of} {of_collection}"):
        plugins.collection("few")
    run = Run("good", {"t": Ranking.of(["d"], [1.0])})
    with pytest.raises(PluginError, match=f"^measure 'Share' {of} {of_measure}"):
        evaluate({"t": {"d": 1}}, run, ["Share"], extra=plugins.measures)
    with pytest.raises(PluginError, match=f"^knowledge format 'few-lines' {of} {of_format}"):
        plugins.knowledge["few-lines"]()


@pytest.mark.parametrize(
    ("values", "value"),
    [
        ("{'t': 1.0}", "None"),
        ("{'t': 1.0, 'u': float('nan')}", "nan"),
        ("{'t': 1.0, 'u': 'high'}", "'high'"),
        ("{'t': 1.0, 'u': '0.5'}", "'0.5'"),
        ("{'t': 1.0, 'u': 10**400}", "10"),
        ("{t: 1.0 for t in [*qrels] if qrels.pop(t) and t == 't'}", "None"),
    ],
)
def test_a_measure_without_a_number_for_a_topic_is_named(install, values, value):
    code = FUNCTIONS.replace("{body}", f"return {values}")
    (measure,) = load(install("functions", code)).measures.values()
    of = r"of plugin 'functions' \(irplatform-functions 1.5\)"
    with pytest.raises(PluginError, match=f"^measure 'Share' {of} gave {value}.* for topic u;"):
        measure({"t": {"d": 1}, "u": {"d": 0}}, Run("good", {"t": Ranking.of(["d"], [1.0])}))


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        (("compute)", "5)"), "measure 'Share' is 5, not a function"),
        (("load,", "'few.toml',"), "collection 'few' is 'few.toml', not a function"),
        (('"Share"', '" "'), "' ' cannot name a measure"),
        (('"Share"', "7"), "7 cannot name a measure"),
        (('"few"', "7"), "'7' cannot name a collection"),
        (('"few-lines", load', '"few-lines", 5'), "format 'few-lines' is 5, not a function"),
        (('"Few"', "7"), "the title of collection 'few' is 7, not text"),
    ],
)
def test_what_is_no_function_or_has_no_name_is_not_registered(install, wrong, reason):
    plugins = load(install("functions", FUNCTIONS.replace("{body}", "pass").replace(*wrong)))
    assert reason in plugins.broken[0].error


def test_a_name_of_a_function_belongs_to_the_plugin_that_came_first(install):
    code = FUNCTIONS.replace("{body}", "pass")
    plugins = load((*install("a", code), *install("b", code)))
    assert "collection 'few' is registered by plugin 'a' (" in plugins.broken[0].error


@pytest.mark.parametrize("function", ["compute", "__import__('functools').partial(compute)"])
def test_a_measure_is_told_from_others_by_the_source_of_its_plugin(install, function):
    code = FUNCTIONS.replace("{body}", "pass").replace("compute)", f"{function})")
    plugins = load(install("functions", code))
    assert plugins.measures["Share"].__module__.startswith("module_functions")


def test_no_standard_measure_has_a_hyphen():
    """Names with one are taken without looking further (`_is_standard`)."""
    import ir_measures
    import pytrec_eval

    names = [*ir_measures.measures.registry, *pytrec_eval.supported_measures]
    assert len(names) > 60
    assert not [name for name in names if "-" in name]
