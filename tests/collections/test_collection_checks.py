"""What is wrong with a collection is found and numbered; a broken corpus is refused."""

import pytest

from irplatform.collections.inspection import check, describe, refuse_broken
from irplatform.data import Collection, Corpus
from irplatform.errors import InputError
from irplatform.plugin import Document, Topic


class Listed(Corpus):
    name = "listed"
    fields = ()
    fingerprint = "0"

    def __init__(self, documents):
        self.documents = documents

    def __iter__(self):
        return iter(self.documents)


def documents(*ids, text="text"):
    return [Document(doc_id, f"title {doc_id}", text) for doc_id in ids]


def collection(articles, qrels=None, topics=("1",)):
    return Collection(
        id="c",
        title="C",
        corpus=Listed(articles),
        load_topics=lambda: [Topic(topic_id, "query") for topic_id in topics],
        load_qrels=None if qrels is None else lambda: qrels,
    )


def findings(*args, **kwargs):
    return {finding.kind: finding for finding in check(collection(*args, **kwargs))}


def test_nothing_is_wrong_with_a_sound_collection():
    assert findings(documents("a", "b"), {"1": {"a": 1, "b": 0}}) == {}


def test_judgments_of_missing_documents_are_counted_the_relevant_ones_apart():
    problems = findings(documents("a", "b"), {"1": {"a": 1, "b": 1, "x": 2, "y": 0}})
    dangling = problems["dangling judgments"]
    assert (dangling.count, dangling.examples, dangling.serious) == (2, ("x", "y"), False)
    assert "2 of 4 judged" in dangling.message
    assert "1 of the 3 relevant" in dangling.message


def test_most_relevant_documents_missing_is_serious():
    assert findings(documents("a"), {"1": {"x": 1, "y": 1, "a": 1}})["dangling judgments"].serious


def test_documents_without_text_are_counted_and_serious_above_a_tenth():
    blank = Document("z", " ", "\n")
    few = findings([*documents(*map(str, range(9))), blank], {"1": {"0": 1}})["empty documents"]
    assert (few.count, few.examples, few.serious) == (1, ("z",), False)
    assert findings([*documents("a"), blank], {"1": {"a": 1}})["empty documents"].serious


def test_a_corpus_of_titles_is_named():
    finding = findings(documents("a", "b", text=""), {"1": {"a": 1}})["half-empty corpus"]
    assert "only 0 of 2 documents have an abstract (2 have a title)" in finding.message
    assert finding.serious


def test_ids_that_come_twice_are_found_each_once():
    finding = findings(documents("a", "b", "a", "c", "a", "b"), {"1": {"a": 1}})["duplicate ids"]
    assert (finding.count, finding.examples, finding.serious) == (2, ("a", "b"), True)
    assert finding.message == "2 ids of more than one document"
    one = findings(documents("a", "b", "a"), {"1": {"a": 1}})["duplicate ids"]
    assert one.message == "1 id of more than one document"


@pytest.mark.parametrize(
    "markup",
    ["<p>", "</sup>", "<br />", '<a href="x">', "<jats:title>", "<H2>", "&amp;", "&#x2013;"],
)
def test_markup_is_told_with_an_example_and_is_not_serious(markup):
    marked = [Document("x", "title", f"a {markup} b"), Document("y", f"a {markup}b", "text")]
    finding = findings([*documents("a"), *marked], {"1": {"a": 1}})["markup"]
    assert (finding.count, finding.examples, finding.serious) == (2, ("x", "y"), False)
    assert f"2 of 3 documents have markup, such as '{markup}', that is searched" in finding.message


def test_what_means_less_greater_or_and_is_no_markup():
    text = "p<0.05; n <10 or >20; <z1>; H&E stain; R&D; <Ventana> a<b and c>d; <->; -765G>C"
    assert findings(documents("a", text=text), {"1": {"a": 1}}) == {}


