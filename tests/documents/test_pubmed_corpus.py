"""A folder of PubMed's files is a corpus: each article once, as the newest file has it."""

import gzip
from itertools import islice
from pathlib import Path

import pytest
from pubmed_files import article, article_set, deletion, write_gz

from irplatform.collections.names import open_path
from irplatform.documents import pubmed_files as baseline
from irplatform.documents.pubmed import FIELDS as FIELDS_OF_PUBMED
from irplatform.documents.pubmed_files import Member, NumberSet, PubmedCorpus, latest, pack
from irplatform.errors import InputError

FIELDS = ("mesh",)


def packed(path, *entries):
    result = pack(write_gz(path, article_set(*entries)), FIELDS)
    return [document.title for _, document in result.documents()], [*result.deleted]


def write(folder, number, *entries):
    return write_gz(folder / f"pubmed24n{number:04}.xml.gz", article_set(*entries))


def texts(corpus):
    return {document.id: document.title for document in corpus}


def test_a_file_has_the_last_word_on_its_own_articles(tmp_path):
    path = tmp_path / "a.xml.gz"
    first, second = article(1, "v1", version=1), article(1, "v2", version=2)
    assert packed(path, first, second, article(3, "c")) == (["v2", "c"], [])
    assert packed(path, second, article(3, "c"), first) == (["v2", "c"], [])
    assert packed(path, article(1, "one"), article(1, "again")) == (["again"], [])
    assert packed(path, first, article(2, "b"), deletion(1)) == (["b"], [1])
    assert packed(path, deletion(1), first) == (["v1"], [1])
    assert packed(path, first, deletion(1), second, first) == (["v2"], [1])


def test_articles_survive_packing_whole(tmp_path):
    path = write(tmp_path, 1, *(article(n, f"T{n}", "é", mesh=("A", "B")) for n in range(1, 1203)))
    documents = list(pack(path, FIELDS).documents())
    assert [number for number, _ in documents] == [*range(1, 1203)]
    assert documents[7][1].fields == {"mesh": ("A", "B")}
    assert documents[7][1].text == "T8 é"


def test_later_files_replace_and_delete(tmp_path):
    files = [
        write(tmp_path, 9, article(1, "old"), article(2, "kept"), article(3, "gone")),
        write(tmp_path, 10, article(1, "newer"), article(4, "new"), deletion(3)),
        write(tmp_path, 11, article(1, "newest"), article(5, "short-lived"), deletion(5)),
        write(tmp_path, 12, article(3, "back again")),
    ]
    corpus = PubmedCorpus("pubmed", files[::-1], FIELDS)
    assert texts(corpus) == {"1": "newest", "2": "kept", "3": "back again", "4": "new"}
    assert [document.id for document in corpus] == ["3", "1", "4", "2"]
    assert corpus.count() == 4


def test_the_numbers_in_the_names_tell_which_file_is_newer(tmp_path):
    names = ["b/pubmed24n0010.xml.gz", "a/pubmed24n1220.xml.gz", "c/pubmed24n0009.xml.gz"]
    corpus = PubmedCorpus("p", [tmp_path / name for name in names])
    assert [path.name[9:13] for path in corpus.files] == ["0009", "0010", "1220"]


def test_any_number_of_workers_gives_the_same_documents(tmp_path):
    files = [
        write(tmp_path, part, *(article(n, f"{part}") for n in range(part, 40, part)))
        for part in range(1, 6)
    ]
    expected = list(latest(files[::-1], FIELDS, workers=1))
    assert len(expected) == 39
    assert list(latest(files[::-1], FIELDS, workers=3)) == expected


def test_a_stream_can_be_left_early_and_begun_again(tmp_path):
    corpus = PubmedCorpus("p", [write(tmp_path, n, article(n, "T")) for n in range(1, 6)])
    assert [document.id for document in islice(corpus, 2)] == ["5", "4"]
    assert corpus.count() is None
    assert len(list(corpus)) == corpus.count() == 5


def test_files_inside_other_files_are_read_under_their_names():
    with pytest.raises(
        InputError, match=r"^part1\.tar\.gz/n1\.xml\.gz:1: this is not a whole gzip"
    ):
        pack(Member("part1.tar.gz/n1.xml.gz", gzip.compress(b"<a/>")[:-9]), FIELDS)
    with pytest.raises(InputError, match=r"^part1\.tar\.gz/n1\.xml\.gz:1: this is not well-formed"):
        pack(Member("part1.tar.gz/n1.xml.gz", b"no gzip"), FIELDS)


def test_an_error_in_a_worker_names_file_and_line(tmp_path):
    files = [write(tmp_path, n, article(n, "T")) for n in range(1, 5)]
    write_gz(files[1], article_set(article("", "T")))
    with pytest.raises(InputError, match=rf"^{files[1]}:\d+: an article without a PMID"):
        list(PubmedCorpus("p", files))


