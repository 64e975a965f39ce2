"""Generated MEDLINE files: the official format, realistic sizes, the same at every call.

An article has a title, an abstract (one in six has none, one in four has labelled sections),
authors with affiliations, MeSH headings, chemicals, publication types, references and PubMed's own
data, as records of the baseline have them: about 7 kB of XML on average. Words follow Zipf's law.
"""

from __future__ import annotations

import gzip
import multiprocessing
import random
from functools import partial
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

PER_FILE = 30_000
"""Articles in a file of the baseline."""
_HEAD = """<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" \
"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">
<PubmedArticleSet>
"""
_SECTIONS = ("BACKGROUND", "METHODS", "RESULTS", "CONCLUSIONS")
_TYPES = ("Journal Article", "Review", "Case Reports", "Clinical Trial", "Comparative Study")


def write_files(folder: Path, articles: int, *, per_file: int = PER_FILE) -> list[Path]:
    """Write so many articles to numbered `.xml.gz` files; returns them in their order."""
    folder.mkdir(parents=True, exist_ok=True)
    jobs = [
        (folder / f"pubmed24n{number:04}.xml.gz", first, min(per_file, articles - first + 1))
        for number, first in enumerate(range(1, articles + 1, per_file), start=1)
    ]
    with multiprocessing.get_context("spawn").Pool(maxtasksperchild=8) as pool:
        return pool.starmap(write_file, jobs, chunksize=1)


def write_file(path: Path, first: int, count: int) -> Path:
    """Write `count` articles, numbered from `first` on."""
    make = Articles()
    with gzip.open(path, "wt", compresslevel=1, encoding="utf-8") as file:
        file.write(_HEAD)
        for pmid in range(first, first + count):
            file.write(make.article(pmid))
        file.write("</PubmedArticleSet>\n")
    return path


