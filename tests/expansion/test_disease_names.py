"""Which disease a topic means, where no knowledge base has its very name."""

import pytest

from irplatform.expansion.lookup import disease_names, disease_within
from irplatform.knowledge import add, open_knowledge

OWN = """\
id\tname\tkind\tsynonyms\tparents\txrefs
MESH:D1\tLung Neoplasms\tdisease\tLung Neoplasm\t\t
MESH:D2\tSmall Cell Lung Carcinoma\tdisease\tLung Cancer, Small Cell|Oat Cell Lung Cancer\tMESH:D1\t
MESH:D3\tLung Diseases\tdisease\t\t\t
"""


@pytest.fixture
def knowledge(fresh_home, tmp_path):
    (tmp_path / "own.tsv").write_text(OWN)
    add("own-diseases", [tmp_path / "own.tsv"])
    return open_knowledge(["own-diseases"])


def test_a_tumour_by_another_word_is_meant_before_a_kind_of_it(knowledge):
    names = disease_names("lung cancer", knowledge, 10)
    assert names.concepts == ("MESH:D1",)
    kinds = {name.text: name.relation for name in names.synonyms}
    assert kinds["Small Cell Lung Carcinoma"] == "narrow"
    assert kinds["Lung Neoplasms"] == "synonym"
    assert names.headings[0].text == "Lung Neoplasms"


def test_it_is_found_within_other_words(knowledge):
    assert disease_within("advanced lung cancer, stage IV", knowledge) == "lung cancer"


def test_a_name_that_is_only_part_of_one_still_stands_for_that(knowledge):
    assert disease_names("oat cell cancer", knowledge, 10).concepts == ("MESH:D2",)