def test_a_set_of_numbers_knows_what_is_new():
    number_set = NumberSet()
    numbers = [5, 0, 5, 134_000_000, 7, 134_000_000, 0, 8]
    assert [number_set.add(number) for number in numbers] == [
        True, True, False, True, True, False, False, True,
    ]  # fmt: skip


def test_what_a_corpus_is_depends_on_content_and_fields_and_not_on_the_place(tmp_path):
    def corpus(folder, title="T", fields=FIELDS):
        return PubmedCorpus("p", [write(tmp_path / folder, 1, article(1, title))], fields)

    assert corpus("a").fingerprint == corpus("b").fingerprint
    assert corpus("a").fingerprint != corpus("c", "U").fingerprint
    with_year = corpus("a", fields=("mesh", "year"))
    assert corpus("a").fingerprint != with_year.fingerprint
    assert corpus("a").same_documents(with_year)
    assert not corpus("c", "U").same_documents(with_year)


TOML = """id = "pm-2020"
[documents]
format = "pubmed-xml"
files = ["baseline", "updatefiles/*.xml.gz"]
{more}
[topics]
file = "topics.xml"
format = "trec-pm"
query = "{{disease}} {{gene}} {{treatment}}"
"""


@pytest.fixture
def declared(tmp_path):
    """Writes a collection.toml with some further keys of its documents, and what it names."""

    def declare(more=""):
        write(tmp_path / "baseline", 1, article(1, "old", mesh=("Humans",)), article(2, "kept"))
        write(tmp_path / "updatefiles", 2, article(1, "new", mesh=("Mice",)))
        (tmp_path / "topics.xml").write_text(
            '<topics><topic number="1"><disease>melanoma</disease><gene>BRAF</gene>'
            "<treatment>Dabrafenib</treatment></topic></topics>"
        )
        path = tmp_path / "collection.toml"
        path.write_text(TOML.format(more=more))
        return path

    return declare


def test_a_collection_can_have_pubmeds_files_as_documents(declared):
    collection = open_path(declared())
    assert texts(collection.corpus) == {"1": "new", "2": "kept"}
    assert collection.corpus.fields == baseline.DEFAULT_FIELDS
    assert [d.fields.get("mesh") for d in collection.corpus] == [("Mice",), None]
    (topic,) = collection.load_topics()
    assert topic.query == "melanoma BRAF Dabrafenib"
    assert topic.fields == {"disease": "melanoma", "gene": "BRAF", "treatment": "Dabrafenib"}