class Articles:
    """Writes articles from a vocabulary and sentences that are drawn once."""

    def __init__(self, words: int = 60_000, sentences: int = 20_000) -> None:
        draw = random.Random(0)
        letters = "abcdefghilmnoprstuvy"
        vocabulary = ["".join(draw.choices(letters, k=draw.randint(3, 12))) for _ in range(words)]
        weights = list(accumulate(1 / rank for rank in range(1, words + 1)))
        pick = partial(draw.choices, vocabulary, cum_weights=weights)
        self.sentences = [
            " ".join(pick(k=draw.randint(10, 30))).capitalize() + "." for _ in range(sentences)
        ]
        self.headings = [" ".join(pick(k=draw.randint(1, 3))).title() for _ in range(20_000)]
        self.names = [word.capitalize() for word in pick(k=5_000)]

    def article(self, pmid: int) -> str:
        """One article's XML; it depends on its number only."""
        draw = random.Random(pmid)
        year, month = draw.randint(1970, 2024), draw.randint(1, 12)
        journal = draw.choice(self.headings)
        title = draw.choice(self.sentences).replace(" ", " <i>BRAF</i> ", draw.random() < 0.02)
        return f"""<PubmedArticle>
    <MedlineCitation Status="MEDLINE" IndexingMethod="Automated" Owner="NLM">
      <PMID Version="1">{pmid}</PMID>
      <DateCompleted><Year>{year}</Year><Month>{month:02}</Month><Day>09</Day></DateCompleted>
      <DateRevised><Year>2024</Year><Month>01</Month><Day>11</Day></DateRevised>
      <Article PubModel="Print">
        <Journal>
          <ISSN IssnType="Print">0006-2944</ISSN>
          <JournalIssue CitedMedium="Print">
            <Volume>{month}</Volume><Issue>2</Issue>
            <PubDate><Year>{year}</Year><Month>Jun</Month></PubDate>
          </JournalIssue>
          <Title>{journal}</Title><ISOAbbreviation>{journal}</ISOAbbreviation>
        </Journal>
        <ArticleTitle>{title}</ArticleTitle>
        <Pagination><StartPage>185</StartPage><MedlinePgn>185-201</MedlinePgn></Pagination>
{self._abstract(draw)}{self._authors(draw)}        <Language>eng</Language>
        <PublicationTypeList>
          <PublicationType UI="D016428">{draw.choice(_TYPES)}</PublicationType>
        </PublicationTypeList>
      </Article>
      <MedlineJournalInfo>
        <Country>United States</Country><MedlineTA>{journal}</MedlineTA>
        <NlmUniqueID>0151424</NlmUniqueID><ISSNLinking>0006-2944</ISSNLinking>
      </MedlineJournalInfo>
{self._chemicals(draw)}      <CitationSubset>IM</CitationSubset>
{self._headings(draw)}    </MedlineCitation>
    <PubmedData>
      <History>
        <PubMedPubDate PubStatus="pubmed">
          <Year>{year}</Year><Month>{month}</Month><Day>1</Day><Hour>0</Hour><Minute>1</Minute>
        </PubMedPubDate>
      </History>
      <PublicationStatus>ppublish</PublicationStatus>
      <ArticleIdList>
        <ArticleId IdType="pubmed">{pmid}</ArticleId>
        <ArticleId IdType="doi">10.1016/0006-2944(75){pmid}</ArticleId>
      </ArticleIdList>
{self._references(draw)}    </PubmedData>
  </PubmedArticle>
"""

    def _abstract(self, draw: random.Random) -> str:
        if draw.random() < 1 / 6:
            return ""
        sentences = draw.choices(self.sentences, k=draw.randint(4, 12))
        if draw.random() < 1 / 4:
            texts = "".join(
                f'          <AbstractText Label="{label}" NlmCategory="{label}">'
                f"{' '.join(sentences[part::4])}</AbstractText>\n"
                for part, label in enumerate(_SECTIONS)
            )
        else:
            texts = f"          <AbstractText>{' '.join(sentences)}</AbstractText>\n"
        return f"        <Abstract>\n{texts}        </Abstract>\n"

    def _authors(self, draw: random.Random) -> str:
        affiliation = draw.choice(self.sentences)
        element = f"<AffiliationInfo><Affiliation>{affiliation}</Affiliation></AffiliationInfo>"
        names = draw.choices(self.names, k=draw.randint(1, 8))
        return "".join(
            [
                '        <AuthorList CompleteYN="Y">\n',
                *(
                    f'          <Author ValidYN="Y"><LastName>{name}</LastName><ForeName>{name}'
                    f"</ForeName><Initials>A</Initials>{'' if number else element}</Author>\n"
                    for number, name in enumerate(names)
                ),
                "        </AuthorList>\n",
            ]
        )

    def _chemicals(self, draw: random.Random) -> str:
        return "".join(
            [
                "      <ChemicalList>\n",
                *(
                    "        <Chemical><RegistryNumber>0</RegistryNumber>"
                    f'<NameOfSubstance UI="D0{draw.randint(1000, 9999)}">{name}</NameOfSubstance>'
                    "</Chemical>\n"
                    for name in draw.choices(self.headings, k=draw.randint(1, 5))
                ),
                "      </ChemicalList>\n",
            ]
        )

    def _headings(self, draw: random.Random) -> str:
        return "".join(
            [
                "      <MeshHeadingList>\n",
                *(
                    f'        <MeshHeading><DescriptorName UI="D0{draw.randint(1000, 9999)}" '
                    f'MajorTopicYN="N">{name}</DescriptorName><QualifierName UI="Q000378" '
                    'MajorTopicYN="Y">metabolism</QualifierName></MeshHeading>\n'
                    for name in draw.sample(self.headings, k=draw.randint(5, 15))
                ),
                "      </MeshHeadingList>\n",
            ]
        )

    def _references(self, draw: random.Random) -> str:
        if draw.random() < 0.8:
            return ""
        return "".join(
            [
                "      <ReferenceList>\n",
                *(
                    f"        <Reference><Citation>{sentence[:60]} 1998;3:1-9</Citation>"
                    f'<ArticleIdList><ArticleId IdType="pubmed">{draw.randint(1, 9_999_999)}'
                    "</ArticleId></ArticleIdList></Reference>\n"
                    for sentence in draw.choices(self.sentences, k=draw.randint(5, 30))
                ),
                "      </ReferenceList>\n",
            ]
        )
