"""What goes wrong in a group of features names the group, not the reranker that reads it."""

import numpy as np
import pytest

from irplatform.errors import InputError, PluginError
from irplatform.features import Group, dependencies
from irplatform.plugin import Documents, FeatureGroup, Topic
from irplatform.registry import registry

BATCH = [(Topic("t7", "words"), Documents(("d1", "d2"), lambda ids: []))]


class Two(FeatureGroup):
    """Two features; what it computes is given."""

    given = np.zeros((2, 2))

    def names(self):
        return ("first", "second")

    def compute(self, topic, documents):
        return self.given


def _group(**what):
    return Group("two", {}, type("Odd", (Two,), what)())


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

    message = r"feature group 'two' failed computing: ZeroDivisionError.*test_group_errors.py:\d+"
    with pytest.raises(PluginError, match=message):
        _group(compute=compute).checked(BATCH)


@pytest.mark.parametrize(
    ("what", "message"),
    [
        ({"given": np.zeros((2, 3))}, r"'two' returned an array of shape \(2, 3\) for topic t7"),
        ({"given": np.array([[0, 1], [0, np.nan]])}, "'two': feature 'second' of topic t7 is not"),
        ({"compute_batch": lambda self, batch: []}, "'two' returned 0 arrays for 1 topics"),
        ({"names": lambda self: ("a", "a")}, "feature group 'two' has two features 'a'"),
        ({"names": FeatureGroup.names}, "feature group 'two' failed naming its features: NotImpl"),
    ],
)
def test_what_it_returns_is_checked(what, message):
    with pytest.raises(PluginError, match=message):
        _group(**what).checked(BATCH)


def test_a_registered_group_is_named_with_its_plugin():
    kind = registry().feature_group("lexical").system
    assert Group("lexical", {}, kind()).who.startswith("feature group 'lexical' of plugin 'ltr' (")


def test_a_group_without_features_is_left_out_aloud():
    resources = Told()
    assert not _group(names=lambda self: ()).applies([], resources)
    assert resources.told == ["features 'two' are left out: there are none with these settings."]
    assert _group().applies([], resources)


@pytest.mark.parametrize(
    ("names", "settings", "message"),
    [
        (["lexicl"], {}, "'lexicl'.*Did you mean 'lexical'"),
        (["lexical", "lexical"], {}, "group of features 'lexical' is named twice"),
        (["first-stage"], {"first-stage": {"retrievers": ["bm99"]}}, "unknown retriever 'bm99'"),
        (["first-stage"], {"first-stage": {"settings": {"bm25": {"k9": 1}}}}, "'k9' is no option"),
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
            "needs a model.*one of stack.rerankers.*settings.bi-encoder of the group 'stack'",
        ),
        (["checkpoints"], {"checkpoints": {"folders": ["/none"]}}, "there is no checkpoint"),
        (["lexical"], {"lexicl": {"x": 1}}, "settings.lexicl has no effect"),
        (["fields"], {"fields": {"k1": -1}}, "'k1'.*cannot be -1"),
        (["fields"], {"fields": {"kk": 1}}, "'kk'"),
    ],
)
def test_wrong_names_and_settings_are_refused_before_any_work(names, settings, message):
    with pytest.raises(InputError, match=message):
        dependencies(names, settings)
