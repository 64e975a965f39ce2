"""Identifiers and marks of parts are read as publishers print them."""

import pytest

from irplatform.building.citation_references import ReferenceList, read_articles
from irplatform.building.citation_sentences import marked_text, sentences_of

XLINK = 'xmlns:xlink="http://www.w3.org/1999/xlink"'
PMIDS = [
    "7071",
    "7071.",
    "7071;",
    "(7071)",
    "07071",
    "PMID: 7071",
    "PMID 7071.",
    "pmid:7071",
    "[PubMed: 7071]",
    "PubMed ID: 7071",
    "https://pubmed.ncbi.nlm.nih.gov/7071/",
    "https://pubmed.ncbi.nlm.nih.gov/7071",
    "http://www.ncbi.nlm.nih.gov/pubmed/7071",
    "HTTP://WWW.NCBI.NLM.NIH.GOV/PUBMED/7071",
    "http://www.ncbi.nlm.nih.gov/entrez/query.fcgi?cmd=Retrieve&amp;db=PubMed&amp;list_uids=7071",
    "https://europepmc.org/article/MED/7071",
    "http://europepmc.org/abstract/med/7071",
    "\u200b7071\u200b",
    "PMID:\u00a07071",
]
PMCIDS = [
    "PMC88",
    "PMC88.",
    "88",
    "pmc88",
    "PMC 88",
    "PMCID: PMC88",
    "PMCID:PMC88;",
    "[PMC88]",
    "PMC88.1",
    "https://www.ncbi.nlm.nih.gov/pmc/articles/PMC88/",
    "https://pmc.ncbi.nlm.nih.gov/articles/PMC88/",
    "https://europepmc.org/articles/PMC88",
    "https://europepmc.org/article/PMC/PMC88",
    "http://www.ncbi.nlm.nih.gov/pmc/articles/PMC88/pdf/a.pdf",
    "\ufeffPMC88",
]
DOIS = [
    "10.5555/Ab.c",
    "10.5555/ab.c.",
    "10.5555/ab.c;",
    "(10.5555/ab.c)",
    "doi:10.5555/ab.c",
    "DOI 10.5555/ab.c",
    "DOI: 10.5555/ab.c,",
    "https://doi.org/10.5555/ab.c",
    "http://DX.DOI.ORG/10.5555/AB.C",
    "https://doi.org/10.5555%2Fab.c",
    "10.5555/\u200bab.c",
    "https://doi.org/10.5555/ab.c?source=cite",
    "10.5555/ab.c.Epub 2010 Jan 5.",
    "doi:10.5555/ab.c[published Online First: 2010/01/05]",
    "\u00a010.5555/ab.c\u00a0",
]
TYPED = [
    *(("pmid", text, "pmid:7071") for text in PMIDS),
    *(("pmcid", text, "pmcid:PMC88") for text in PMCIDS),
    *(("pmc", text, "pmcid:PMC88") for text in PMCIDS),
    *(("doi", text, "doi:10.5555/ab.c") for text in DOIS),
    ("PMID", "7071", "pmid:7071"),
    ("pubmed", "7071", "pmid:7071"),
    ("other", "PMID: 7071", "pmid:7071"),
    ("pmid", "PMC88", "pmcid:PMC88"),
    ("pmid", "10.5555/ab.c", "doi:10.5555/ab.c"),
]
PRINTED = {
    "PMID: 7071.": ("pmid:7071",),
    "[PubMed: 7071]": ("pmid:7071",),
    "https://doi.org/10.5555/ab.c.": ("doi:10.5555/ab.c",),
    "Available at http://dx.doi.org/10.5555/ab.c, 2020": ("doi:10.5555/ab.c",),
    "doi:10.5555/ab.c;PMID:7071": ("doi:10.5555/ab.c", "pmid:7071"),
    "10.5555/ab.c. PMID 7071; PMCID: PMC88": ("doi:10.5555/ab.c", "pmcid:PMC88", "pmid:7071"),
    "https://pubmed.ncbi.nlm.nih.gov/7071/": ("pmid:7071",),
    "J. Thing 7071, 88 (2020)": (),
    "https://example.org/7071 and https://example.org/doi/10.5555/ab.c/full": (),
}


def _works(inside):
    content = f"<article {XLINK}><back><ref-list><ref>{inside}</ref></ref-list></back></article>"
    (article,) = read_articles(content.encode(), "a.xml")
    return ReferenceList(article).references[0].works


@pytest.mark.parametrize(("kind", "text", "expected"), TYPED)
def test_an_identifier_is_read_as_printed(kind, text, expected):
    pub_id = f'<pub-id pub-id-type="{kind}">{text}</pub-id>'
    assert _works(f"<mixed-citation>Doe. {pub_id}</mixed-citation>") == ((expected,),)


@pytest.mark.parametrize(("text", "expected"), PRINTED.items())
def test_identifiers_in_plain_text_say_what_they_are(text, expected):
    works = _works(f"<mixed-citation>Doe. A thing. {text}</mixed-citation>")
    assert [set(work) for work in works] == ([set(expected)] if expected else [])


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ('<ext-link ext-link-type="pmid" xlink:href="7071">x</ext-link>', "pmid:7071"),
        ('<ext-link ext-link-type="doi" xlink:href="10.5555/ab.c">x</ext-link>',
         "doi:10.5555/ab.c"),
        ("<uri>https://doi.org/10.5555/ab.c</uri>", "doi:10.5555/ab.c"),
        ('<ext-link xlink:href="https://pmc.ncbi.nlm.nih.gov/articles/PMC88/"/>', "pmcid:PMC88"),
        ('<pub-id pub-id-type="pmid" xlink:href="https://pubmed.ncbi.nlm.nih.gov/7071"/>',
         "pmid:7071"),
    ],
)  # fmt: skip
def test_links_are_identifiers(link, expected):
    assert _works(f"<mixed-citation>Doe. {link}</mixed-citation>") == ((expected,),)


