"""Names that are nearly the contract's are told; helpers of a class's own are not."""

import pytest

from irplatform.conformance.misspelt import problems_of_names
from irplatform.plugin import FeatureGroup, Reranker, Retriever, TrainableReranker
from irplatform.registry import registry


def _nothing(self, *arguments):
    return None


def _problems(base, **what):
    return list(problems_of_names(type("Mine", (base,), {"__module__": __name__, **what})))


@pytest.mark.parametrize(
    ("base", "name", "value", "meant"),
    [
        (Reranker, "explian", _nothing, "explain"),
        (Reranker, "want_expansion", True, "wants_expansion"),
        (Reranker, "among_candidate", staticmethod(_nothing), "among_candidates"),
        (TrainableReranker, "pretrained_one", "mesh", "pretrained_on"),
        (FeatureGroup, "depend_on", _nothing, "depends_on"),
        (Retriever, "check_topic", property(_nothing), "check_topics"),
    ],
)
def test_nearly_a_name_of_the_contract_is_told(base, name, value, meant):
    expected = [f"Mine.{name} is no name of the contract: is '{meant}' meant?"]
    assert _problems(base, **{name: value}) == expected


def test_it_is_told_of_a_class_that_it_is_derived_from():
    general = type("General", (Reranker,), {"__module__": __name__, "explian": _nothing})
    assert _problems(general)[0].startswith("General.explian is no name")


def test_a_name_that_is_defined_too_is_not_meant():
    assert _problems(Reranker, score=_nothing, scores=_nothing) == []


def _asks(self):
    return self.explains()


def _asks_within(self):
    return [self.explains() for _ in range(2)]


@pytest.mark.parametrize(
    "value", [_asks, _asks_within, property(_asks), staticmethod(_asks), classmethod(_asks)]
)
def test_what_its_own_code_asks_for_is_a_helper(value):
    assert _problems(Reranker, explains=_nothing, score=value) == []


def test_other_names_are_free():
    assert _problems(Reranker, _explian=_nothing, tokens=_nothing, cache=None) == []


def test_none_of_the_platform_s_own_is_told():
    plugins = registry()
    for table in (plugins.rerankers, plugins.retrievers, plugins.features):
        for registration in table.values():
            assert list(problems_of_names(registration.system)) == []
