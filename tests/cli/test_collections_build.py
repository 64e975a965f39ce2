"""`platform collections build`."""

import gzip
import json

import pytest
from eutils_stand_in import StandIn
from small_pool import ABSTRACTS, arguments, articles, write_archive, write_year

from irplatform.cli.collections_build import build
from irplatform.collections.names import BUILDERS

POOL = ("collections", "build", "trec-pm-pool-2017")


@pytest.fixture
def server(monkeypatch, tmp_path):
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "irds"))
    monkeypatch.delenv("NCBI_API_KEY", raising=False)
    with StandIn(articles(50)) as stand_in:
        monkeypatch.setenv("IRPLATFORM_EUTILS_URL", stand_in.url)
        yield stand_in


@pytest.fixture
def options(folder, server):
    """What it takes to build a small pool without any download."""
    year = write_year(folder / "files", 2017, ["1", "2", "3", "60", *ABSTRACTS])
    partner = write_year(folder / "files", 2018, ["3", "4", "5"])
    archive = write_archive(folder / "extra.tar.gz")
    return [*arguments(year, partner), "--rate", "1000", "--extra-abstracts", str(archive)]


def test_every_builder_has_a_command_of_its_name():
    assert set(BUILDERS) == set(build.commands)


def test_a_pool_is_built_named_and_found(platform, options):
    built = platform(*POOL, *options)
    assert built.code == 0, built.err
    assert "7 documents in" in built.out
    assert "not there: 1 judged document (PubMed does not have it)" in built.out
    assert "platform run --collection trec-pm-pool-2017" in built.out
    facts = platform("collections", "show", "trec-pm-pool-2017", "--json").json
    assert facts["training"] == "trec-pm-pool-2018"
    assert facts["judgments"]["documents"] == 6
    assert platform("collections", "check", "trec-pm-pool-2018").code == 0


def test_as_json(platform, options, folder):
    facts = platform(*POOL, *options, "--out", "pool", "--json").json
    assert facts["collection"] == "trec-pm-pool-2017"
    assert facts["path"] == str(folder / "pool/collection.toml")
    assert facts["documents"] == 7
    assert facts["missing"] == {"60": "PubMed does not have it"}
    again = platform(*POOL, *options, "--out", "pool", "--json").json
    assert again == {**facts, "built now": False, "documents": None, "missing": None}


def test_a_dry_run_says_what_it_would_fetch_and_leaves_nothing(platform, options, server, folder):
    said = platform(*POOL, *options, "--out", "pool", "--dry-run")
    assert said.code == 0
    assert f"6 articles from {server.url}, at most 1000 calls a second: 1 call" in said.out
    assert "2 conference abstracts from" in said.out
    assert server.calls == []
    assert not list(folder.glob("pool*"))
    assert platform(*POOL, *options, "--dry-run", "--json").json["would_fetch"]


@pytest.mark.parametrize("year", [2017, 2018])
@pytest.mark.parametrize("command", [("collections", "show"), ("run", "--collection")])
def test_a_pool_that_is_not_built_yet_names_the_command(platform, year, command):
    said = platform(*command, f"trec-pm-pool-{year}")
    assert said.code == 2
    assert said.err.count("\n") == 1
    assert f"is not built yet. `platform collections build trec-pm-pool-{year}` fetches" in said.err


def test_list_shows_what_can_be_built_until_it_is(platform, options):
    rows = [line.split()[:3] for line in platform("collections", "list").out.splitlines()]
    assert ["trec-pm-pool-2017", "to", "build"] in rows
    platform(*POOL, *options)
    rows = [line.split()[:3] for line in platform("collections", "list").out.splitlines()]
    assert ["trec-pm-pool-2017", "user"] in [row[:2] for row in rows]
    assert ["trec-pm-pool-2017", "to", "build"] not in rows


