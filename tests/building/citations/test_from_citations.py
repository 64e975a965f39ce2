"""`platform qrels from-citations`, from articles to a collection that can be searched."""

import gzip
import json
import os
import tarfile

import pytest
from commands import call
from jats import Cited, article, mark

from irplatform.building import citation_articles as extraction
from irplatform.registry.loading import registry

LONG = "word " * 60


def _document(doc_id, title, text=LONG, **metadata):
    return {"_id": doc_id, "title": title, "text": text, "metadata": metadata}


@pytest.fixture
def corpus(tmp_path):
    """A collection of four documents: two PMIDs, a DOI in a field, one that is short."""
    folder = tmp_path / "corpus"
    (folder / "qrels").mkdir(parents=True)
    documents = [
        _document("11", "The genome of the nematode C. elegans", year="2001"),
        _document("12", "Cells of a later year than others", year="May 2013"),
        _document("13", "A short one", "Few words.", year="1999"),
        _document("other", "Found by its own DOI field", doi="10.1000/THIRD", year="2005"),
    ]
    (folder / "corpus.jsonl").write_text("".join(f"{json.dumps(d)}\n" for d in documents))
    (folder / "queries.jsonl").write_text('{"_id": "q", "text": "cells"}\n')
    (folder / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\t11\t1\n")
    return folder


CITED = [
    Cited(pmid="11"),
    Cited(pmid="12"),
    Cited(pmid="13"),
    Cited(doi="10.1000/third"),
    Cited(pmid="99"),
    Cited(title="A book without any number"),
]
SENTENCES = [
    f"Worms have small genomes with many known genes {mark(1)}.",
    f"Later cells divide much faster under warm conditions {mark(2)}.",
    f"Short abstracts hardly tell anything about their study {mark(3)}.",
    f"Both genomes and fields matter for finding articles {mark(1)}, {mark(4)}.",
    f"Nobody keeps this particular article among collected works {mark(5)}.",
    f"Books carry no identifier that anyone could resolve {mark(6)}.",
    f"It is so {mark(1)}.",
    f"{'Very long sentences hold many words ' * 12}{mark(1)}.",
    "Sentences without citations never become any queries here.",
]


@pytest.fixture
def articles(tmp_path):
    """Twenty articles that say the same."""
    folder = tmp_path / "articles"
    folder.mkdir()
    for number in range(20):
        text = article(f"10.1000/a{number:02}", SENTENCES, CITED)
        (folder / f"a{number:02}.xml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def platform(capsys, monkeypatch, fresh_home):
    """Runs `platform qrels from-citations … --workers 1`."""

    def run(*arguments):
        return call(capsys, monkeypatch, "qrels", "from-citations", *arguments, "--workers", 1)

    return run


def _rows(path):
    return [line.split("\t") for line in path.read_text().splitlines()[1:]]


def test_sentences_are_judged_cleaned_and_counted(platform, articles, corpus, tmp_path):
    out = tmp_path / "out"
    report = platform(articles, "--out", out, "--collection", f"{corpus}:test", "--json").json
    assert report["read"] == {
        "articles": 20,
        "articles without a mark of their references": 0,
        "sentences": 180,
        "citing sentences": 160,
        "marks that point to no reference": 0,
    }
    assert report["references"] == {
        "listed": 120,
        "cited in the text": 120,
        "with a PMID or DOI in the file": 100,
        "with a PMID or DOI from the table": 0,
        "in the collection": 80,
    }
    assert report["removed"] == {
        "fewer than 5 words without stop words": 20,
        "more than 50 words without stop words": 20,
        "its marks point to no reference": 0,
        "no cited article has a PMID or DOI": 20,
        "no cited article is in the collection": 20,
        "the cited article has fewer than 50 words of title and abstract": 20,
        "the cited article is not from an earlier year": 20,
    }
    assert report["kept"] == 40
    assert sum(report["read"].values()) - 200 - report["kept"] == sum(report["removed"].values())
    assert json.loads((out / "report.json").read_text()) == report
    first = json.loads((out / "queries.jsonl").read_text().splitlines()[0])
    assert first == {
        "_id": "10.1000/a00#1",
        "text": "Worms have small genomes with many known genes.",
        "metadata": {
            "citing_id": "10.1000/a00",
            "section": "Results",
            "year": "2012",
            "published_before": "2012",
        },
    }


def test_an_article_is_in_one_split_and_stays_there(platform, articles, corpus, tmp_path):
    options = ("--collection", f"{corpus}:test", "--split", "50/25/25")
    platform(articles, "--out", tmp_path / "all", *options)
    splits = {}
    for split in ("train", "dev", "test"):
        rows = _rows(tmp_path / "all" / "qrels" / f"{split}.tsv")
        assert rows
        splits |= {row[0].partition("#")[0]: split for row in rows}
        assert {split} == {splits[row[0].partition("#")[0]] for row in rows}
    assert len(splits) == 20
    for name in ("a03.xml", "a07.xml"):
        (articles / name).unlink()
    platform(articles, "--out", tmp_path / "fewer", *options)
    for split in ("train", "dev", "test"):
        rows = _rows(tmp_path / "fewer" / "qrels" / f"{split}.tsv")
        assert all(splits[row[0].partition("#")[0]] == split for row in rows)
    platform(articles, "--out", tmp_path / "seed", *options, "--seed", 7)
    moved = _rows(tmp_path / "seed" / "qrels" / "train.tsv")
    assert moved != _rows(tmp_path / "fewer" / "qrels" / "train.tsv")


def test_what_is_made_is_a_collection(platform, articles, corpus, tmp_path):
    out = tmp_path / "out"
    platform(articles, "--out", out, "--collection", f"{corpus}:test")
    collection = registry().collection(f"{out}:train")
    assert collection.measures == ("Success@1", "Success@10", "Success@20", "Success@100")
    assert {d.id for d in collection.corpus} == {"11", "12", "13", "other"}
    topics = collection.load_topics()
    assert topics[0].query == "Worms have small genomes with many known genes."
    assert set(collection.load_qrels()) == {topic.id for topic in topics}
    grades = [set(g) for g in collection.load_qrels().values()]
    assert {"11", "other"} in grades
    assert {"11"} in grades


def test_titles_and_tables_resolve_what_has_no_identifier(platform, corpus, tmp_path):
    cited = [
        Cited(title="The Genome of the Nematode <italic>C. elegans</italic>."),
        Cited(doi="10.1000/in-the-table"),
    ]
    sentences = [
        f"Titles alone can name an article well enough {mark(1)}.",
        f"Tables translate names of articles into other names {mark(2)}.",
    ]
    (tmp_path / "a.xml").write_text(article("10.1000/a", sentences, cited))
    rows = "Journal,DOI,PMCID,PMID\n{},10.1000/IN-THE-TABLE,PMC7,11\nJ,,PMC8,\nJ,,PMC9,0\nJ,,,0\n"
    table = rows.format('"J, of ""X"""')
    (tmp_path / "ids.csv.gz").write_bytes(gzip.compress(table.encode()))
    parted = rows.replace("\nJ", '\n"a quote').format('"another').replace(",", "\t")
    (tmp_path / "ids.tsv").write_text(parted)
    (tmp_path / "open.csv").write_text(rows.format('"never closed'))
    (tmp_path / "mac.csv").write_text(table.replace("\n", "\r"))
    options = (tmp_path / "a.xml", "--collection", f"{corpus}:test", "--json")

    def outcome_of(name, *more):
        outcome = platform(*options, "--out", tmp_path / name, *more)
        return outcome.json["kept"] if outcome.code == 0 else outcome.err

    assert "no sentence is left" in outcome_of("none")
    assert outcome_of("titles", "--titles") == 1
    assert outcome_of("ids", "--ids", tmp_path / "ids.csv.gz") == 1
    assert outcome_of("tabs", "--ids", tmp_path / "ids.tsv") == 1
    assert outcome_of("both", "--titles", "--ids", tmp_path / "ids.csv.gz") == 2
    assert "open.csv:2: this row cannot be read: unexpected end of data" in outcome_of(
        "open", "--ids", tmp_path / "open.csv"
    )
    assert "mac.csv: the first line has a carriage return (CR) inside" in outcome_of(
        "mac", "--ids", tmp_path / "mac.csv"
    )


def test_articles_without_an_identifier_are_not_taken_for_one_another(platform, tmp_path):
    cited = [Cited(pmid="11")]
    for folder, words in (("a", "first"), ("b", "second"), ("c", "second")):
        (tmp_path / "in" / folder).mkdir(parents=True)
        text = article("", [f"Of the {words} article nobody knows any name {mark(1)}."], cited)
        (tmp_path / "in" / folder / "main.xml").write_text(text)
    report = platform(tmp_path / "in", "--out", tmp_path / "o", "--json").json
    assert (report["kept"], report["read"]["articles read before"]) == (2, 1)


@pytest.mark.parametrize("archive", [False, True])
def test_names_of_files_that_are_not_utf8_are_read(platform, tmp_path, archive):
    source = tmp_path / "in"
    source.mkdir()
    name = os.fsdecode(b"caf\xe9.xml")
    (source / name).write_text(article("", SENTENCES, CITED))
    (source / os.fsdecode(b"broken\xe9.xml")).write_text("<article>")
    if archive:
        with tarfile.open(tmp_path / "in.tar", "w") as packed:
            packed.add(source, "in")
        source = tmp_path / "in.tar"
    outcome = platform(source, "--out", tmp_path / "o", "--skip-unreadable")
    assert outcome.code == 0, outcome.err
    assert "broken\ufffd.xml" in outcome.err
    assert '"citing_id":"caf\ufffd.xml-' in (tmp_path / "o/queries.jsonl").read_text()


def test_where_nothing_is_left_no_file_is_blamed_and_the_remedy_told(platform, tmp_path):
    cited = [Cited(title="A book without any number")]
    sentences = [f"Books carry no identifier that anyone could resolve {mark(1)}."]
    book, broken = tmp_path / "book.xml", tmp_path / "broken.xml"
    book.write_text(article("10.1000/a", sentences, cited))
    broken.write_text("<article>")
    result = platform(broken, book, "--out", tmp_path / "o", "--skip-unreadable")
    assert result.code == 2
    assert result.err.splitlines()[-1] == (
        "platform: no sentence of 2 files is left (1: files could not be read, 1: no cited article "
        "has a PMID or DOI). --ids TABLE, or --collection with --titles, finds more of the cited "
        "articles."
    )
    assert "book.xml: no sentence is left (1: no" in platform(book, "--out", tmp_path / "o").err
    unread = platform(broken, "--out", tmp_path / "o", "--skip-unreadable").err
    assert "broken.xml: no sentence is left (1: files could not be read, none cites).\n" in unread


def test_an_article_whose_marks_are_numbers_alone_is_told(platform, tmp_path):
    unmarked, marked = tmp_path / "unmarked.xml", tmp_path / "marked.xml"
    sentence = "Resistance was frequently observed in treated melanoma patients"
    unmarked.write_text(article("10.1000/a", [f"{sentence} [1]."], [Cited("1001")]))
    marked.write_text(article("10.1000/b", [f"{sentence} {mark(1)}."], [Cited("1001")]))
    alone = platform(unmarked, "--out", tmp_path / "o")
    assert alone.code == 2
    assert alone.err.endswith(
        "unmarked.xml: no sentence is left (none cites). In 1 article no <xref> points to the "
        "references; numbers in the text alone, such as [3], are not read as marks.\n"
    )
    result = platform(unmarked, marked, "--out", tmp_path / "o", "--json")
    assert result.json["read"]["articles without a mark of their references"] == 1


def test_a_title_of_two_documents_names_neither(platform, corpus, tmp_path):
    with (corpus / "corpus.jsonl").open("a") as file:
        file.write(f"{json.dumps(_document('14', 'The genome of the nematode C. elegans'))}\n")
    cited = [Cited(title="The genome of the nematode C. elegans")]
    sentences = [f"Titles alone can name an article well enough {mark(1)}."]
    (tmp_path / "a.xml").write_text(article("10.1000/a", sentences, cited))
    outcome = platform(
        tmp_path / "a.xml", "--out", tmp_path / "o", "--collection", f"{corpus}:test", "--titles"
    )
    assert outcome.code == 2
    assert "no sentence is left" in outcome.err


def test_without_a_collection_cited_articles_go_by_pmid_or_doi(platform, articles, tmp_path):
    outcome = platform(articles, "--out", tmp_path / "out")
    assert outcome.code == 0
    assert "without --collection" in outcome.out
    rows = _rows(tmp_path / "out" / "qrels" / "train.tsv")
    assert {row[1] for row in rows} == {"11", "12", "13", "10.1000/third", "99"}
    assert not (tmp_path / "out" / "corpus.toml").exists()


def test_an_archive_gives_the_same_as_its_files_and_an_article_twice_counts_once(
    platform, articles, corpus, tmp_path
):
    with tarfile.open(tmp_path / "all.tar.gz", "w:gz") as archive:
        for path in sorted(articles.iterdir()):
            archive.add(path, path.name)
    options = ("--collection", f"{corpus}:test")
    platform(articles, "--out", tmp_path / "a", *options)
    platform(tmp_path / "all.tar.gz", "--out", tmp_path / "b", *options)
    result = platform(
        articles, tmp_path / "all.tar.gz", "--out", tmp_path / "c", *options, "--json"
    )
    assert result.json["read"]["articles read before"] == 20
    for name in ("queries.jsonl", "qrels/train.tsv", "qrels/test.tsv"):
        contents = [(tmp_path / folder / name).read_bytes() for folder in "abc"]
        assert contents[0] == contents[1] == contents[2]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"no XML", "bad.xml:1: this is not XML"),
        (b"<article><body>", "bad.xml:1: this is not XML"),
        (
            b'<!DOCTYPE article [\n<!ENTITY a SYSTEM "file:///etc/passwd">\n]><article>&a;</article>',
            "bad.xml:2: this file declares entities",
        ),
    ],
)
def test_a_bad_file_stops_everything_and_leaves_nothing(
    platform, articles, tmp_path, content, message
):
    (articles / "bad.xml").write_bytes(content)
    outcome = platform(articles, "--out", tmp_path / "out")
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["articles", "home"]
    skipped = platform(articles, "--out", tmp_path / "out", "--skip-unreadable", "--json")
    assert skipped.json["read"]["files left out"] == 1
    assert message in skipped.err


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("PMID\tTitle\n1\tx\n", "ids:1: the first line needs two or more"),
        ("", "nothing in this file"),
        (b"PMID\tDOI\n1\t\xff\n", "ids:2: byte 3 of this line is not UTF-8"),
    ],
)
def test_a_bad_table_is_refused(platform, articles, tmp_path, table, message):
    (tmp_path / "ids").write_bytes(table if isinstance(table, bytes) else table.encode())
    outcome = platform(articles, "--out", tmp_path / "out", "--ids", tmp_path / "ids")
    assert outcome.code == 2
    assert message in outcome.err
    assert not (tmp_path / "out").exists()


