"""PubMed's XML becomes articles, with all text, headings and dates; unsound files are refused."""

import gzip
import io
from itertools import chain, islice, repeat

import psutil
import pytest
from pubmed_files import DOCTYPE, article, article_set, citation, deletion

from irplatform.collections.pubmed import Article, Deleted, read_articles
from irplatform.errors import InputError


def read(content, name="pubmed.xml"):
    return list(read_articles(io.BytesIO(content), name))


def one(entry):
    (found,) = read(article_set(entry))
    return found


def with_parts(body="", after="", data=""):
    """An article with more elements in its Article, after that, and in its PubmedData."""
    entry = article(7, "A title.")
    entry = entry.replace("</Article>", f"{body}</Article>{after}", 1)
    return one(entry.replace("</PubmedData>", f"{data}</PubmedData>"))


def with_date(inside, data=""):
    entry = article(7, "A title.").replace("<Year>2016</Year>", inside)
    found = one(entry.replace("</PubmedData>", f"{data}</PubmedData>"))
    return found.year, found.date


def test_an_article_has_number_title_abstract_and_headings():
    found = one(article(12, "A title.", "Some text.", mesh=("Humans", "Neoplasms")))
    assert found == Article(
        "12",
        title="A title.",
        abstract="Some text.",
        mesh=("Humans", "Neoplasms"),
        year="2016",
        date="2016",
        language=("eng",),
    )


def test_markup_and_formulas_inside_a_text_are_text():
    math = (
        '<mml:math xmlns:mml="http://www.w3.org/1998/Math/MathML"><mml:semantics><mml:mi>x</mml:mi>'
        "<mml:annotation>\\frac</mml:annotation></mml:semantics></mml:math>"
    )
    found = one(
        article(1, "<i>BRAF</i> V600<sup>E</sup> &lt; H<sub>2</sub>O", f"Of {math} and\n y")
    )
    assert found.title == "BRAF V600E < H2O"
    assert found.abstract == "Of x and y"


def test_a_comment_inside_a_text_is_not_text():
    assert one(article(1, "One<!-- no --> two")).title == "One two"


def test_a_character_named_in_the_dtd_is_that_character():
    assert one(article(1, "Caf&eacute; &alpha;-actin")).title == "Café α-actin"


def test_sections_of_an_abstract_keep_their_labels_and_the_copyright_goes():
    sections = (
        '<AbstractText Label="AIMS:" NlmCategory="OBJECTIVE">To see.</AbstractText>'
        '<AbstractText Label="METHODS"><b>Looked</b>.</AbstractText><AbstractText Label="NONE"/>'
        '<AbstractText Label="UNLABELLED">Seen.</AbstractText>'
        "<CopyrightInformation>© Somebody</CopyrightInformation>"
    )
    assert one(article(1, "T", sections)).abstract == "AIMS: To see. METHODS: Looked. Seen."


def test_an_abstract_from_elsewhere_serves_where_there_is_none_english_first():
    others = (
        '<OtherAbstract Type="Publisher" Language="fre"><AbstractText>Oui</AbstractText>'
        '</OtherAbstract><OtherAbstract Type="Publisher" Language="eng"><AbstractText>Yes'
        "</AbstractText></OtherAbstract>"
    )
    assert with_parts(after=others).abstract == "Yes"
    assert with_parts("<Abstract><AbstractText>Own</AbstractText></Abstract>", others).abstract == (
        "Own"
    )
    only = '<OtherAbstract Language="fre"><AbstractText>Oui</AbstractText></OtherAbstract>'
    assert with_parts(after=only).abstract == "Oui"


@pytest.mark.parametrize(
    ("title", "language", "vernacular", "expected"),
    [
        ("[On genes].", "ger", "Über Gene.", "On genes."),
        ("[On genes.]", "ger", "", "On genes."),
        ("[Why?].", "ger", "", "Why?"),
        ("[Not Available].", "ger", "Über Gene.", "Über Gene."),
        ("[18F]FDG in [sic].", "ger", "", "[18F]FDG in [sic]."),
        ("[An editorial].", "eng", "", "[An editorial]."),
        ("", "ger", "Über Gene.", "Über Gene."),
    ],
)
def test_a_translated_title_loses_its_brackets(title, language, vernacular, expected):
    entry = article(1, title).replace("<Language>eng", f"<Language>{language}")
    entry = entry.replace(
        "</Article>", f"<VernacularTitle>{vernacular}</VernacularTitle></Article>"
    )
    found = one(entry)
    assert (found.title, found.vernacular_title) == (expected, vernacular)


def test_headings_are_main_subjects_by_themselves_or_by_a_qualifier():
    headings = """<MeshHeadingList>
        <MeshHeading><DescriptorName MajorTopicYN="N">Humans</DescriptorName></MeshHeading>
        <MeshHeading><DescriptorName MajorTopicYN="Y">Mice</DescriptorName></MeshHeading>
        <MeshHeading><DescriptorName MajorTopicYN="N">Melanoma</DescriptorName>
          <QualifierName MajorTopicYN="N">genetics</QualifierName>
          <QualifierName MajorTopicYN="Y">drug therapy</QualifierName></MeshHeading>
        </MeshHeadingList>"""
    found = with_parts(after=headings)
    assert found.mesh == ("Humans", "Mice", "Melanoma")
    assert found.mesh_major == ("Mice", "Melanoma")
    assert found.mesh_qualified == ("Melanoma/genetics", "Melanoma/drug therapy")


