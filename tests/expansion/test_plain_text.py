"""Topics of plain text are searched by the names of all that they name."""

import pytest
from expanded_topics import names_of

from irplatform.plugin import Topic

pytestmark = pytest.mark.java


def test_a_topic_of_plain_text_gets_the_names_of_what_it_names(expander, index):
    topic = Topic("1", "treatment of lung cancer")
    query = expander().expression(topic)
    assert names_of(query, "text.weight") == {"treatment of lung cancer": 1}
    assert "pulmonary cancer" in names_of(query, "text.phrase")
    unknown = expander().query(Topic("2", "quux"))
    assert len(index.search({"2": unknown}, 10)["2"]) == 0


def named(expander, text):
    """What a topic of plain text is found to name."""
    return [(names.text, names.concepts) for names in expander().parts(Topic("1", text)).phrases]


def test_a_topic_of_plain_text_gets_the_names_of_all_that_it_names(expander):
    text = "Radiotherapy or lapatinib (with ERBB2) in lung cancer"
    query = expander(disease={"kinds": 0}).expression(Topic("1", text))
    assert names_of(query, "text.phrase").keys() == {
        "Radiotherapy",
        "lapatinib",
        "Lapatinib",  # its heading
        "ERBB2",
        "HER2",
        "NEU",
        "lung cancer",
        "pulmonary cancer",
        "lung carcinoma",
        "Lung Neoplasms",
    }


def test_what_plain_text_names_is_found_by_its_longest_names(expander):
    """Lung cancer is no second disease in one that has its name."""
    text = "non-small cell lung carcinoma, lung cancer?"
    assert [name for name, _ in named(expander, text)] == [
        "non-small cell lung carcinoma",
        "lung cancer",
    ]


def test_plain_text_that_names_a_thing_twice_asks_for_it_once(expander):
    text = "ERBB2 (HER2) in pulmonary cancer: lung cancer"
    assert [name for name, _ in named(expander, text)] == ["ERBB2", "pulmonary cancer"]


def test_a_word_of_plain_text_is_a_gene_only_where_it_is_written_as_a_symbol(expander):
    assert named(expander, "ERBB2 in mice") == [("ERBB2", ("HGNC:1",))]
    for text in ("HER2 in mice", "HER2-positive mice", "(HER2+) mice"):
        assert named(expander, text) == [("HER2", ("HGNC:1",))]
    for text in ("erbb2 in mice", "MTC in mice", "mice - erbb2", "mice ... erbb2"):
        assert named(expander, text) == []


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("ERBB2 AND KRAS AFTER RADIATION THERAPY", ["radiation therapy"]),
        ("KRAS IN MICE", []),
        ("KRAS MICE", []),
        ("KRAS V600E", ["KRAS"]),
        ("KRAS CDK4 ERBB2 HER2", ["KRAS", "CDK4", "ERBB2"]),
        ("PULMONARY CANCER IN OLD MICE", ["pulmonary cancer"]),
    ],
)
def test_in_a_text_all_in_capitals_capitals_say_nothing(expander, text, names):
    """Unless each of its words is a symbol."""
    assert [name for name, _ in named(expander, text)] == names


def test_what_plain_text_names_has_the_names_that_it_has_in_a_field(expander):
    read = expander().parts
    fields = read(Topic("1", "", {"disease": "lung cancer", "gene": "ERBB2"}))
    assert fields.disease.headings
    plain = read(Topic("1", "ERBB2 in lung cancer"))
    assert plain.phrases == (*fields.genes, fields.disease)
    assert plain.disease is None
    assert plain.genes == ()


def test_a_variant_in_plain_text_does_not_hide_its_gene(expander):
    assert named(expander, "ERBB2 V600E") == [("ERBB2", ("HGNC:1",))]


def test_a_short_word_of_plain_text_is_no_name(expander):
    assert named(expander, "NEU and T in mice") == []
