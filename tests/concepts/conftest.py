import pytest
from concept_data import KB, SECOND_KB, Articles

from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import concept_table, open_graph
from irplatform.concepts.table import ConceptTable
from irplatform.knowledge import add


@pytest.fixture(scope="module")
def kb_home(cache_of_module, tmp_path_factory):
    """The file's cache, with two small knowledge bases."""
    place = tmp_path_factory.mktemp("concepts")
    for name, text in (("own", KB), ("second", SECOND_KB)):
        (place / f"{name}.tsv").write_text(text)
        add(name, [place / f"{name}.tsv"])
    return cache_of_module


@pytest.fixture(scope="module")
def table(kb_home):
    return ConceptTable(concept_table(("own", "second")))


@pytest.fixture(scope="module")
def corpus():
    return Articles()


@pytest.fixture(scope="module")
def graph(kb_home, corpus):
    return open_graph(corpus, ConceptOptions(), workers=1)