def test_everything_else_of_a_record_is_a_field():
    found = with_parts(
        body="<PublicationTypeList><PublicationType>Review</PublicationType></PublicationTypeList>"
        '<ELocationID EIdType="pii">x</ELocationID><ELocationID EIdType="doi">10.1/a</ELocationID>',
        after="<MedlineJournalInfo><MedlineTA>J Test</MedlineTA></MedlineJournalInfo>"
        "<ChemicalList><Chemical><RegistryNumber>0</RegistryNumber>"
        "<NameOfSubstance>Water</NameOfSubstance></Chemical></ChemicalList>"
        "<SupplMeshList><SupplMeshName>COVID-19</SupplMeshName></SupplMeshList>"
        '<KeywordList Owner="NOTNLM"><Keyword>one</Keyword><Keyword>two</Keyword></KeywordList>'
        '<KeywordList Owner="NLM"><Keyword>two</Keyword></KeywordList>'
        "<GeneSymbolList><GeneSymbol>myc</GeneSymbol></GeneSymbolList>",
        data='<ArticleIdList><ArticleId IdType="pmc">PMC5</ArticleId></ArticleIdList>',
    )
    assert found.publication_types == ("Review",)
    assert (found.doi, found.pmc, found.journal) == ("10.1/a", "PMC5", "J Test")
    assert (found.chemicals, found.supplementary) == (("Water",), ("COVID-19",))
    assert (found.keywords, found.genes) == (("one", "two"), ("myc",))


def test_identifiers_of_references_are_not_the_articles_own():
    found = with_parts(
        data="<ReferenceList><Reference><ArticleIdList><ArticleId IdType='doi'>10.1/other"
        "</ArticleId></ArticleIdList></Reference></ReferenceList>"
    )
    assert found.doi == ""


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<Year>2016</Year><Month>Mar</Month><Day>9</Day>", ("2016", "2016-03-09")),
        ("<Year>2016</Year><Month>03</Month>", ("2016", "2016-03")),
        ("<Year>2016</Year><Season>Spring</Season>", ("2016", "2016")),
        ("<Year>2016</Year><Month>Thermidor</Month><Day>9</Day>", ("2016", "2016")),
        ("<MedlineDate>1998 Dec-1999 Jan</MedlineDate>", ("1998", "1998")),
        ("<MedlineDate>1975 Jun 3</MedlineDate>", ("1975", "1975-06-03")),
        ("<MedlineDate>Winter 1994-95</MedlineDate>", ("1994", "1994")),
        ("<MedlineDate>2000-2001</MedlineDate>", ("2000", "2000")),
        ("<MedlineDate>no date</MedlineDate>", ("", "")),
        ("", ("", "")),
    ],
)
def test_a_date_is_as_exact_as_it_is_plain(inside, expected):
    assert with_date(inside) == expected


def test_without_a_date_of_the_issue_that_of_the_entry_counts():
    history = (
        '<History><PubMedPubDate PubStatus="pubmed"><Year>2001</Year><Month>2</Month><Day>3</Day>'
        "</PubMedPubDate></History>"
    )
    assert with_date("", history) == ("2001", "2001-02-03")


def test_the_older_format_without_pubmeds_data_is_read_too():
    content = article_set(citation(1, "One"), citation(2, "Two"), root="MedlineCitationSet")
    assert [found.title for found in read(content)] == ["One", "Two"]


def test_deletions_are_told_and_books_passed_over():
    book = "<PubmedBookArticle><BookDocument><PMID>3</PMID></BookDocument></PubmedBookArticle>"
    found = read(article_set(article(1, "T", version=2), book, deletion(4, 5)))
    assert [entry.pmid for entry in found] == ["1", "4", "5"]
    assert (found[0].version, found[1:]) == (2, [Deleted("4"), Deleted("5")])


def test_a_document_has_the_fields_that_are_asked_for_and_not_empty():
    found = one(article(12, "T", "A", mesh=("Humans",)))
    assert found.document().fields == {
        "mesh": ("Humans",),
        "year": "2016",
        "date": "2016",
        "language": ("eng",),
    }
    assert found.document(("mesh", "doi")).fields == {"mesh": ("Humans",)}
    assert found.document().text == "T A"


def test_a_file_without_articles_is_empty():
    assert read(article_set()) == []


def laughs(depth=9):
    steps = "".join(f'<!ENTITY lol{n + 1} "{f"&lol{n};" * 10}">\n' for n in range(depth))
    return f'<!DOCTYPE PubmedArticleSet [\n<!ENTITY lol0 "lol">\n{steps}]>\n'


