"""Articles that judgments name are fetched from PubMed, as documents of a closed pool."""

import json

import pytest
from eutils_stand_in import StandIn
from small_pool import articles, contents

from irplatform.building.pubmed_articles import build_articles, preview
from irplatform.collections.names import open_path
from irplatform.errors import InputError, PlatformError
from irplatform.plugin import Document

QRELS = "1 0 7 1\n1 0 30 0\n2 0 7 2\n2 0 900 1\n2 0 AACR_2012-1 1\n"
QUESTIONS = {
    "questions": [
        {
            "id": "b1",
            "body": "What of BRAF?",
            "documents": ["http://www.ncbi.nlm.nih.gov/pubmed/4", "7", "900"],
        }
    ]
}


@pytest.fixture(autouse=True)
def _alone(fresh_home, monkeypatch):
    monkeypatch.delenv("NCBI_API_KEY", raising=False)


@pytest.fixture
def server(monkeypatch):
    with StandIn(articles(300)) as stand_in:
        monkeypatch.setenv("IRPLATFORM_EUTILS_URL", stand_in.url)
        yield stand_in


@pytest.fixture
def files(tmp_path):
    """Judgments of TREC's and of BioASQ's form."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "golden.json").write_text(json.dumps(QUESTIONS))
    return [tmp_path / "qrels.txt", tmp_path / "golden.json"]


def test_what_was_fetched_can_be_the_documents_of_a_collection(server, files, tmp_path):
    report = build_articles(files, tmp_path / "articles", rate=1000)
    assert report.documents == 3
    assert report.missing == {"900": "PubMed does not have it", "AACR_2012-1": "no PMID"}
    names = [f"articles/{name}" for name in report.files]
    (tmp_path / "pool.toml").write_text(
        f'id = "pool"\n[documents]\nfiles = {json.dumps(names)}\n'
        f"fields = {json.dumps(report.fields)}\n"
        '[topics]\nfile = "golden.json"\nformat = "bioasq"\n[qrels]\nfile = "golden.json"\n'
    )
    pool = open_path(tmp_path / "pool.toml")
    assert [document.id for document in pool.corpus] == ["4", "7", "30"]
    assert next(iter(pool.corpus)).title == "Melanoma case 4 <i>"
    assert pool.load_qrels() == {"b1": {"4": 1, "7": 1, "900": 1}}


def test_chapters_of_books_are_documents_and_counted(files, tmp_path, monkeypatch):
    chapter = Document("30", "A hereditary disease", "By sequencing.", {"book": "Reviews"})
    with StandIn([chapter]) as server:
        monkeypatch.setenv("IRPLATFORM_EUTILS_URL", server.url)
        report = build_articles(files, tmp_path / "articles", rate=1000)
    assert (report.documents, report.chapters, report.fields) == (1, 1, ("book",))
    assert set(report.missing) == {"4", "7", "900", "AACR_2012-1"}


def test_what_is_about_to_be_fetched_is_told(server, files, tmp_path, capsys):
    build_articles(files, tmp_path / "articles", rate=1000)
    output = capsys.readouterr().err
    assert f"4 articles from {server.url}" in output
    assert "1 judged document without a PMID, left out" in output


def test_what_could_not_be_had_is_listed_with_how_much_it_matters(server, files, tmp_path):
    build_articles(files, tmp_path / "both", rate=1000)
    lines = (tmp_path / "both" / "missing.tsv").read_text().splitlines()
    assert [line.split("\t") for line in lines] == [
        ["doc_id", "reason", "judged", "relevant"],
        ["900", "PubMed does not have it", "2", "2"],
        ["AACR_2012-1", "no PMID", "1", "1"],
    ]


def test_an_interrupted_build_goes_on_and_ends_with_the_same_bytes(
    server, files, tmp_path, monkeypatch
):
    ids = [str(number) for number in range(1, 290)]  # two calls
    files[0].write_text("".join(f"1 0 {name} 1\n" for name in ids))
    build_articles(files[:1], tmp_path / "whole", rate=1000)
    server.calls.clear()
    monkeypatch.setattr("irplatform.building.pubmed_articles._keep", _fails_at_second())
    with pytest.raises(PlatformError):
        build_articles(files[:1], tmp_path / "parts", rate=1000)
    monkeypatch.undo()
    monkeypatch.setenv("IRPLATFORM_EUTILS_URL", server.url)
    (tmp_path / "parts.partial" / "part-9.jsonl.gz").write_text("of an attempt with more")
    assert "(1 of 2 were made before)" in preview(files[:1], tmp_path / "parts", rate=1000)[0]
    build_articles(files[:1], tmp_path / "parts", rate=1000)
    assert contents(tmp_path / "parts") == contents(tmp_path / "whole")
    assert len(server.calls) == 3  # both calls of the first attempt, and one again


def _fails_at_second():
    from irplatform.building.pubmed_articles import _keep

    calls = []

    def keep(batch, path):
        calls.append(path)
        if len(calls) == 2:
            raise PlatformError("the disk is gone")
        _keep(batch, path)

    return keep


def test_judgments_without_a_pmid_and_folders_that_are_taken_are_refused(server, files, tmp_path):
    files[0].write_text("1 0 MED-10 1\n")
    with pytest.raises(InputError) as caught:
        build_articles(files[:1], tmp_path / "articles")
    assert "no judged document is a PMID, but 'MED-10' and the like" in str(caught.value)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine").touch()
    for make in (build_articles, preview):
        with pytest.raises(InputError) as caught:
            make(files[1:], tmp_path / "taken")
        assert "this exists already" in str(caught.value)
        with pytest.raises(InputError):
            make(files[1:], files[0])
    assert server.calls == []


def test_a_preview_fetches_nothing(server, files, tmp_path):
    first, *others = preview(files, tmp_path / "articles", rate=1000)
    assert first.startswith(f"4 articles from {server.url}, at most 1000 calls a second: 1 call")
    assert others == ["1 judged document without a PMID, left out"]
    assert server.calls == []
    assert not (tmp_path / "articles.partial").exists()
