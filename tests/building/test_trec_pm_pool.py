"""A closed pool is a collection of the judged documents, which says what it lacks."""

import gzip
import json

import pytest
from eutils_stand_in import StandIn
from small_pool import ABSTRACTS, articles, contents, write_archive, write_year

from irplatform.building.pm_pool import PoolSettings, build_pool, preview
from irplatform.building.pm_sources import TrackFiles
from irplatform.collections.names import add_alias, aliases, resolve
from irplatform.errors import InputError, PlatformError

JUDGED_2017 = ["30", "4", "100", "7", *ABSTRACTS, "200"]
JUDGED_2018 = ["7", "8", "300", "9999"]


@pytest.fixture(autouse=True)
def _alone(fresh_home, tmp_path, monkeypatch):
    """No names, no downloads and no key but those of the test."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path / "irds"))
    monkeypatch.delenv("NCBI_API_KEY", raising=False)


@pytest.fixture
def server(monkeypatch):
    with StandIn(articles(300)) as stand_in:
        monkeypatch.setenv("IRPLATFORM_EUTILS_URL", stand_in.url)
        monkeypatch.setenv("IRPLATFORM_TREC_URL", f"{stand_in.url}/precmed")
        yield stand_in


@pytest.fixture
def year_files(tmp_path):
    """The files of both years."""
    target = write_year(tmp_path / "files", 2017, JUDGED_2017)
    partner = write_year(tmp_path / "files", 2018, JUDGED_2018)
    return {"files": TrackFiles(*target.values()), "partner": TrackFiles(*partner.values())}


@pytest.fixture
def build(server, year_files, tmp_path):
    """Build the pool of 2017."""

    def build(name="pool", **changes):
        archive = write_archive(tmp_path / "extra.tar.gz")
        settings = {"out": tmp_path / name, "rate": 1000, "extra_abstracts": archive, **year_files}
        return build_pool(PoolSettings(2017, **(settings | changes)))

    return build


def test_the_judged_documents_of_both_years_are_there_and_no_others(build):
    report = build()
    ids = [document.id for document in resolve("trec-pm-pool-2017", {}).corpus]
    assert ids == ["4", "7", "8", "30", "100", "200", "300", "AACR_2012-1", "ASCO_7-199"]
    assert report.documents == 9


def test_both_years_are_collections_that_train_for_each_other_on_one_index(build):
    build()
    pool, other = resolve("trec-pm-pool-2017", {}), resolve("trec-pm-pool-2018", {})
    assert pool.training().id == other.id == "trec-pm-pool-2018"
    assert other.training().id == pool.id == "trec-pm-pool-2017"
    assert pool.corpus.fingerprint == other.corpus.fingerprint
    assert [topic.query for topic in pool.load_topics()] == [
        "Melanoma BRAF (V600E)",
        "Liposarcoma CDK4",
    ]
    assert sum(map(len, other.load_qrels().values())) == 4
    assert pool.sampled_qrels.name == "qrels-sample-abstracts.2017.txt"
    assert pool.measures == ("P@10", "Rprec", "nDCG@20", "AP", "Judged@20")


def test_documents_keep_their_headings(build):
    build()
    documents = {document.id: document for document in resolve("trec-pm-pool-2017", {}).corpus}
    assert documents["7"].fields["mesh"] == ("Humans", "Term 2")
    assert "mesh" not in documents["8"].fields
    assert documents["AACR_2012-1"].fields == {"meeting": "AACR Annual Meeting"}


def test_what_is_missing_is_listed_with_what_it_means(build, tmp_path):
    report = build(extra_abstracts=None, download_extra=False)
    rows = [line.split("\t") for line in (tmp_path / "pool/missing.tsv").read_text().splitlines()]
    assert rows == [
        ["doc_id", "reason", "judged_2017", "relevant_2017", "judged_2018", "relevant_2018"],
        ["9999", "PubMed does not have it", "0", "0", "1", "1"],
        ["AACR_2012-1", "conference abstract, not among the extra abstracts", "1", "0", "0", "0"],
        ["ASCO_7-199", "conference abstract, not among the extra abstracts", "1", "0", "0", "0"],
    ]
    assert set(report.missing) == {"9999", *ABSTRACTS}
    assert "3 more could not be had, see missing.tsv" in resolve("trec-pm-pool-2017", {}).note
    assert any("2 judged documents (conference abstract" in line for line in report.lines())


def test_judgments_of_missing_documents_stay(build):
    build()
    assert "9999" in resolve("trec-pm-pool-2018", {}).load_qrels()["2"]


def test_ids_of_no_kind_are_reported_and_not_asked_for(build, server, year_files, tmp_path):
    strange = write_year(tmp_path / "strange", 2017, ["7", "NCT00001", "007"])
    report = build(files=TrackFiles(*strange.values()), partner=TrackFiles())
    assert set(report.missing) == {"NCT00001", "007"}
    assert [call["id"] for call in server.calls] == ["7"]


def test_nothing_is_missing_means_no_list(build, tmp_path, year_files):
    partner = write_year(tmp_path / "files", 2018, ["7", "8"])
    build(partner=TrackFiles(*partner.values()))
    assert not (tmp_path / "pool/missing.tsv").exists()


def test_alone_has_the_documents_of_one_year_and_no_partner(build):
    report = build(alone=True)
    collection = resolve("trec-pm-pool-2017", {})
    assert report.documents == 7
    assert collection.training is None
    assert "trec-pm-pool-2018" not in aliases()


def test_files_of_one_year_alone_give_that_year_alone(build):
    build(partner=TrackFiles())
    assert resolve("trec-pm-pool-2017", {}).training is None


def test_two_builds_are_the_same_bytes(build, tmp_path):
    build("one")
    build("two")
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    assert not list(tmp_path.glob("*.partial"))


def test_an_interrupted_build_goes_on_and_ends_with_the_same_bytes(
    build, server, tmp_path, year_files
):
    build("calm")
    server.orders.append("redirect:nowhere")
    with pytest.raises(PlatformError, match="status 302"):
        build("broken")
    assert not (tmp_path / "broken").exists()
    (tmp_path / "broken.partial/qrels/left-over.txt").write_text("from another attempt")
    build("broken")
    assert contents(tmp_path / "calm") == contents(tmp_path / "broken")


def test_the_order_of_judgments_does_not_matter(build, tmp_path, year_files):
    build("one")
    shuffled = tmp_path / "shuffled.txt"
    lines = year_files["files"].qrels.read_text().splitlines(keepends=True)
    shuffled.write_text("".join(reversed(lines)))
    build(
        "two", files=TrackFiles(year_files["files"].topics, shuffled, year_files["files"].sampled)
    )
    name = "docs/part-1.jsonl.gz"
    assert contents(tmp_path / "one")[name] == contents(tmp_path / "two")[name]


def test_gzip_files_hold_no_time_and_no_name(build, tmp_path):
    build()
    raw = (tmp_path / "pool/docs/part-1.jsonl.gz").read_bytes()
    assert raw[3:8] == bytes(5)
    first = json.loads(gzip.decompress(raw).splitlines()[0])
    assert list(first)[-3:] == ["id", "title", "abstract"]


def test_a_pool_that_is_there_is_not_built_again(build, server):
    build()
    calls = len(server.calls)
    report = build()
    assert report.documents is None
    assert "To build it anew" in report.lines()[1]
    assert len(server.calls) == calls


def test_the_partner_is_found_where_it_was_built(build, server):
    build()
    report = build_pool(PoolSettings(2018))
    assert report.path.name == "trec-pm-pool-2018.toml"
    assert report.documents is None


def test_the_default_place_is_the_cache(build, fresh_home):
    build(out=None)
    assert aliases()["trec-pm-pool-2017"].startswith(str(fresh_home / "collections"))


def test_a_folder_with_something_else_in_it_is_refused(build, tmp_path):
    (tmp_path / "pool").mkdir()
    (tmp_path / "pool/thesis.tex").write_text("years of work")
    with pytest.raises(InputError, match=r"pool: this exists already"):
        build()
    assert (tmp_path / "pool/thesis.tex").exists()


def test_a_name_that_meant_another_pool_is_taken_over_aloud(build, tmp_path, capsys):
    build("one")
    build("two")
    assert aliases()["trec-pm-pool-2017"] == str(tmp_path / "two/collection.toml")
    assert aliases()["trec-pm-pool-2018"] == str(tmp_path / "one/trec-pm-pool-2018.toml")
    assert "trec-pm-pool-2017 was the name of" in capsys.readouterr().err


def test_what_would_be_fetched_is_said_beforehand(build, capsys):
    build()
    said = capsys.readouterr().err
    assert "8 articles from http://127.0.0.1" in said
    assert "1 call for 200 articles each" in said
    assert "2 conference abstracts from" in said


def test_a_preview_fetches_and_writes_nothing(server, year_files, tmp_path):
    lines = preview(PoolSettings(2017, out=tmp_path / "pool", **year_files))
    assert lines[0].startswith("8 articles from http://127.0.0.1")
    assert "extra_abstracts.tar.gz (61.2 MB)" in lines[1]
    assert server.calls == []
    assert not list(tmp_path.glob("pool*"))


def test_a_preview_without_any_file_names_all_downloads(server):
    lines = preview(PoolSettings(2017))
    assert "https://trec.nist.gov/data/precmed/topics2017.xml" in lines[0]
    assert any("sample-qrels-final-abstracts.txt" in line for line in lines)
    assert lines[-1].startswith("then the judged documents (18,729 in 2017, 16,510 in 2018)")
    assert server.calls == []


def test_sampled_judgments_come_from_nist_and_the_rest_from_ir_datasets(build, server, tmp_path):
    for year, judged, name in (
        (2017, JUDGED_2017, "sample-qrels-final-abstracts.txt"),
        (2018, JUDGED_2018, "qrels-sample-abstracts-v2.txt"),
    ):
        files = write_year(tmp_path / "nist", year, judged)
        place = tmp_path / f"irds/medline/trec-pm-{year}"
        place.mkdir(parents=True)
        files["topics"].rename(place / "queries.xml")
        files["qrels"].rename(place / "qrels")
        server.files[f"/precmed/{name}"] = files["sampled-qrels"].read_bytes()
    archive = tmp_path / "irds/medline/2017/extra_abstracts.tar.gz"
    archive.parent.mkdir(parents=True)
    write_archive(archive)
    build("given")
    build("found", files=TrackFiles(), partner=TrackFiles(), extra_abstracts=None)
    assert contents(tmp_path / "given") == contents(tmp_path / "found")
    assert (tmp_path / "irds/medline/trec-pm-2017/sampled-qrels").is_file()


def test_a_page_instead_of_sampled_judgments_is_not_kept(build, server, year_files, tmp_path):
    place = tmp_path / "irds/medline/trec-pm-2017"
    place.mkdir(parents=True)
    (place / "queries.xml").write_bytes(year_files["files"].topics.read_bytes())
    (place / "qrels").write_bytes(year_files["files"].qrels.read_bytes())
    server.files["/precmed/sample-qrels-final-abstracts.txt"] = b"<html>Please log in</html>"
    with pytest.raises(PlatformError, match=r"sample-qrels-final-abstracts.txt is not a file"):
        build(files=TrackFiles(), alone=True)
    assert list(place.glob("*sampled*")) == []


def test_sampled_judgments_of_another_year_are_refused(build, year_files):
    mixed = TrackFiles(
        year_files["files"].topics, year_files["files"].qrels, year_files["partner"].sampled
    )
    with pytest.raises(
        InputError, match=r"sampled2018.txt: topic '.' judges document .* same year"
    ):
        build(files=mixed)


@pytest.mark.parametrize(
    ("part", "content", "message"),
    [
        ("topics", "<topics>", r"topics2017\.xml:\d+: .*"),
        ("topics", "<topics/>", "there are no topics"),
        ("qrels", "1 0 7\n", r"qrels2017\.txt:1: 3 columns"),
        ("qrels", "1 0 7 1 2\n", r"qrels2017\.txt:1: 5 columns"),
        ("sampled", "1 0 7 1\n", r"sampled2017\.txt:1: "),
    ],
)
def test_files_that_are_something_else_are_named(build, year_files, server, part, content, message):
    getattr(year_files["files"], part).write_text(content)
    with pytest.raises(InputError, match=message):
        build()
    assert server.calls == []


def test_a_users_own_name_for_the_partner_stays(build, year_files, tmp_path):
    build("mine")
    add_alias("trec-pm-pool-2018", str(tmp_path / "mine/collection.toml"), replace=True)
    build("two")
    assert aliases()["trec-pm-pool-2018"] == str(tmp_path / "mine/collection.toml")