def test_a_wrong_builder_is_answered_with_the_nearest(platform):
    said = platform("collections", "build", "trec-pm-pool-2019")
    assert said.code == 2
    assert "'trec-pm-pool-2019' is not a command of platform collections build. Did you" in said.err


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (("--email", "nobody"), "'nobody' is not an e-mail address"),
        (("--rate", "0"), "must be a number above 0"),
        (("--qrels", "nowhere"), "does not exist"),
        (("--extra-abstracts", "files/topics2017.xml"), "cannot be read as a folder or tar"),
        (("--sampled-qrels", "files/sampled2018.txt"), "same year"),
        (("--out", "files"), "this exists already"),
    ],
)
def test_mistakes_are_told_before_anything_is_fetched(platform, options, server, changes, message):
    changed, value = changes
    if changed in options:
        options[options.index(changed) + 1] = value
    else:
        options += changes
    said = platform(*POOL, *options)
    assert said.code == 2
    assert message in said.err
    assert server.calls == []


def test_ncbi_is_not_asked_more_often_than_it_allows(platform, options, monkeypatch):
    monkeypatch.delenv("IRPLATFORM_EUTILS_URL")
    said = platform(*POOL, *options)
    assert said.code == 2
    assert "NCBI takes 3 calls a second, not 1000" in said.err


def test_mesh_queries_are_built_from_a_collection(platform, folder):
    lines = [
        {"_id": d.id, "title": d.title, "text": d.abstract, "metadata": {"mesh": ["A", "B", d.id]}}
        for d in articles(40)
    ]
    (folder / "small/corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = ("collections", "build", "mesh", "--from", "small", "--out", "mesh")
    built = platform(*command, "--queries", "20", "--json")
    assert built.code == 0, built.err
    assert platform("collections", "show", built.json["collection"], "--json").json["topics"] == 2
    with gzip.open(folder / "mesh/corpus.jsonl.gz", "rt") as corpus:
        assert "mesh" not in corpus.read()
    assert platform(*command).code == 2


@pytest.mark.usefixtures("drugs")
def test_heading_queries_are_built_from_a_collection(platform, folder):
    lines = [
        {"_id": d.id, "title": d.title, "text": d.abstract, "metadata": {"mesh": ["A", d.id]}}
        for d in articles(40)
    ]
    (folder / "small/corpus.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    command = ("headings", "--from", "small", "--out", "few")
    built = platform(*command)
    assert built.code == 0, built.err
    assert built.out.splitlines() == [
        "queries                   train 32, dev 4, test 4 "
        "(left out, too many relevant articles: 0)",
        "relevant articles         1.0 a query",
        "headings by another name  0",
        "Use it: platform run --collection C --reranker NAME --pretrain few:train",
    ]
    assert platform("collections", "show", "few:train", "--json").json["topics"] == 32
    assert platform(*command).code == 2
    outcome = platform(*command[:-1], "named", "--kb", "own", "--json")
    assert outcome.json["queries"] == {"train": 32, "dev": 4, "test": 4}
    assert outcome.json["of_genes"] == 0
    assert "queries with a gene       0" in platform(*command[:-1], "named2", "--kb", "own").out
    assert "not installed" in platform(*command[:-1], "other", "--kb", "nowhere").err


def test_articles_of_judgments_are_fetched_and_how_to_use_them_is_said(platform, server, folder):
    (folder / "qrels.txt").write_text("1 0 7 1\n1 0 900 1\n")
    command = ("collections", "build", "pubmed-articles", "--qrels", "qrels.txt")
    planned = platform(*command, "--out", "docs", "--dry-run")
    assert planned.out.startswith(f"2 articles from {server.url}")
    outcome = platform(*command, "--out", "docs", "--rate", "1000")
    assert outcome.code == 0, outcome.err
    assert outcome.out.splitlines() == [
        "1 document in docs",
        "not there: 1 judged document, see docs/missing.tsv",
        "Use them in a collection.toml of the current folder:",
        "[documents]",
        'files = ["docs/part-1.jsonl.gz"]',
        'fields = ["date", "language", "mesh", "year"]',
    ]
    facts = platform(*command, "--out", "again", "--rate", "1000", "--json").json
    assert facts["files"] == ["again/part-1.jsonl.gz"]
    assert facts["missing"] == {"900": "PubMed does not have it"}