def test_the_fields_of_its_documents_can_be_chosen(declared):
    corpus = open_path(declared('fields = ["mesh_major"]')).corpus
    assert corpus.fields == ("mesh_major",)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (
            'fields = ["mesh", "mehs"]',
            "'mehs' is not a field of PubMed's articles. Did you mean 'mesh'?",
        ),
        ('id = "pmid"', "'id' is a key of JSON lines; with format 'pubmed-xml' remove it"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused(declared, more, message):
    path = declared(more)
    with pytest.raises(InputError) as refused:
        open_path(path)
    assert str(refused.value).startswith(f"{path}: [documents] ")
    assert message in str(refused.value)


def test_files_that_are_not_there_are_named(declared):
    path = declared()
    Path(path.parent / "updatefiles/pubmed24n0002.xml.gz").unlink()
    with pytest.raises(InputError, match=r"\[documents\] there are no files .*updatefiles/\*"):
        open_path(path)


CHAPTER = """<PubmedBookArticle><BookDocument><PMID Version="1">20301001</PMID><ArticleIdList>
<ArticleId IdType="bookaccession">NBK1</ArticleId><ArticleId IdType="doi">10.1/c</ArticleId>
</ArticleIdList><Book><BookTitle>Reviews</BookTitle><PubDate><Year>1993</Year></PubDate></Book>
{title}<Language>eng</Language><PublicationType UI="D1">Review</PublicationType><Abstract>
<AbstractText Label="DIAGNOSIS">By sequencing.</AbstractText></Abstract><KeywordList>
<Keyword>KIT</Keyword></KeywordList></BookDocument><PubmedBookData></PubmedBookData>
</PubmedBookArticle>
"""


def test_chapters_of_books_and_books_are_articles(tmp_path, capsys):
    chapter = CHAPTER.format(title="<ArticleTitle book='x'>A disease</ArticleTitle>")
    files = [
        write(tmp_path, 1, article(1, "a"), chapter, "<Other/>"),
        write(tmp_path, 2, CHAPTER.format(title="")),
    ]
    corpus = PubmedCorpus("pubmed", files, FIELDS_OF_PUBMED)
    document = {d.id: d for d in PubmedCorpus("pubmed", files[:1], FIELDS_OF_PUBMED)}["20301001"]
    assert (document.title, document.abstract) == ("A disease", "DIAGNOSIS: By sequencing.")
    assert document.fields == {
        "publication_types": ("Review",),
        "keywords": ("KIT",),
        "year": "1993",
        "date": "1993",
        "language": ("eng",),
        "doi": "10.1/c",
        "book": "Reviews",
    }
    assert texts(corpus) == {"20301001": "Reviews", "1": "a"}
    output = capsys.readouterr().err
    assert "chapters of books, and books, among the articles: 2" in output
    assert "ignored records of other kinds than PubMed's articles: 1 <Other>" in output


def test_a_deleted_chapter_and_a_set_of_chapters_alone(tmp_path):
    inner = CHAPTER[CHAPTER.index("<BookDocument") : CHAPTER.index("<PubmedBookData")]
    deleted = "<DeleteDocument><PMID>20301001</PMID></DeleteDocument>"
    newer = article_set(deleted, root="BookDocumentSet")
    alone = article_set(inner.format(title=""), root="BookDocumentSet")
    files = [write_gz(tmp_path / f"b{n}.xml.gz", text) for n, text in enumerate([alone, newer])]
    assert texts(PubmedCorpus("books", files[:1])) == {"20301001": "Reviews"}
    assert texts(PubmedCorpus("books", files)) == {}


@pytest.mark.parametrize("name", ["all.xml", "all.xml.gz"])
@pytest.mark.parametrize("between", ["", "\n\n", "<!-- the next > -->\n", "\ufeff"])
def test_documents_one_after_the_other_in_a_file_are_all_read(tmp_path, name, between):
    parts = [article_set(article(n, f"T{n}" * 9000)) for n in (1, 2)]
    parts += [article_set(), b"<PubmedArticleSet>" + article(3, "c").encode()]
    content = between.encode().join([*parts[:3], parts[3] + b"</PubmedArticleSet\n>", b"\n"])
    path = tmp_path / name
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    assert list(texts(PubmedCorpus("pubmed", [path]))) == ["1", "2", "3"]


@pytest.mark.parametrize("before", ["\n\n", "\ufeff\r\n", "<!-- mine -->\n\n"])
def test_what_stands_before_a_document_is_passed_over(tmp_path, before):
    path = tmp_path / "a.xml"
    declared = b'<?xml version="1.0"?>\n'
    path.write_bytes(before.encode() + article_set(article(1, "a")))
    assert list(texts(PubmedCorpus("pubmed", [path]))) == ["1"]
    path.write_bytes(before.encode() + declared + b"<PubmedArticle/>")
    with pytest.raises(InputError, match=r"begins with <PubmedArticle>, not with") as raised:
        list(PubmedCorpus("pubmed", [path]))
    assert raised.value.line == before.count("\n") + 2


@pytest.mark.parametrize(
    ("second", "line", "message"),
    [
        (b"<PubmedArticleSet>\n<oops>\n</PubmedArticleSet>", 4, "not well-formed XML"),
        (b"<PubmedArticleSet>\n<PubmedArticle/>\n</PubmedArticleSet>", 3, "without a Medline"),
        (b"\n<eFetchResult/>", 3, "begins with <eFetchResult>"),
        (b"API rate limit exceeded", 2, "not well-formed XML"),
    ],
)
def test_an_error_in_a_later_document_has_its_line_in_the_file(tmp_path, second, line, message):
    path = tmp_path / "all.xml"
    path.write_bytes(b"<PubmedArticleSet></PubmedArticleSet>\n" + second)
    with pytest.raises(InputError, match=message) as raised:
        list(PubmedCorpus("pubmed", [path]))
    assert (raised.value.path, raised.value.line) == (path, line)


@pytest.mark.parametrize(
    ("locations", "identifier", "doi"),
    [
        ('<ELocationID EIdType="doi" ValidYN="N">10.1/no</ELocationID>', "10.1/yes", "10.1/yes"),
        ('<ELocationID EIdType="doi" ValidYN="N">10.1/NO</ELocationID>', "10.1/no", ""),
        (
            '<ELocationID EIdType="doi" ValidYN="N">10.1/no</ELocationID>'
            '<ELocationID EIdType="pii">7</ELocationID>'
            '<ELocationID EIdType="doi" ValidYN="Y">10.1/yes</ELocationID>',
            "10.1/no",
            "10.1/yes",
        ),
        ('<ELocationID EIdType="doi">10.1/yes</ELocationID>', "10.1/other", "10.1/yes"),
    ],
)
def test_identifiers_that_pubmed_marks_as_wrong_are_none(tmp_path, locations, identifier, doi):
    entry = (
        article(1, "a")
        .replace("<Language>", f"{locations}<Language>")
        .replace(
            "<PubmedData>",
            '<PubmedData><ArticleIdList><ArticleId IdType="doi">'
            f"{identifier}</ArticleId></ArticleIdList>",
        )
    )
    (document,) = PubmedCorpus("pubmed", [write(tmp_path, 1, entry)], ["doi"])
    assert document.fields.get("doi", "") == doi