def test_two_identifiers_of_one_element_are_read():
    identifiers = '<pub-id pub-id-type="pmid">PMID: 7071; PMCID: PMC88</pub-id>'
    assert _works(f"<mixed-citation>{identifiers}</mixed-citation>") == (
        ("pmid:7071", "pmcid:PMC88"),
    )
    works = '<pub-id pub-id-type="pmid">7071, 7072</pub-id>'
    assert _works(f"<mixed-citation>{works}</mixed-citation>") == (("pmid:7071",), ("pmid:7072",))


def _citation(pmid, label="", own_id="", text=""):
    label = label and f"<label>{label}</label>"
    pub_id = f'<pub-id pub-id-type="pmid">{pmid}</pub-id>'
    return f"<mixed-citation{own_id}>{label}{text}Doe. {pub_id}</mixed-citation>"


def _ref(number, inside):
    return f'<ref id="R{number}"><label>{number}</label>{inside}</ref>'


def _cited(references, mark):
    content = (
        f"<article {XLINK}><body><p>It was shown {mark}.</p></body>"
        f"<back><ref-list>{references}</ref-list></back></article>"
    )
    (article,) = read_articles(content.encode(), "a.xml")
    reference_list = ReferenceList(article)
    (sentence,) = sentences_of(marked_text(article.find("body/p"), reference_list))
    assert sentence.text == "It was shown."
    works = [work for place in sentence.cites for work in reference_list.references[place].works]
    return sorted({int(name.partition(":")[2]) for work in works for name in work})


def _x(rid, text):
    return f'<xref ref-type="bibr" rid="{rid}">{text}</xref>'


PARTS = {
    "labels": _citation(11, "a") + _citation(12, "b") + _citation(13, "c"),
    "labels in brackets": _citation(11, "(a)") + _citation(12, "(b)") + _citation(13, "(c)"),
    "numbered labels": _citation(11, "1a") + _citation(12, "1b") + _citation(13, "1c"),
    "text": _citation(11, text="(a) ") + _citation(12, text="(b) ") + _citation(13, text="(c) "),
    "one citation": "<mixed-citation>"
    + "; ".join(f"({a}) Doe <pub-id pub-id-type='pmid'>{n}</pub-id>" for a, n in
                (("a", 11), ("b", 12), ("c", 13)))
    + "</mixed-citation>",
}  # fmt: skip
LIST = _ref(2, _citation(2)) + _ref(3, _citation(3))


@pytest.mark.parametrize("parts", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize(
    ("mark", "cited"),
    [
        (_x("R1", "1b"), [12]),
        (_x("R1", "[1a]"), [11]),
        (_x("R1", "1a,c"), [11, 13]),
        (_x("R1", "1b–c"), [12, 13]),
        (_x("R1", "1"), [11, 12, 13]),
        (_x("R1", "1d"), [11, 12, 13]),
        (f"[{_x('R1', '1b')},{_x('R3', '3')}]", [3, 12]),
        (f"[{_x('R1', '1')}–{_x('R3', '3')}]", [2, 3, 11, 12, 13]),
    ],
)
def test_a_mark_with_a_letter_is_that_of_a_part(parts, mark, cited):
    assert _cited(_ref(1, parts) + LIST, mark) == cited


@pytest.mark.parametrize(
    ("mark", "cited"),
    [
        (_x("R1b", "1b"), [12]),
        (_x("R1a R1b", "1a,b"), [11, 12]),
        (_x("R1b", "Doe 2001b"), [12]),
        (_x("R1", "1"), [11, 12]),
        (f"[{_x('R1b', '1b')}–{_x('R3', '3')}]", [2, 3, 12]),
    ],
)
def test_a_mark_points_to_a_part_by_its_id(mark, cited):
    parts = _citation(11, own_id=' id="R1a"') + _citation(12, own_id=' id="R1b"')
    if "Doe" in mark:
        mark = mark.replace("Doe 2001b", "2001b")
    assert _cited(_ref(1, parts) + LIST, mark) == cited


def test_two_renderings_of_one_work_are_one():
    renderings = _citation(11, own_id=' id="R1a"') + _citation(11, own_id=' id="R1b"')
    ref = _ref(1, f"<citation-alternatives>{renderings}</citation-alternatives>")
    assert _cited(ref + LIST, _x("R1a", "1")) == [11]
    assert _works(f"<citation-alternatives>{renderings}</citation-alternatives>") == (("pmid:11",),)


@pytest.mark.parametrize("order", [(1, 2, 3, 4, 5), (5, 2, 4, 1, 3), (3, 1, 5, 2, 4)])
@pytest.mark.parametrize("join", ["–", "-", " to ", "]–["])
def test_a_range_goes_by_the_numbers_that_are_printed(order, join):
    references = "".join(_ref(n, _citation(n)) for n in order)
    assert _cited(references, f"[{_x('R2', 2)}{join}{_x('R4', 4)}]") == [2, 3, 4]
