"""A plugin's collection is checked where it comes in; what is wrong with it names the plugin."""

from collections.abc import Iterator

import pytest

from irplatform.data import Collection, Corpus
from irplatform.errors import PluginError
from irplatform.plugin import Document, Topic
from irplatform.registry.register_hooks import guarded_collection
from irplatform.registry.registration import Plugin

PLUGIN = Plugin("few", "few-dist", "1.0")
WHO = r"collection 'few' of plugin 'few' \(few-dist 1.0\)"


class Few(Corpus):
    name = "few"
    fields = ("mesh",)

    def __init__(self, *documents, mark="few-1"):
        self.documents = documents
        self.mark = mark

    @property
    def fingerprint(self):
        return self.mark

    def __iter__(self) -> Iterator[Document]:
        for document in self.documents:
            if isinstance(document, Exception):
                raise document
            yield document


TOPICS = (Topic("1", "a"),)


def loaded(corpus=None, topics=TOPICS, qrels=None, **more):
    """The collection as the platform sees it."""

    def load():
        loaders = {"load_topics": lambda: topics, "load_qrels": lambda: qrels or {"1": {"d": 1}}}
        return Collection("few", "Few", corpus or Few(Document("d")), **(loaders | more))

    return guarded_collection("few", load, PLUGIN)()


def test_a_sound_one_is_what_it_was():
    documents = [Document(str(number), "title", "text", {"mesh": ("x",)}) for number in range(2500)]
    collection = loaded(Few(*documents))
    assert list(collection.corpus) == list(collection.corpus) == documents
    assert (collection.corpus.name, collection.corpus.fields, collection.corpus.fingerprint) == (
        "few",
        ("mesh",),
        "few-1",
    )
    assert collection.load_topics() == (Topic("1", "a"),)
    assert collection.load_qrels() == {"1": {"d": 1}}


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (
            OSError("disk gone"),
            r"failed streaming its documents: OSError: disk gone \(.*__iter__\)",
        ),
        (("d", "title"), "gives tuple for a Document"),
        (Document(7), "has a Document whose id 7 is not text"),
        (Document("d 1"), "has a Document whose id 'd 1' has white space in it"),
        (Document(""), "has a Document whose id '' is empty"),
        (Document("d\1"), r"has a Document whose id 'd\\x01' has a control character in it"),
        (Document("d" * 32_767), "has a Document whose id 'd.*d' has 32,767 bytes"),
        (Document("d", None), "has None for the title of Document d"),
        (Document("d", "", b"x"), "has b'x' for the abstract of Document d"),
        (
            Document("d", fields={"year": 7}),
            "has 7 for the field 'year' of Document d; text",
        ),
        (
            Document("d", fields={"mesh": (7,)}),
            r"has \(7,\) for the field 'mesh' of Document d",
        ),
        (Document("d", fields={7: "x"}), "has 'x' for the field 7 of Document d; text"),
        (Document("d", fields=["x"]), r"has \['x'\] for the fields of Document d"),
    ],
)
def test_documents_are_checked_as_they_come(document, message):
    documents = iter(loaded(Few(Document("first"), document)).corpus)
    with pytest.raises(PluginError, match=f"^{WHO} {message}"):
        list(documents)


@pytest.mark.parametrize(
    ("topics", "message"),
    [
        (
            (Topic("1", "a") for _ in "a"),
            "returned generator from load_topics; a list of topics is",
        ),
        ([{"id": "1"}], "gives dict for a Topic"),
        ([Topic(1, "a")], "has a Topic whose id 1 is not text"),
        ([Topic("1", "a"), Topic("1", "b")], "has several topics with the id '1'"),
        ([Topic("1", None)], "has None for the query of Topic 1"),
        ([Topic("1", "a", {"age": 64})], "has 64 for the field 'age' of Topic 1"),
    ],
)
def test_topics_are_checked_when_they_are_loaded(topics, message):
    with pytest.raises(PluginError, match=f"^{WHO} {message}"):
        loaded(topics=topics).load_topics()


