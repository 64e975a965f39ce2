"""Which names are found in a text: every rule by an example that breaks without it."""

import pytest

from irplatform.concepts.build import concept_table
from irplatform.concepts.matcher import NameMatcher
from irplatform.concepts.spelling import Speller, hash_of
from irplatform.concepts.table import ConceptTable
from irplatform.knowledge import add
from irplatform.knowledge.model import stored_key


@pytest.fixture
def mentions_in(table):
    matcher = NameMatcher(table)

    def mentions_in(text, **settings):
        mentions = matcher.mentions(text, **settings)
        assert all(text[m.start : m.end] == m.text for m in mentions)
        return [(m.text, table.names[m.concept]) for m in mentions]

    return mentions_in


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Melanomas grow.", [("Melanomas", "melanoma")]),
        ("malignant Melanoma", [("malignant Melanoma", "melanoma")]),
        (
            "non small cell lung cancer",
            [("non small cell lung cancer", "non-small cell lung cancer")],
        ),
        ("non-small-cell lung tumours", [("tumours", "neoplasm")]),
        (
            "Non-Small-Cell Lung Carcinoma",
            [("Non-Small-Cell Lung Carcinoma", "non-small cell lung cancer")],
        ),
        ("TNFα, TNF-alpha", [("TNFα", "TNF-alpha"), ("TNF-alpha", "TNF-alpha")]),
        ("gefitinib's", [("gefitinib's", "Gefitinib")]),
    ],
)  # fmt: skip
def test_case_number_hyphens_and_greek_make_no_difference(mentions_in, text, expected):
    assert mentions_in(text) == expected


def test_the_longest_name_is_found_and_nothing_across_it(mentions_in):
    assert mentions_in("interleukin-2 receptor") == [
        ("interleukin-2 receptor", "interleukin-2 receptor")
    ]
    assert mentions_in("interleukin-2 receptors of interleukin 2") == [
        ("interleukin-2 receptors", "interleukin-2 receptor"),
        ("interleukin 2", "interleukin-2"),
    ]


def test_no_name_goes_across_punctuation_or_lines(mentions_in):
    assert mentions_in("lung, cancer") == mentions_in("lung\ncancer") == [("cancer", "neoplasm")]


@pytest.mark.parametrize(
    "text",
    [
        "in patients",  # not inpatients
        "it rose and 1 fell",  # not AND-1
        "they will",  # not the heading
        "PET",  # not the animal
        "proteins",  # not protein S
        "it met",  # not MET
        "the ar",
        "non-small cell carcinoma",  # not small cell carcinoma
    ],
)
def test_what_is_no_mention(mentions_in, text):
    assert mentions_in(text) == []


def test_a_gene_needs_its_capitals_unless_it_is_called_a_proto_oncogene(mentions_in):
    assert [name for _, name in mentions_in("MET, c-met and c-Met")] == ["MET", "MET", "MET"]


def test_another_genes_symbol_is_no_alias(mentions_in):
    assert mentions_in("Met patients") == []


def test_a_short_symbol_needs_support(mentions_in):
    assert mentions_in("AR") == []
    assert mentions_in("the androgen receptor, AR") == [("androgen receptor", "AR"), ("AR", "AR")]
    assert mentions_in("AR", strict=False) == [("AR", "AR")]


def test_capitals_say_nothing_in_a_line_of_capitals(mentions_in):
    assert mentions_in("WE MET THE MELANOMA AGAIN") == [("MELANOMA", "melanoma")]


def test_a_gene_is_found_within_its_variant(mentions_in):
    assert mentions_in("BRAF V600E") == [("BRAF V600E", "BRAF V600E"), ("BRAF", "BRAF")]
    assert mentions_in("BRAFV600E") == [("BRAFV600E", "BRAF V600E")]


def test_a_texts_own_abbreviations_go_before_the_knowledge_base(mentions_in, table):
    defined = {"LCR": table.concept_of("X:18"), "MET": None}
    assert mentions_in("LCRs, LCR and MET", definitions=defined) == [
        ("LCRs", "lung cancer"),
        ("LCR", "lung cancer"),
    ]


def test_only_within_what_is_asked(mentions_in):
    text = "melanoma and gefitinib"
    assert mentions_in(text, within=[(0, 8)]) == [("melanoma", "melanoma")]


