"""Lists of the platform's own systems are known from the cache, without an import."""

from dataclasses import replace

import pytest

from irplatform.errors import PluginError
from irplatform.registry import summaries
from irplatform.registry.loading import registry
from irplatform.registry.registration import Registration
from irplatform.registry.summaries import Summary, known_summaries, summary_of


@pytest.fixture
def system():
    return registry().rerankers["bm25-text"]


def anew(system):
    """The same registration, whose class was not imported yet."""
    return Registration(system.name, system.kind, system.declared, system.defaults, system.plugin)


def no_import(self):
    raise AssertionError("a class was imported")


def test_what_was_said_is_known_without_the_class(system, monkeypatch):
    said = known_summaries("rerankers", {"bm25-text": anew(system)})
    assert said == {"bm25-text": summary_of(system)}
    monkeypatch.setattr(Registration, "system", property(no_import))
    assert known_summaries("rerankers", {"bm25-text": anew(system)}) == said


@pytest.mark.parametrize("changed", ["our_digest", "_installed"])
def test_other_code_and_other_packages_are_asked_again(system, monkeypatch, changed):
    known_summaries("rerankers", {"bm25-text": anew(system)})
    monkeypatch.setattr(summaries, changed, lambda: ["other"])
    other = Summary("other", ())
    monkeypatch.setattr(summaries, "summary_of", lambda _: other)
    assert known_summaries("rerankers", {"bm25-text": anew(system)}) == {"bm25-text": other}


def test_systems_of_others_and_broken_ones_are_not_kept(system, monkeypatch):
    stranger = anew(replace(system, plugin=replace(system.plugin, distribution="other")))
    broken = anew(replace(system, declared="irplatform.nowhere:Missing"))
    assert isinstance(broken.broken, str)
    with pytest.raises(PluginError):
        _ = broken.system
    assert known_summaries("rerankers", {"theirs": stranger, "broken": broken}) == {}
