"""Articles' files: what is read, and what is refused with file and line."""

import gzip
import io
import tarfile
from dataclasses import asdict

import pytest
from jats import Cited, article, mark

from irplatform.building.citation_articles import CitingArticle, find_sources, members, read_article
from irplatform.building.citation_references import read_articles
from irplatform.errors import InputError

GOOD = article("10.1000/a", [f"Sentence one cites {mark(1)}."], [Cited("1")]).encode()

BOMB = (
    b'<?xml version="1.0"?>\n<!DOCTYPE article [\n<!ENTITY a "ha">\n<!ENTITY b "&a;&a;&a;">\n]>\n'
    b"<article><body><p>&b;</p></body></article>"
)
EXTERNAL = (
    b'<!DOCTYPE article [\n<!ENTITY secret SYSTEM "file:///etc/passwd">\n]>\n'
    b"<article><body><p>&secret;</p></body></article>"
)
LAUGHS = (
    b'<!DOCTYPE article [<!ENTITY l0 "lol">'
    + b"".join(b'<!ENTITY l%d "%s">' % (n, b"&l%d;" % (n - 1) * 10) for n in range(1, 12))
    + b']><article a="&l11;"><body><p>&l11;</p></body></article>'
)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"plain words", "a.xml:1: this is not XML"),
        (b"", "a.xml:1: this is not XML"),
        (GOOD[:-40], "a.xml:6: this is not XML"),
        (b"<html><body>404</body></html>", "its root is <html>"),
        (BOMB, "a.xml:3: this file declares entities"),
        (EXTERNAL, "a.xml:2: this file declares entities"),
        (BOMB.decode().encode("utf-16"), "this file declares entities"),
        (LAUGHS, "a.xml:1: this"),
    ],
)
def test_what_is_no_article_is_refused(content, message):
    with pytest.raises(InputError) as caught:
        read_articles(content, "a.xml")
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "between", [b"", b"\n\n", b"\r\n\xef\xbb\xbf", b"\n<!-- the next -> one -->\n"]
)
def test_documents_one_after_the_other_in_a_file_are_all_read(between):
    inner = GOOD.split(b"\n", 2)[2]
    sets = b'<?xml version="1.0"?>\n<pmc-articleset>' + inner + inner + b"</pmc-articleset>"
    articles = read_articles(between.join([GOOD.rstrip(), sets, GOOD]), "a.xml")
    assert [article.tag for article in articles] == ["article"] * 4
    with pytest.raises(InputError) as raised:
        read_articles(b"\n".join([GOOD.rstrip(), BOMB]), "a.xml")
    assert raised.value.line == GOOD.rstrip().count(b"\n") + 1 + 3


@pytest.mark.parametrize(
    "before", [b"\n \r\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\n", b"<!-- mine -->\n"]
)
def test_what_stands_before_a_document_is_passed_over(before):
    (article,) = read_articles(before + GOOD, "a.xml")
    assert article.tag == "article"
    with pytest.raises(InputError) as raised:
        read_articles(before + BOMB, "a.xml")
    assert raised.value.line == before.count(b"\n") + 3


def test_articles_without_a_declaration_may_follow_one_another():
    inner = GOOD.split(b"\n", 2)[2].rstrip()
    sub = inner.replace(b"</article>", b"<sub-article><front-stub/></sub-article></article>")
    assert len(read_articles(inner + sub + b"\n\n" + inner, "a.xml")) == 3
    two = b"<pmc-articleset>" + inner + b"\n" + inner + b"</pmc-articleset>"
    assert len(read_articles(two + two, "a.xml")) == 4
    with pytest.raises(InputError, match="Extra content"):
        read_articles(inner + b"\nand more", "a.xml")


def test_the_dtd_that_a_file_names_is_not_fetched_and_its_characters_are_known():
    content = GOOD.replace(b"Sentence one", b"TNF-&alpha; &lt; &nosuch;5")
    (parsed,) = read_articles(content, "a.xml")
    assert read_article(parsed, "a.xml").citing[0].text == "TNF-α < 5 cites."


def test_elements_with_a_namespace_and_several_articles_in_a_file():
    inner = GOOD.split(b"\n", 2)[2]
    content = b'<set xmlns="https://jats.nlm.nih.gov">' + inner + inner + b"</set>"
    assert [read_article(a, "f").id for a in read_articles(content, "f")] == [
        "10.1000/a",
        "10.1000/a",
    ]


