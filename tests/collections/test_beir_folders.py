"""A split of a folder in BEIR layout is a collection; train trains, dev validates what it may."""

import gzip

import pytest

from irplatform.collections.beir import open_beir
from irplatform.errors import InputError


def ids(collection):
    return [topic.id for topic in collection.load_topics()]


@pytest.mark.parametrize("suffix", ["", ".gz"])
def test_the_default_split_is_test_and_has_the_topics_that_it_judges(beir_folder, suffix):
    collection = open_beir(beir_folder("train", "dev", "test", suffix=suffix))
    assert collection.id == "small-test"
    assert ids(collection) == ["q3"]
    assert collection.load_qrels() == {"q3": {"d3": 1}}
    assert [document.id for document in collection.corpus] == ["d1", "d2", "d3"]
    assert collection.metadata["splits"] == "dev, test, train"


@pytest.mark.parametrize(
    ("folder", "split", "name"),
    [("test", "test", "halves-test"), ("learn", "train", "halves-learn-train"),
     ("test", "dev", "halves-test-dev"), ("other", "test", "other-test")],
)  # fmt: skip
def test_a_folder_that_is_a_part_is_called_after_what_it_is_a_part_of(
    beir_folder, folder, split, name
):
    path = beir_folder("train", "dev", "test", name=f"halves/{folder}")
    assert open_beir(path, split).id == name


def test_a_plain_file_of_judgments_goes_before_a_packed_one(beir_folder):
    path = beir_folder("test")
    (path / "qrels" / "test.tsv.gz").write_bytes(gzip.compress(b"nothing to read"))
    assert open_beir(path).load_qrels()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_judgments_in_json_lines_are_a_split(beir_folder, pack):
    path = beir_folder("train")
    name = "test.jsonl" if pack is bytes else "test.jsonl.gz"
    line = b'{"query-id": "q3", "corpus-id": "d3", "score": 1.0}\n'
    (path / "qrels" / name).write_bytes(pack(line))
    collection = open_beir(path)
    assert collection.metadata["splits"] == "train, test"
    assert collection.load_qrels() == {"q3": {"d3": 1}}
    assert [topic.id for topic in collection.load_topics()] == ["q3"]


def test_hidden_files_are_no_splits(beir_folder):
    path = beir_folder("train", "test")
    (path / "qrels/._test.tsv").write_bytes(b"\x00\x05\x16\x07Mac OS X")
    assert open_beir(path).metadata["splits"] == "test, train"


def test_titles_texts_and_metadata_become_parts_of_documents_and_topics(beir_folder):
    collection = open_beir(beir_folder("train"), "train")
    document = next(iter(collection.corpus))
    assert (document.title, document.abstract) == ("Crizotinib in lung cancer", "ALK.")
    assert document.fields == {"year": "2013"}
    assert collection.corpus.fields == ("year", "mesh")
    (topic,) = collection.load_topics()
    assert topic.query == "crizotinib"
    assert topic.fields["url"] == "http://example.org/1"


def test_ids_that_are_whole_numbers_are_those_of_the_judgments(tmp_path, write, json_lines):
    json_lines(tmp_path / "corpus.jsonl", [{"_id": 28522256, "text": "ALK."}])
    json_lines(tmp_path / "queries.jsonl", [{"_id": 7, "text": "crizotinib"}])
    write(tmp_path / "qrels/test.tsv", "query-id\tcorpus-id\tscore\n7\t28522256\t1\n")
    collection = open_beir(tmp_path)
    assert ids(collection) == ["7"]
    assert [document.id for document in collection.corpus] == ["28522256"]
    assert collection.load_qrels() == {"7": {"28522256": 1}}


def test_test_trains_on_train_and_validates_on_dev(beir_folder):
    collection = open_beir(beir_folder("train", "dev", "test"), "test")
    training = collection.training()
    assert ids(training) == ["q1"]
    assert ids(training.validation()) == ["q2"]
    assert training.corpus is collection.corpus


def test_dev_trains_on_train_and_never_validates_on_itself(beir_folder):
    training = open_beir(beir_folder("train", "dev", "test"), "dev").training()
    assert ids(training) == ["q1"]
    assert training.validation is None


def test_train_trains_nothing_else_and_validates_on_dev(beir_folder):
    collection = open_beir(beir_folder("train", "dev"), "train")
    assert collection.training is None
    assert ids(collection.validation()) == ["q2"]


def test_without_other_splits_there_is_neither_training_nor_validation(beir_folder):
    collection = open_beir(beir_folder("test"))
    assert collection.training is None
    assert collection.validation is None
    assert open_beir(beir_folder("train", "test")).training().validation is None


def test_all_splits_search_one_corpus(beir_folder):
    folder = beir_folder("train", "dev", "test")
    prints = {open_beir(folder, split).corpus.fingerprint for split in ("train", "dev", "test")}
    assert len(prints) == 1


def test_a_missing_default_split_is_answered_with_those_there_are(beir_folder):
    folder = beir_folder("train", "dev")
    with pytest.raises(InputError) as error:
        open_beir(folder)
    assert f"Choose one: {folder}:dev, {folder}:train, or {folder}:unjudged" in str(error.value)


def test_without_judgments_all_topics_are_unjudged(beir_folder):
    collection = open_beir(beir_folder())
    assert collection.id == "small-unjudged"
    assert ids(collection) == ["q1", "q2", "q3"]
    assert collection.load_qrels is None
    assert collection.training is None


def test_topics_that_no_split_judges_train_on_train_and_validate_on_dev(beir_folder):
    collection = open_beir(beir_folder("train", "dev"), "unjudged")
    assert ids(collection) == ["q3"]
    assert collection.load_qrels is None
    assert ids(collection.training()) == ["q1"]
    assert ids(collection.training().validation()) == ["q2"]


def test_where_all_topics_are_judged_none_is_unjudged(beir_folder):
    collection = open_beir(beir_folder("train", "dev", "test"), "unjudged")
    with pytest.raises(InputError, match="all topics are judged"):
        collection.load_topics()


def test_a_split_named_unjudged_has_the_topics_that_it_judges(beir_folder, write):
    folder = beir_folder("train")
    write(folder / "qrels/unjudged.tsv", "query-id\tcorpus-id\tscore\nq2\td2\t1\n")
    collection = open_beir(folder, "unjudged")
    assert ids(collection) == ["q2"]
    assert collection.load_qrels() == {"q2": {"d2": 1}}


def test_an_unknown_split_is_answered_with_the_nearest(beir_folder):
    with pytest.raises(InputError, match=r"unknown split 'tests'\. Did you mean 'test'\?"):
        open_beir(beir_folder("train", "test"), "tests")


def test_a_missing_file_is_named(beir_folder):
    folder = beir_folder("test")
    (folder / "queries.jsonl").unlink()
    with pytest.raises(InputError, match=r"no topics here: neither queries\.jsonl nor"):
        open_beir(folder).load_topics()
    (folder / "corpus.jsonl").unlink()
    with pytest.raises(InputError, match=r"there is no corpus\.jsonl"):
        open_beir(folder)


def test_judgments_of_other_topics_are_refused(beir_folder, write):
    folder = beir_folder("test")
    write(folder / "qrels/test.tsv", "query-id\tcorpus-id\tscore\nq9\td1\t1\n")
    with pytest.raises(InputError, match="no topic is judged here"):
        open_beir(folder).load_topics()