def test_only_kinds_that_are_asked(table):
    matcher = NameMatcher(table, ("drug",))
    assert [m.text for m in matcher.mentions("gefitinib in melanoma")] == ["gefitinib"]


def test_a_heading_is_found_as_a_whole(table):
    matcher = NameMatcher(table)
    assert matcher.concept_of("Carcinoma, Non-Small-Cell Lung") == table.concept_of("X:3")
    assert matcher.concept_of("will") == table.concept_of("X:12")
    assert matcher.concept_of("melanoma of the skin") is None


@pytest.mark.parametrize(
    "text", ["Carcinomas of 5 HER-2 cells", "a 1 2 b", "N,N-dimethyl 3-x", "MÜLLER’s IL-2 αβ", ""]
)
def test_rolling_hashes_are_those_of_the_names(text):
    speller = Speller()
    words = speller.words(text)
    for number, (length, hashes, valid) in enumerate(speller.runs(words)):
        for first in valid.nonzero()[0].tolist():
            if number != 1:  # words as they are
                key, _ = speller.key(words, first, length)
                assert int(hashes[first]) == hash_of(key)
                assert key == stored_key(words.surface(first, first + length - 1).lower())


def test_looking_for_runs_equals_trying_all(table):
    """The bits and hashes find what a look at every run finds."""
    text = "Gefitinib in non-small cell lung cancers, IL-2, interleukin-2 receptor, tumor of B-raf."
    speller = Speller()
    words = speller.words(text)
    plain, fast = set(), set()
    for number, (length, hashes, valid) in enumerate(speller.runs(words)):
        if number == 1:
            continue
        marked = set(table.may_be_names(hashes).tolist())
        for first in valid.nonzero()[0].tolist():
            key, _ = speller.key(words, first, length)
            if table.candidates(hash_of(key), key):
                plain.add((first, length))
                if first in marked:
                    fast.add((first, length))
    assert plain == fast
    assert len(plain) >= 8


INNER = """id\tname\tkind\tsynonyms
I:1\tBRAF\tgene\t
I:2\tBRAF inhibitor therapy\tother\t
I:3\tBRAF V600E resistant melanoma\tdisease\t
I:4\tBRAF V600E\tvariant\t
I:5\tgefitinib\tdrug\t
I:6\tgefitinib study\tother\t
I:7\tstudy\tother\t
I:8\tstudy of gefitinib\tvariant\t
I:9\tone two three four five six seven eight\tdisease\t
I:10\tlung cancer\tdisease\t
I:11\tMARKER\tgene\t
"""


@pytest.fixture
def inner(fresh_home, tmp_path):
    (tmp_path / "inner.tsv").write_text(INNER)
    add("inner", [tmp_path / "inner.tsv"])
    table = ConceptTable(concept_table(("inner",)))
    matcher = NameMatcher(table)
    return lambda text, **settings: [
        table.names[m.concept] for m in matcher.mentions(text, **settings)
    ]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("BRAF inhibitor therapy", ["BRAF inhibitor therapy", "BRAF"]),
        ("gefitinib study", ["gefitinib study", "gefitinib"]),  # a study within is no more
        ("study of gefitinib", ["study of gefitinib", "gefitinib"]),
        ("BRAF V600E resistant melanoma", ["BRAF V600E resistant melanoma"]),  # of a kind
    ],
)
def test_genes_diseases_and_drugs_are_found_within_variants_and_things_of_no_kind(
    inner, text, names
):
    assert inner(text) == names


def test_a_long_name_is_found(inner):
    text = "one two three four five six seven eight"
    assert inner(text) == [text]


def test_a_no_break_space_is_a_space(inner):
    assert inner("lung\u00a0cancer") == ["lung cancer"]


def test_half_of_a_line_in_capitals_is_no_line_of_capitals(inner):
    """Where capitals say nothing, a symbol of letters needs support."""
    assert inner("THE NEW MARKER of something is good") == ["MARKER"]
    assert inner("THE NEW MARKER OF SOMETHING IS GOOD") == []
    assert inner("THE NEW MARKER OF SOMETHING IS GOOD", strict=False) == ["MARKER"]


def test_what_a_text_defines_is_nothing_else_there(inner):
    assert inner("MARKER", definitions={"MARKER": None}) == []