BAD = {
    "entities that expand": (
        article_set(article(1, "&lol9;"), doctype=laughs()),
        r"^x.xml:3: the entity 'lol0' is declared here",
    ),
    "an entity that names a file": (
        article_set(
            article(1, "&e;"),
            doctype='<!DOCTYPE PubmedArticleSet [<!ENTITY e SYSTEM "file:///etc/passwd">]>\n',
        ),
        r"^x.xml:2: the entity 'e' is declared",
    ),
    "a parameter entity": (
        article_set(doctype='<!DOCTYPE PubmedArticleSet [<!ENTITY % e SYSTEM "http://x/">%e;]>\n'),
        r"^x.xml:2: the entity 'e' is declared",
    ),
    "a page": (b"<!DOCTYPE html>\n<html><body>Error</body></html>", r"^x.xml:2: .*<html>"),
    "an answer": (b"<eFetchResult><ERROR>no</ERROR></eFetchResult>", r"^x.xml:1: .*<eFetchResult>"),
    "text": (b"not XML", r"^x.xml:1: this is not XML"),
    "nothing": (b"", r"^x.xml:1: this is not XML \(no element found\)"),
    "a tag that is not closed": (
        article_set(article(1, "T")).replace(b"</Journal>", b""),
        r"^x.xml:\d+: this is not well-formed XML",
    ),
    "an end that is missing": (
        article_set(article(1, "T"), article(2, "T"))[:-60],
        r"^x.xml:1\d: this is not well-formed XML",
    ),
    "no number": (article_set(article("")), r"^x.xml:\d+: an article without a PMID"),
    "no number at all": (
        article_set(article(1)).replace(b'<PMID Version="1">1</PMID>', b""),
        r"^x.xml:4: an article without a PMID",
    ),
    "a number that is none": (article_set(article("12a")), r"^x.xml:5: .*'12a'"),
    "a deletion without a number": (article_set(deletion("")), r"^x.xml:4: .*without a PMID"),
    "an article without a citation": (
        article_set("<PubmedArticle/>"),
        r"^x.xml:4: an article without a MedlineCitation",
    ),
    "bytes that are not UTF-8": (
        article_set(article(1, "T")).replace(b"T<", b"\xff<"),
        r"^x.xml:\d+: this is not",
    ),
}


@pytest.mark.parametrize("content, message", BAD.values(), ids=BAD.keys())
def test_what_is_not_sound_is_refused_with_its_line(content, message):
    with pytest.raises(InputError, match=message) as refused:
        read(content, "x.xml")
    assert "\n" not in str(refused.value)


def test_a_file_that_is_cut_off_is_refused_where_it_ends():
    whole = gzip.compress(article_set(*(article(n, f"T {n * 7919}") for n in range(1, 2000))))
    with (
        gzip.open(io.BytesIO(whole[: len(whole) // 2])) as stream,
        pytest.raises(InputError, match=r"^x.gz:\d{3,}: this is not a whole gzip file"),
    ):
        list(read_articles(stream, "x.gz"))


def test_no_external_dtd_is_looked_for(tmp_path):
    dtd = tmp_path / "pubmed.dtd"
    dtd.write_text('<!ENTITY secret "from the DTD">')
    doctype = f'<!DOCTYPE PubmedArticleSet SYSTEM "{dtd}">\n'
    (found,) = read(article_set(article(1, "A &secret; b"), doctype=doctype))
    assert "from the DTD" not in found.title


def test_a_stream_of_many_articles_is_not_kept():
    entry = article(1, "T", "word " * 2_000).encode()
    pieces = chain([article_set()[: -len("</PubmedArticleSet>\n")]], repeat(entry, 6_000))

    class Endless(io.RawIOBase):
        """A file of 60 MB that is made as it is read, an article at a time."""

        def read(self, _size=-1):
            return next(pieces, b"</PubmedArticleSet>" if not self.closed else b"")

    process = psutil.Process()
    memory = [
        process.memory_info().rss
        for number, _ in enumerate(islice(read_articles(Endless(), "x"), 5_990))
        if number % 500 == 100
    ]
    assert max(memory) - memory[0] < 15 << 20


def test_the_official_doctype_is_accepted():
    assert "<!DOCTYPE" in DOCTYPE
    assert len(read(article_set(article(1), doctype=DOCTYPE))) == 1


@pytest.mark.parametrize(
    ("written", "title"),
    [
        ("BRAF<sup>V600E</sup> cells", "BRAF V600E cells"),
        ("<i>Kras</i><sup>G12D/+</sup> mice", "Kras G12D/+ mice"),
        ("BRAF<sup>mut</sup>", "BRAF mut"),
        ("V600<sup>E</sup>", "V600E"),
        ("CD4<sup>+</sup> and Ca<sup>2+</sup>", "CD4+ and Ca2+"),
        ("10<sup>5</sup> cells, 10<sup>-3</sup> M", "10^5 cells, 10^-3 M"),
        ("m<sup>2</sup> on the 9<sup>th</sup> day", "m2 on the 9th day"),
        ("<sup>99</sup>Tc and H<sub>2</sub>O", "99Tc and H2O"),
    ],
)
def test_raised_words_are_words_and_powers_no_other_numbers(written, title):
    assert one(article(1, written, "text")).title == title