def test_documents_that_are_identical_are_counted():
    same = [Document(name, "T", "text  of it") for name in "abc"]
    others = [Document("d", "T", "text of it "), Document("e", "U", "x"), Document("f", "", "U x")]
    articles = [*same, *others, Document("g"), Document("h"), *documents("i")]
    plain = findings(articles)["identical documents"]
    assert (plain.count, plain.serious, plain.examples) == (6, False, ("a", "b", "c", "d", "e"))
    assert plain.message == "6 documents have the title and text of another, such as b of a"
    twice = [Document("a", "T", "text"), Document("a", "T", "text")]
    assert "identical documents" not in findings(twice)


def test_characters_that_were_lost_are_told():
    finding = findings([*documents("a"), Document("x", "a \ufffd b", "c")])["lost characters"]
    assert (finding.count, finding.examples, finding.serious) == (1, ("x",), False)
    assert "1 of 2 documents have U+FFFD" in finding.message


def test_topics_and_judgments_that_do_not_meet_are_told():
    qrels = {"1": {"a": 0}, "3": {"a": 1}, "4": {"a": 1}}
    problems = findings(documents("a"), qrels, topics=("1", "2", "3"))
    assert problems["topics without judgments"].examples == ("2",)
    assert problems["judgments without topic"].examples == ("4",)
    assert problems["topics without relevant documents"].examples == ("1",)
    assert problems["topics without judgments"].message == "topics without judgments: 1 of 3 topics"


def test_no_documents_and_no_judgments_are_told():
    assert findings([], {"1": {"a": 1}})["no documents"].serious
    assert "no judgments" in findings(documents("a"))


def test_what_is_serious_comes_first():
    problems = check(collection(documents("a", "a"), {"1": {"a": 0}, "2": {"a": 1}}, ("1", "2")))
    assert [finding.serious for finding in problems] == [True, False]


QRELS = {"1": {f"d{i}": 1 for i in range(10)}}


def refuse(present, *, documents=100, empty=0, qrels=QRELS):
    ids = set(present)
    refuse_broken(
        collection([]), qrels, contains=ids.__contains__, documents=documents, empty=empty
    )


def test_half_of_the_relevant_documents_is_enough():
    refuse([f"d{i}" for i in range(5)], empty=10)


def test_more_than_half_missing_is_refused_with_numbers():
    with pytest.raises(InputError, match=r"6 of the 10 relevant documents of 'c' are not among"):
        refuse([f"d{i}" for i in range(4)])


def test_more_than_a_tenth_without_text_is_refused_with_numbers():
    with pytest.raises(InputError, match="11 of the 100 documents of 'c' have neither") as refused:
        refuse(QRELS["1"], empty=11)
    # Its id is no name that a command takes where a file describes it
    assert str(refused.value).endswith("`platform collections show` shows one of them.")


def test_an_empty_corpus_is_refused():
    with pytest.raises(InputError, match="has no documents"):
        refuse([], documents=0)


def test_without_judgments_only_the_text_is_looked_at():
    refuse([], qrels=None)
    refuse([], qrels={"1": {"a": 0}})


def test_at_most_2000_documents_are_looked_up():
    lookups = []
    qrels = {"1": {f"d{i}": 1 for i in range(4001)}}
    refuse_broken(
        collection([]), qrels, contains=lambda d: lookups.append(d) or True, documents=5000, empty=0
    )
    assert 1000 <= len(lookups) <= 2000


def test_a_description_has_counts_grades_and_examples():
    described = collection(documents("a", "b"), {"1": {"a": 1, "b": 0}, "2": {"b": 0}})
    facts = describe(described)
    assert facts["topics"] == 1
    assert facts["judgments"] == {
        "count": 3,
        "topics": 2,
        "documents": 2,
        "per_grade": {"0": 2, "1": 1},
    }
    assert facts["example_document"]["id"] == "a"
    assert facts["example_topic"] == {"id": "1", "query": "query", "fields": {}}
