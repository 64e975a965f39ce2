"""A folder of topics and judgments may name the collection whose documents it searches."""

import json

import pytest

from irplatform.building.judgments import write_reference
from irplatform.collections.beir import is_beir
from irplatform.collections.names import open_path
from irplatform.errors import InputError


@pytest.fixture
def referring(tmp_path):
    """Makes a folder without a corpus; returns it."""

    def make(name="clicks", content=None):
        folder = tmp_path / name
        (folder / "qrels").mkdir(parents=True)
        (folder / "qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nc1\td1\t7\n")
        (folder / "queries.jsonl").write_text(json.dumps({"_id": "c1", "text": "alk"}))
        if content is not None:
            (folder / "corpus.toml").write_text(content)
        return folder

    return make


def test_a_reference_shares_the_corpus_hence_the_index(beir_folder, referring, tmp_path):
    searched = beir_folder("train", "test")
    folder = referring()
    write_reference(str(searched), folder, seen_from=folder)
    collection = open_path(folder)
    assert collection.id == "clicks-test"
    assert collection.corpus.fingerprint == open_path(searched).corpus.fingerprint
    assert [topic.id for topic in collection.load_topics()] == ["c1"]


def test_a_path_is_relative_to_the_folder_so_that_both_can_be_moved(
    beir_folder, referring, tmp_path, monkeypatch
):
    searched = beir_folder("train", "test")
    folder = referring()
    monkeypatch.chdir(searched.parent)
    write_reference(f"{searched.name}:train", folder, seen_from=folder)
    assert "/" in (folder / "corpus.toml").read_text()
    assert str(tmp_path) not in (folder / "corpus.toml").read_text()
    monkeypatch.chdir("/")
    assert open_path(folder).corpus.fingerprint == open_path(searched).corpus.fingerprint


def test_a_path_may_hold_any_character(beir_folder, referring):
    searched = beir_folder("train", "test", name='odd "\\ \n name')
    folder = referring()
    write_reference(str(searched), folder, seen_from=folder)
    assert open_path(folder).corpus.fingerprint == open_path(searched).corpus.fingerprint


@pytest.mark.parametrize("place", ["clicks", "a/b/link/clicks"])
@pytest.mark.parametrize("read", ["clicks", "a/b/link/clicks"])
def test_a_path_leads_there_from_a_link_too(beir_folder, referring, tmp_path, place, read):
    searched = beir_folder("train", "test")
    folder = referring()
    (tmp_path / "a/b").mkdir(parents=True)
    (tmp_path / "a/b/link").symlink_to(tmp_path)
    write_reference(str(searched), folder, seen_from=tmp_path / place)
    collection = open_path(tmp_path / read)
    assert collection.corpus.fingerprint == open_path(searched).corpus.fingerprint


def test_names_and_ids_are_kept_as_they_are(referring):
    folder = referring()
    for name in ("demo", "beir/nfcorpus/test"):
        write_reference(name, folder, seen_from=folder)
        assert (folder / "corpus.toml").read_text() == f'collection = "{name}"\n'
        assert is_beir(folder)
    assert open_path(folder).corpus.name == "beir-nfcorpus"


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("collection", "this is not TOML"),
        ("name = 'demo'", "does not name a collection"),
        ("collection = 7", "does not name a collection"),
        ("collection = 'no-such-one'", "unknown collection 'no-such-one'"),
        ("collection = './elsewhere'", "there is no such folder"),
    ],
)
def test_a_bad_reference_is_explained(referring, content, complaint):
    folder = referring(content=content)
    with pytest.raises(InputError, match=complaint) as raised:
        open_path(folder)
    assert raised.value.path == folder / "corpus.toml"


def test_topics_without_documents_say_what_is_missing(referring):
    with pytest.raises(InputError, match=r"nor a corpus\.jsonl or corpus\.toml"):
        open_path(referring())
