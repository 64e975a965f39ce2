"""The plugin `tables` registers the formats that it reads, and no more."""

from importlib.metadata import EntryPoint

from kb_formats import MORE_FORMATS

from irplatform.knowledge.catalogue import FORMATS
from irplatform.registry.loading import load


def test_every_format_is_registered_once():
    found = load([EntryPoint("tables", "irplatform_tables", "irplatform")])
    assert not found.broken
    loaded = [load_format() for load_format in found.knowledge.values()]
    assert sorted(each.name for each in loaded) == sorted(each.name for each in MORE_FORMATS)
    assert {each.name for each in FORMATS}.isdisjoint(each.name for each in MORE_FORMATS)