def test_only_paragraphs_of_the_body_count():
    inside = (
        "<sec><title>Deep <bold>Results</bold></title><sec><title>Inner</title>"
        f"<p>Cells grow fast {mark(1)}.</p></sec><fig><caption><p>No {mark(1)}.</p></caption></fig>"
        f"<table-wrap><table-wrap-foot><p>No {mark(1)}.</p></table-wrap-foot></table-wrap></sec>"
    )
    content = GOOD.replace(b"<body>", b"<body>" + inside.encode())
    content = content.replace(b"</article-meta>", b"<abstract><p>No.</p></abstract></article-meta>")
    (parsed,) = read_articles(content, "a.xml")
    citing_article = read_article(parsed, "a.xml")
    assert [(s.section, s.text) for s in citing_article.citing] == [
        ("Deep Results", "Cells grow fast."),
        ("Results", "Sentence one cites."),
    ]
    assert (citing_article.sentences, citing_article.listed, citing_article.year) == (2, 1, "2012")
    assert CitingArticle.from_json(asdict(citing_article)) == citing_article


def test_the_year_is_the_first_of_the_dates():
    dates = b"<pub-date><year>2011</year></pub-date><pub-date><year>2013</year></pub-date>"
    (parsed,) = read_articles(GOOD.replace(b"<pub-date>", dates + b"<pub-date>"), "a.xml")
    assert read_article(parsed, "a.xml").year == "2011"


def test_folders_archives_and_packed_files_are_read_in_order(tmp_path):
    (tmp_path / "sub").mkdir()
    (tmp_path / "b.nxml").write_bytes(b"b")
    (tmp_path / "sub" / "a.xml.gz").write_bytes(gzip.compress(b"a"))
    (tmp_path / "notes.txt").write_text("no")
    (tmp_path / "._b.nxml").write_bytes(b"\x00\x05\x16\x07Mac OS X")
    with tarfile.open(tmp_path / "c.tar.gz", "w:gz") as archive:
        for name in ("../../evil.xml", "/abs.nxml", "readme.txt", "in/._x.xml", "in/x.xml.gz"):
            content = gzip.compress(b"x") if name.endswith("gz") else name.encode()
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
        link = tarfile.TarInfo("link.xml")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    before = sorted(tmp_path.rglob("*"))
    read = [member.read() for member in members(find_sources([tmp_path]))]
    assert read == [b"b", b"../../evil.xml", b"/abs.nxml", b"x", b"a"]
    assert sorted(tmp_path.rglob("*")) == before
    assert not (tmp_path.parent / "evil.xml").exists()


def test_bad_sources_are_named(tmp_path):
    (tmp_path / "a.pdf").write_bytes(b"%PDF")
    (tmp_path / "empty").mkdir()
    for path, message in (
        (tmp_path / "nope.xml", "no such file"),
        (tmp_path / "a.pdf", "there are no articles here"),
        (tmp_path / "empty", "no articles here"),
    ):
        with pytest.raises(InputError, match=message):
            find_sources([path])


@pytest.mark.parametrize("cut", [100, 600])
def test_an_archive_that_is_cut_off_is_refused(tmp_path, cut):
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        info = tarfile.TarInfo("a.xml")
        info.size = len(GOOD)
        archive.addfile(info, io.BytesIO(GOOD))
    content = (tmp_path / "a.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(content[:cut])
    *_, last = members(find_sources([tmp_path / "a.tar"]))
    with pytest.raises(InputError, match=r"a\.tar: this is not a whole tar archive"):
        last.read()


def test_what_can_be_read_of_a_broken_archive_is_kept(tmp_path):
    """With `--skip-unreadable`, where the rest is one of the files left out."""
    with tarfile.open(tmp_path / "a.tar", "w") as archive:
        for name in ("one.xml", "two.xml"):
            info = tarfile.TarInfo(name)
            info.size = len(GOOD)
            archive.addfile(info, io.BytesIO(GOOD))
    content = (tmp_path / "a.tar").read_bytes()
    (tmp_path / "a.tar").write_bytes(content[: 512 + len(GOOD) + -len(GOOD) % 512 + 600])
    first, last = members(find_sources([tmp_path / "a.tar"]))
    assert first.read() == GOOD
    assert last.fault


def test_a_packed_file_that_is_cut_off_is_refused(tmp_path):
    (tmp_path / "a.xml.gz").write_bytes(gzip.compress(GOOD)[:-20])
    (member,) = members(find_sources([tmp_path / "a.xml.gz"]))
    with pytest.raises(InputError, match="not a whole gzip file"):
        member.read()
