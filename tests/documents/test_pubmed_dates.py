"""Dates and DOIs of PubMed's articles, as exact as they are known."""

import pytest
from lxml import etree

from irplatform.documents.pubmed import article

DATES = {
    "<MedlineDate>2003 Dec 23-30</MedlineDate>": "2003-12",
    "<MedlineDate>2003 Dec 23 - 30</MedlineDate>": "2003-12",
    "<MedlineDate>2016 Jul 29-Aug 4</MedlineDate>": "2016-07",
    "<MedlineDate>2003 Dec 31-2004 Jan 6</MedlineDate>": "2003-12",
    "<MedlineDate>2003 Dec 23</MedlineDate>": "2003-12-23",
    "<MedlineDate>2003 December 3</MedlineDate>": "2003-12-03",
    "<MedlineDate>2003 Sept</MedlineDate>": "2003-09",
    "<MedlineDate>2003 Dec; discussion 7</MedlineDate>": "2003-12",
    "<MedlineDate>2003 Dec.</MedlineDate>": "2003-12",
    "<MedlineDate>Dec 2003</MedlineDate>": "2003-12",
    "<MedlineDate>2003 Oct-Dec</MedlineDate>": "2003",
    "<MedlineDate>2003 Oct - Dec</MedlineDate>": "2003",
    "<MedlineDate>2003 Oct/Nov</MedlineDate>": "2003",
    "<MedlineDate>2025 Oct-Dec 01</MedlineDate>": "2025",
    "<MedlineDate>Oct-Dec 2003</MedlineDate>": "2003",
    "<MedlineDate>1998 Dec-1999 Jan</MedlineDate>": "1998",
    "<MedlineDate>2003 Spring</MedlineDate>": "2003",
    "<MedlineDate>2003 Spring-Summer</MedlineDate>": "2003",
    "<MedlineDate>Winter 2003</MedlineDate>": "2003",
    "<MedlineDate>2003 1st Quart</MedlineDate>": "2003",
    "<MedlineDate>2003-2004</MedlineDate>": "2003",
    "<MedlineDate>2003 Decade</MedlineDate>": "2003",
    "<Year>2003</Year><Season>Fall</Season>": "2003",
    "<Year>2003</Year><Month>May</Month><Day>07</Day>": "2003-05-07",
    "<Year>2003</Year><Month>05</Month>": "2003-05",
    "<Year>2003</Year><Month>May-Jun</Month>": "2003",
    "<Year>2003</Year><Month>December</Month>": "2003-12",
}


def _article(date="<Year>2003</Year>", locations=""):
    text = f"""<MedlineCitation><PMID>7</PMID><Article><Journal><JournalIssue><PubDate>{date}
    </PubDate></JournalIssue></Journal><ArticleTitle>x</ArticleTitle>{locations}</Article>
    </MedlineCitation>"""
    return article(etree.fromstring(text), "p.xml")


@pytest.mark.parametrize(("date", "expected"), DATES.items())
def test_a_date_is_as_exact_as_it_is_known(date, expected):
    assert _article(date).date == expected
    assert _article(date).year == expected[:4]


@pytest.mark.parametrize(
    ("spelling", "doi"),
    [
        ("10.5555/Ab.c", "10.5555/Ab.c"),
        ("https://doi.org/10.5555/Ab.c", "10.5555/Ab.c"),
        ("http://dx.doi.org/10.5555%2FAb.c", "10.5555/Ab.c"),
        ("doi:10.5555/Ab.c", "10.5555/Ab.c"),
        ("DOI 10.5555/Ab.c.", "10.5555/Ab.c"),
        ("HTTPS://DOI.ORG/10.5555/Ab.c", "10.5555/Ab.c"),
    ],
)
def test_a_doi_is_one_however_it_is_written(spelling, doi):
    location = '<ELocationID EIdType="doi" ValidYN="{}">{}</ELocationID>'
    assert _article(locations=location.format("Y", spelling)).doi == doi
    wrong = location.format("N", "10.5555/ab.c") + location.format("Y", spelling)
    assert _article(locations=wrong).doi == ""
