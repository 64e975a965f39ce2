"""Ids of documents are read in every spelling, and nothing is guessed."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from irplatform.runs.ids import pmid_of, pmids_of

SPELLINGS = [
    "{}",
    "{}.0",
    "000{}",
    " {} ",
    "{}.",
    "[{}]",
    "<{}>",
    '"{}"',
    "{}.xml",
    "PMID:{}",
    "pmid {}",
    "PMID: {}.0",
    "(PubMed ID: {})",
    "pmid_{}",
    "{} [PMID]",
    "{}[uid]",
    "info:pmid/{}",
    "PubMed PMID: {}",
    "MED:{}",
    "http://www.ncbi.nlm.nih.gov/pubmed/{}",
    "HTTP://WWW.NCBI.NLM.NIH.GOV/PubMed/{}/",
    "www.ncbi.nlm.nih.gov/pubmed/{}",
    "//ncbi.nlm.nih.gov/m/pubmed/{}/",
    "https://pubmed.ncbi.nlm.nih.gov/{}/?from_term=asthma&page=2",
    "https://pubmed.ncbi.nlm.nih.gov/{}#abstract",
    "pubmed.ncbi.nlm.nih.gov/{}",
    "https://pubmed.ncbi.nlm.nih.gov/?term={}%5Buid%5D",
    "https://www.ncbi.nlm.nih.gov/pubmed?term={}",
    "http://www.ncbi.nlm.nih.gov/entrez/query.fcgi?cmd=Retrieve&db=PubMed&list_uids={}&dopt=Citation",
    "https://eutils.ncbi.nlm.nih.gov/entrez/eutils/efetch.fcgi?db=pubmed&id={}",
    "PMID: https://pubmed.ncbi.nlm.nih.gov/{}",
    "pubmed.gov/{}",
    "https://europepmc.org/article/MED/{}",
    "https://identifiers.org/pubmed:{}",
]


@given(st.integers(1, 999_999_999), st.sampled_from(SPELLINGS))
def test_a_pmid_is_read_in_every_spelling(number, spelling):
    text = spelling.format(number)
    assert pmid_of(text) == str(number)
    assert pmids_of(text) == ([str(number)], [])


@given(st.integers(1, 999_999_999))
def test_a_pmid_is_read_as_a_number_and_in_objects(number):
    name = str(number)
    address = f"https://pubmed.ncbi.nlm.nih.gov/{number}"
    spelled = [
        number,
        float(number),
        {"pmid": number},
        {"PMID": name, "id": 3},
        {"pmid": None, "id": name},
        {"docid": name, "score": 1.5},
        {"doc_id": name},
        {"document": address, "text": "Sleep."},
        {"id": name, "url": address},
    ]
    assert [pmid_of(form) for form in spelled] == [name] * len(spelled)


@pytest.mark.parametrize(
    "value",
    [
        *(None, True, "", "n/a", 0, -5, 5.5, float("nan"), float("inf"), 10**9, "1234567890"),
        *("0", "-5", "5.5", "1e3", "2.2E7", "5, 6", "PMC5", "NCT00000005", "pubmed23n0001_5"),
        "https://www.ncbi.nlm.nih.gov/gene/5",
        "https://www.ncbi.nlm.nih.gov/entrez/query.fcgi?db=gene&list_uids=5",
        "https://pmc.ncbi.nlm.nih.gov/articles/PMC5/",
        "https://www.ncbi.nlm.nih.gov/pmc/articles/5",
        "https://europepmc.org/article/PMC/5",
        "https://doi.org/10.1000/5",
        "https://example.org/5",
        "https://[5",
        {"docid": 5, "docno": "6"},
        {"score": 5},
    ],
)
def test_what_is_no_pmid_stays_none(value):
    assert pmid_of(value) is None


@pytest.mark.parametrize(
    ("value", "pmids", "others"),
    [
        (["5", [6.0, "PMID:7"]], "5 6 7", []),
        ("5, 6", "5 6", []),
        ("5;6\n7 | 8.", "5 6 7 8", []),
        ("[5] [6]", "5 6", []),
        ("['5', \"6\"]", "5 6", []),
        ("PMIDs: 5, 6 and 7", "5 6 7", []),
        ("5 6", "5 6", []),
        ("https://pubmed.ncbi.nlm.nih.gov/5/ https://pubmed.ncbi.nlm.nih.gov/6/", "5 6", []),
        ("30000005,30000006", "30000005 30000006", []),
        ({"5": 0.5, "6": {}}, "5 6", []),
        ({"pmids": [5, 6]}, "5 6", []),
        ([], "", []),
        ("30,000,005", "", ["30,000,005"]),
        ("of 12 patients", "", ["of 12 patients"]),
        ("PMID: 5; PMCID: PMC6", "5", ["PMCID: PMC6"]),
        ([5, None, "", [], "n/a"], "5", ["n/a"]),
        ({"1": "5", "2": "6"}, "", [{"1": "5", "2": "6"}]),
        ("5/6", "", ["5/6"]),
        ("Smith et al., 2020; PMID 5", "", ["Smith et al., 2020; PMID 5"]),
        ("5, n/a", "", ["5, n/a"]),
    ],
)
def test_several_pmids_are_read_and_what_is_none_is_told(value, pmids, others):
    assert pmids_of(value) == (pmids.split(), others)