def test_wrong_options_are_refused(platform, articles, tmp_path):
    for options, message in (
        (["--split", "80/10"], "80/10"),
        (["--titles"], "give --collection, too"),
        (["--collection", str(tmp_path / "nothing")], "there is no such folder or file"),
        (["--max-words", "-3"], "--max-words is -3; it must be at least 0."),
        (["--max-words", "4"], "no sentence has at least 5 words and at most 4: raise --max-words"),
        (["--min-words", "51"], "no sentence has at least 51 words and at most 50"),
        (["--min-words", "40"], "no sentence of 20 files is left (140: fewer than 40"),
    ):
        outcome = platform(articles, "--out", tmp_path / "out", *options)
        assert outcome.code == 2, options
        assert message in outcome.err
        assert not (tmp_path / "out").exists()


def test_a_folder_is_read_once_however_its_name_is_spelled(
    platform, articles, tmp_path, monkeypatch, fresh_home
):
    monkeypatch.chdir(tmp_path)
    for number, spelled in enumerate(("articles", articles, "./articles/../articles")):
        assert platform(spelled, "--out", tmp_path / str(number)).code == 0
    assert len(list((fresh_home / "citing-sentences").glob("*/manifest.json"))) == 1


def test_an_interrupted_reading_goes_on_and_ends_the_same(
    platform, articles, tmp_path, monkeypatch
):
    platform(articles, "--out", tmp_path / "whole")
    for name in ("_CHUNK", "_CHUNKS_A_PART"):
        monkeypatch.setattr(extraction, name, 2)
    monkeypatch.setattr(extraction, "_FORMAT", "another")
    real, read = extraction.read_articles, []

    def dies_at_the_eleventh(content, name):
        read.append(name)
        if len(read) == 11:
            raise KeyboardInterrupt
        return real(content, name)

    monkeypatch.setattr(extraction, "read_articles", dies_at_the_eleventh)
    assert platform(articles, "--out", tmp_path / "again").code == 130
    assert not (tmp_path / "again").exists()
    outcome = platform(articles, "--out", tmp_path / "again")
    assert "going on after 8 files" in outcome.err
    assert len(read) == 11 + 12
    for name in ("queries.jsonl", "report.json", "qrels/train.tsv"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()


@pytest.mark.slow
def test_processes_find_what_one_finds(capsys, monkeypatch, fresh_home, articles, tmp_path):
    monkeypatch.setattr(extraction, "_CHUNK", 2)
    for workers in (1, 2):
        monkeypatch.setattr(extraction, "_FORMAT", workers)
        call(
            capsys, monkeypatch, "qrels", "from-citations", articles,
            "--out", tmp_path / str(workers), "--workers", workers,
        )  # fmt: skip
    for name in ("queries.jsonl", "report.json", "qrels/train.tsv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()
