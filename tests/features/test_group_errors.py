"""What goes wrong in a group of features names the group, not the reranker that reads it."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from small import chosen

from irplatform.errors import InputError, PluginError
from irplatform.features.groups import Group, applying
from irplatform.plugin import (
    Documents,
    FeatureGroup,
    KnowledgeBases,
    Options,
    Reads,
    Reranker,
    Retriever,
    Topic,
    TrainableFeatureGroup,
)
from irplatform.registry.loading import registry
from irplatform.registry.registration import Plugin, Registration

BATCH = [(Topic("t7", "words"), Documents(("d1", "d2"), lambda ids: []))]


class Two(FeatureGroup):
    """Two features; what it computes is given."""

    given = np.zeros((2, 2))

    def names(self):
        return ("first", "second")

    def compute(self, topic, documents):
        return self.given


PLUGIN = Plugin("strange", "strange-distribution", "1.2")
TWO = r"feature group 'two' of plugin 'strange' \(strange-distribution 1.2\)"


def _group(**methods):
    odd = type("Odd", (Two,), methods)
    return Group(Registration("two", "feature group", odd, {}, PLUGIN), {}, odd())


def _features(*names, **settings):
    """A reranker that reads groups of features."""
    return chosen("delta", features=names, feature_settings=settings)


class Told:
    """Resources that keep what they are told."""

    def __init__(self):
        self.told = []

    def notice(self, message):
        self.told.append(message)


def test_a_group_that_behaves_is_computed():
    assert _group().checked(BATCH)[0].tolist() == [[0, 0], [0, 0]]


def test_an_error_names_the_group_and_the_line():
    def compute(self, topic, documents):
        return 1 / 0

    message = TWO + r" failed computing: ZeroDivisionError.*test_group_errors.py:\d+"
    with pytest.raises(PluginError, match=message):
        _group(compute=compute).checked(BATCH)


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"given": np.zeros((2, 3))}, r" returned an array of shape \(2, 3\) for topic t7"),
        ({"given": np.array([[0, 1], [0, np.nan]])}, ": feature 'second' of topic t7 is not"),
        ({"given": [["1", "2"]] * 2}, " returned no numbers for topic t7: .*'1' is not a number"),
        ({"compute_batch": lambda self, batch: []}, " returned 0 arrays for 1 topics"),
        ({"names": lambda self: ("a", "a")}, " has two features 'a'"),
        ({"names": lambda self: "length"}, " returned 'length' from names.*a tuple of names"),
        ({"names": lambda self: (1, 2)}, r" returned \(1, 2\) from names.*a tuple of names"),
        ({"names": FeatureGroup.names}, " failed naming its features: NotImpl"),
    ],
)
def test_what_it_returns_is_checked(methods, message):
    with pytest.raises(PluginError, match=TWO + message):
        _group(**methods).checked(BATCH)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda self: 1 / 0, "failed saying what it was prepared with: ZeroDivisionError"),
        (lambda self: Path("x"), "returned PosixPath from prepared_with; a mapping is needed"),
        (lambda self: {"x": {1}}, "returned a value from prepared_with that is not JSON"),
        (lambda self: None, "returned NoneType from prepared_with; a mapping is needed"),
    ],
)
def test_what_it_was_prepared_with_is_json(answer, message):
    with pytest.raises(PluginError, match=f"{TWO} {message}"):
        _group(prepared_with=answer).described  # noqa: B018


class BasesOptions(Options):
    """Options of a group that reads knowledge bases."""

    bases: KnowledgeBases = None


def test_features_depend_on_the_knowledge_bases_that_options_name(monkeypatch):
    monkeypatch.setattr("irplatform.knowledge.installed", lambda: {"mesh": None})
    monkeypatch.setattr(
        "irplatform.knowledge.open_knowledge",
        lambda names: SimpleNamespace(fingerprint="+".join(names)),
    )
    assert _group(Options=BasesOptions).described["of"] == {"knowledge": "mesh"}
    group = _group(Options=BasesOptions, prepared_with=lambda self: {"knowledge": "own"})
    assert group.described["of"] == {"knowledge": "own"}


def test_it_is_asked_before_any_work(monkeypatch):
    odd = type("Odd", (Two,), {"reads": lambda self: Reads(more={"file": Path("x")})})
    registered = Registration("odd", "feature group", odd, {}, PLUGIN)
    monkeypatch.setitem(registry().features, "odd", registered)
    message = (
        "feature group 'odd' of plugin 'strange'.* returned a value from reads that is not JSON"
    )
    with pytest.raises(PluginError, match=message):
        _features("odd").describe_reads()


@pytest.mark.parametrize(
    ("kind", "base", "group"),
    [("reranker", Reranker, "stack"), ("retriever", Retriever, "first-stage")],
)
def test_a_system_that_a_group_reads_is_named_itself(kind, base, group, monkeypatch):
    system = type("Odd", (base,), {"reads": lambda self: 1 / 0})
    systems = getattr(registry(), f"{kind}s")
    monkeypatch.setitem(systems, "odd", Registration("odd", kind, system, {}, PLUGIN))
    with pytest.raises(PluginError, match=f"^{kind} 'odd' of plugin 'strange'.* failed returning"):
        _features(group, **{group: {f"{kind}s": ["odd"]}}).describe_reads()


class Forgets(Two, TrainableFeatureGroup):
    """Saves nothing."""

    def save(self, folder):
        pass


def test_a_group_that_saves_nothing_is_named(tmp_path):
    group = Group(Registration("two", "feature group", Forgets, {}, PLUGIN), {}, Forgets())
    with pytest.raises(PluginError, match=TWO + r": save\(\) wrote nothing"):
        group.save(group.instance, tmp_path)


def test_a_group_without_features_is_left_out_aloud():
    resources = Told()
    assert not applying([_group(names=lambda self: ())], [], resources)
    assert resources.told == ["features 'two' are left out: there are none with these settings."]
    assert applying([_group()], [], resources)


def test_groups_that_lack_the_same_share_a_sentence():
    def lack(name, reason):
        group = _group(lacks=lambda self, topics: reason)
        registration = Registration(name, "feature group", type(group.instance), {}, PLUGIN)
        return Group(registration, {}, group.instance)

    resources = Told()
    lacking = [lack("a", "there is no gene."), lack("b", "there is no gene."), lack("c", "no.")]
    assert applying(lacking, [], resources) == []
    assert resources.told == [
        "features 'a' and 'b' are left out: there is no gene. Features 'c' are left out: no."
    ]


def test_what_topics_lack_is_said_in_words():
    assert _group(lacks=lambda self, topics: "no\nfields").lacking([]) == "no fields"
    message = f"{TWO} returned NoneType from lacks; text is needed"
    with pytest.raises(PluginError, match=message):
        applying([_group(lacks=lambda self, topics: None)], [], Told())


@pytest.mark.parametrize(
    ("names", "settings", "message"),
    [
        (["lexicl"], {}, "'lexicl'.*Did you mean 'lexical'"),
        (["lexical", "lexical"], {}, "group of features 'lexical' is named twice"),
        (["first-stage"], {"first-stage": {"retrievers": ["bm99"]}}, "unknown retriever 'bm99'"),
        (
            ["first-stage"],
            {"first-stage": {"settings": {"bm25": {"k9": 1}}}},
            "'k9' is not",
        ),
        (["stack"], {"stack": {"rerankers": ["dlta"]}}, "unknown reranker 'dlta'"),
        (
            ["stack"],
            {"stack": {"rerankers": ["delta"], "settings": {"drmm": {}}}},
            "settings.drmm has no effect: 'drmm' is not among stack.rerankers",
        ),
        (
            ["stack"],
            {"stack": {"rerankers": ["ltr"], "settings": {"ltr": {"features": ["lexicl"]}}}},
            "unknown feature group 'lexicl'",
        ),
        (
            ["stack"],
            {"stack": {"rerankers": ["bi-encoder"]}},
            "needs a model.*one of stack.rerankers.*those in stack.settings.bi-encoder\\.",
        ),
        (["checkpoints"], {"checkpoints": {"folders": ["/none"]}}, "there is no checkpoint"),
        (["lexical"], {"lexicl": {"x": 1}}, "settings.lexicl has no effect"),
        (["fields"], {"fields": {"k1": -1}}, "'k1'.*cannot be -1"),
        (["fields"], {"fields": {"kk": 1}}, "'kk'"),
    ],
)
def test_wrong_names_and_settings_are_refused_before_any_work(names, settings, message):
    with pytest.raises(InputError, match=message):
        _features(*names, **settings).describe_reads()
