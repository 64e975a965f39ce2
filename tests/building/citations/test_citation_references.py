"""What a reference says about the article that it cites, in the forms that publishers use."""

import pytest

from irplatform.building.citation_references import (
    ReferenceList,
    normalized,
    read_articles,
    title_key,
)

XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"'


def _references(*entries):
    content = f"<article {XLINK}><back><ref-list>{''.join(entries)}</ref-list></back></article>"
    (article,) = read_articles(content.encode(), "a.xml")
    return ReferenceList(article)


@pytest.mark.parametrize(
    ("inside", "identifiers"),
    [
        ('<pub-id pub-id-type="pmid">123</pub-id>', ("pmid:123",)),
        ('<pub-id pub-id-type="pmid">PMID: 123</pub-id>', ("pmid:123",)),
        ('<pub-id pub-id-type="pmcid">PMCID: PMC55</pub-id>', ("pmcid:PMC55",)),
        ('<object-id pub-id-type="pmid">0123</object-id>', ("pmid:123",)),
        ('<pub-id pub-id-type="pmcid">PMC55</pub-id>', ("pmcid:PMC55",)),
        ('<pub-id pub-id-type="doi">10.1000/A.b</pub-id>', ("doi:10.1000/a.b",)),
        (
            '<comment>doi: <ext-link xlink:href="http://dx.doi.org/10.1000/x(98)1">x</ext-link>'
            "</comment>",
            ("doi:10.1000/x(98)1",),
        ),
        (
            '<ext-link xlink:href="https://www.ncbi.nlm.nih.gov/pubmed/20727151">PubMed</ext-link>',
            ("pmid:20727151",),
        ),
        ("<comment>doi:10.1000/xyz.</comment>", ("doi:10.1000/xyz",)),
        (
            "<fpage>e307</fpage><comment>doi:10.1000/xyz</comment><lpage>1104</lpage>",
            ("doi:10.1000/xyz",),
        ),
        ('<ext-link xlink:href="http://www.who.int/10">WHO</ext-link>', ()),
        ('<pub-id pub-id-type="pmid">see above</pub-id>', ()),
        (
            "<article-title>The <italic>C. elegans</italic> genome and p53.</article-title>",
            ("title:the c elegans genome and p53",),
        ),
        ("<article-title>Reply</article-title>", ()),
    ],
)
def test_identifiers_are_found(inside, identifiers):
    reference_list = _references(f'<ref id="B1"><mixed-citation>{inside}</mixed-citation></ref>')
    assert reference_list.references[0].works == ((identifiers,) if identifiers else ())


def test_a_reference_can_cite_several_articles():
    reference_list = _references(
        '<ref id="B1"><mixed-citation id="a"><pub-id pub-id-type="pmid">1</pub-id></mixed-citation>'
        '<mixed-citation id="b"><pub-id pub-id-type="pmid">2</pub-id></mixed-citation></ref>'
    )
    assert reference_list.references[0].works == (("pmid:1",), ("pmid:2",))
    assert reference_list.positions("b B1") == [2, 0]
    assert reference_list.references[2].works == (("pmid:2",),)


def _pub_ids(*identifiers):
    return "".join(f'<pub-id pub-id-type="{kind}">{value}</pub-id>' for kind, value in identifiers)


@pytest.mark.parametrize(
    ("inside", "works"),
    [
        (
            f"(a) {_pub_ids(('pmid', 12))}; (b) {_pub_ids(('pmid', 1))}",
            [("pmid:12",), ("pmid:1",)],
        ),
        (
            f"(a) <article-title>One two three four five</article-title> "
            f"{_pub_ids(('doi', '10.1000/a'), ('pmid', 1))}; (b) "
            f"<article-title>Six two three four five</article-title> {_pub_ids(('pmid', 2))}",
            [
                ("doi:10.1000/a", "pmid:1", "title:one two three four five"),
                ("pmid:2", "title:six two three four five"),
            ],
        ),
        (
            f"(a) doi:10.1000/a, {_pub_ids(('pmid', 1))}; (b) doi:10.1000/b, "
            f"{_pub_ids(('pmid', 2))}",
            [("pmid:1", "doi:10.1000/a"), ("pmid:2", "doi:10.1000/b")],
        ),
        ("(a) doi:10.1000/a; (b) doi:10.1000/b", [("doi:10.1000/a",), ("doi:10.1000/b",)]),
        (_pub_ids(("doi", "10.1000/a"), ("doi", "10.1000/a/full")), [
            ("doi:10.1000/a", "doi:10.1000/a/full"),
        ]),
    ],
)  # fmt: skip
def test_a_citation_of_two_works_has_the_identifiers_of_each(inside, works):
    reference_list = _references(f'<ref id="B1"><mixed-citation>{inside}</mixed-citation></ref>')
    assert list(reference_list.references[0].works) == works


def test_two_renderings_of_a_citation_are_one_article():
    citation = '<{0}><pub-id pub-id-type="pmid">1</pub-id></{0}>'
    citations = citation.format("mixed-citation") + citation.format("element-citation")
    reference_list = _references(
        f'<ref id="B1"><citation-alternatives>{citations}</citation-alternatives></ref>'
    )
    assert reference_list.references[0].works == (("pmid:1",),)


def test_unknown_ids_point_nowhere():
    assert _references('<ref id="B1"/>').positions("B1 B2") == [0]


@pytest.mark.parametrize(
    ("kind", "text", "expected"),
    [
        ("pmid", " 00123 ", "pmid:123"),
        ("pmid", "123.0", "pmid:123"),
        ("pmid", "0", None),
        ("pmid", "0.0", None),
        ("pmid", "9" * 5000, None),
        ("pmcid", "PMC0", None),
        ("pmcid", "pmc0123", "pmcid:PMC123"),
        ("pmcid", "123.2", "pmcid:PMC123"),
        ("doi", "https://doi.org/10.1000/ABC", "doi:10.1000/abc"),
        ("doi", "(10.1000/abc)", "doi:10.1000/abc"),
        ("doi", "10.1000/1748–9326", "doi:10.1000/1748-9326"),
        (
            "doi",
            "10.1002/1097-0258(20010215)20:3<377::AID-SIM799>3.0.CO;2-N",
            "doi:10.1002/1097-0258(20010215)20:3<377::aid-sim799>3.0.co;2-n",
        ),
        (
            "doi",
            "https://doi.org/10.1002%2F1097-0258(20010215)20:3%3C377::AID-SIM799%3E3.0.CO;2-N",
            "doi:10.1002/1097-0258(20010215)20:3<377::aid-sim799>3.0.co;2-n",
        ),
        ("doi", "<doi:10.1000/abc>.", "doi:10.1000/abc"),
        ("doi", "see [10.1000/abc.)].", "doi:10.1000/abc"),
        ("doi", "n/a", None),
    ],
)
def test_identifiers_have_one_form(kind, text, expected):
    assert normalized(kind, text) == expected


def test_titles_are_the_same_whatever_their_case_and_punctuation():
    assert title_key("TNF-α in the Gut: a Review.") == title_key("TNF-alpha in the gut — a review")