@pytest.mark.parametrize(
    ("qrels", "message"),
    [
        (["1"], "returned no judgments from load_qrels; topic to document to grade is needed"),
        ({"1": ["d"]}, "returned no judgments from load_qrels"),
        ({1: {"d": 1}}, "gives document 'd' of topic 1 the grade 1; ids are text"),
        ({"1": {7: 1}}, "gives document 7 of topic '1' the grade 1; ids are text"),
        ({"1": {"d": 0.5}}, "gives document 'd' of topic '1' the grade 0.5; ids are text, grades"),
        ({"1": {"d": "1"}}, "gives document 'd' of topic '1' the grade '1'"),
        ({"1": {"d": 2**31}}, "gives document 'd' of topic '1' the grade 2147483648; ids are"),
    ],
)
def test_judgments_are_checked_when_they_are_loaded(qrels, message):
    with pytest.raises(PluginError, match=f"^{WHO} {message}"):
        loaded(qrels=qrels).load_qrels()


def test_grades_of_numpy_are_whole_numbers_too():
    import numpy as np

    (grade,) = loaded(qrels={"1": {"d": np.int64(2)}, "2": {}}).load_qrels()["1"].values()
    assert (grade, type(grade)) == (2, int)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"corpus": [Document("d")]}, r"has \[Document.*\] for its corpus; a Corpus is needed"),
    ],
)
def test_its_parts_are_what_they_should_be(more, message):
    with pytest.raises(PluginError, match=f"^{WHO} {message}"):
        loaded(**more)


@pytest.mark.parametrize("name", ["../few", 7])
def test_its_id_can_be_part_of_a_path(name):
    with pytest.raises(PluginError, match=f"^{WHO} has the id {name!r}"):
        guarded_collection("few", lambda: Collection(name, "", Few(), tuple), PLUGIN)()


def test_its_documents_are_not_read_for_the_names_of_their_fields_unasked():
    class Metadata(Few):
        @property
        def fields(self):
            raise OSError("all documents were read")

    collection = loaded(Metadata(Document("d")))
    assert list(collection.corpus) == [Document("d")]
    with pytest.raises(PluginError, match=f"^{WHO} failed naming the fields of its documents"):
        _ = collection.corpus.fields


def test_topics_beside_the_documents_of_another_plugin_are_checked_too():
    collection = loaded(loaded().corpus, topics=["1"])
    with pytest.raises(PluginError, match=f"^{WHO} gives str for a Topic"):
        collection.load_topics()


def test_what_its_documents_are_known_by_is_text():
    with pytest.raises(PluginError, match=f"^{WHO} has the fingerprint None"):
        _ = loaded(Few(mark=None)).corpus.fingerprint


def test_its_texts_may_be_known_apart_from_its_fields():
    class Texts(Few):
        texts_fingerprint = "texts-1"

    one, other = (loaded(Texts(Document("d"), mark=mark)).corpus for mark in ("a", "b"))
    assert one.fingerprint != other.fingerprint
    assert one.texts_fingerprint == other.texts_fingerprint == "texts-1"
    assert one.same_documents(other)
    assert not one.same_documents(loaded().corpus)

    class Strange(Few):
        texts_fingerprint = None

        def same_documents(self, other):
            raise KeyError("a")

    strange = loaded(Strange(Document("d"))).corpus
    with pytest.raises(PluginError, match=f"^{WHO} has the texts_fingerprint None"):
        _ = strange.texts_fingerprint
    with pytest.raises(PluginError, match=f"^{WHO} failed comparing its documents with others"):
        strange.same_documents(one)


def test_partners_are_checked_as_well():
    partner = Collection("partner", "", Few(), dict)
    collection = loaded(training=lambda: partner, validation=lambda: None)
    with pytest.raises(
        PluginError, match=f"^the training collection of {WHO} returned dict from load_topics"
    ):
        collection.training().load_topics()
    with pytest.raises(PluginError, match=f"^the validation collection of {WHO} is NoneType"):
        collection.validation()
