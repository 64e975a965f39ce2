"""Folders of topics with a treatment, over the documents of their source."""

import pytest

from irplatform.collections.joined import joined
from irplatform.errors import InputError
from irplatform.judgments.treatments.build import _unique, build_treatments
from irplatform.judgments.treatments.choice import Choice, Treated
from irplatform.plugin import Topic
from irplatform.registry import registry
from irplatform.training.topic_marks import families

KB = ("names", "relations")
CHOICE = Choice(per_topic=2, at_least=2)


@pytest.fixture
def made(source, tmp_path):
    """What is built, from a path relative to somewhere else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(source.parent)
        report = build_treatments("gist.toml", tmp_path / "treated", CHOICE, KB)
    return report, registry().collection(str(tmp_path / "treated"))


def test_topics_ask_for_a_drug_in_addition(made):
    _, collection = made
    first, second = collection.load_topics()
    assert (first.id, first.query) == ("1-imatinib", "GIST KIT imatinib")
    assert first.fields["treatment"] == "imatinib"
    assert (first.fields["disease"], first.fields["gene"]) == ("GIST", "KIT")
    assert second.id == "2-imatinib"


def test_relevant_is_what_was_and_names_the_drug_under_any_name(made):
    _, collection = made
    assert collection.load_qrels() == {
        "1-imatinib": {"a1": 2, "a2": 1, "a3": 1, "a4": 0, "a5": 0, "a6": 0, "a7": -1},
        "2-imatinib": {"a1": 1, "a2": 1, "a3": 2, "a4": 0, "a5": 0, "a6": 0},
    }


def test_the_report_counts_topics_treatments_and_relevant_articles(made):
    report, _ = made
    assert report.as_json() == {
        "collection": str(report.folder),
        "path": str(report.folder),
        "from": "gist",
        "topics": 2,
        "source_topics": {"judged": 2, "used": 2},
        "drugs": {"imatinib": 2},
        "relevant_per_topic": 3,
    }
    assert report.rows()[0] == ("topics", "2, of 2 of 2 judged topics of gist")


def test_the_folder_has_the_documents_and_measures_of_its_source(made, source):
    _, collection = made
    origin = registry().collection(str(source))
    assert collection.corpus.fingerprint == origin.corpus.fingerprint
    assert collection.measures == origin.measures == ("AP",)


def test_it_may_be_learned_from_together_with_its_source_in_one_family_each(made, source):
    _, collection = made
    together = joined([registry().collection(str(source)), collection])
    topics = together.load_topics()
    assert [topic.id for topic in topics] == ["1", "2", "3", "1-imatinib", "2-imatinib"]
    assert families(topics) == [0, 1, 2, 0, 1]


def test_ids_that_would_be_the_same_get_numbers():
    taken = set()
    pairs = [("1", "interferon alpha"), ("1-interferon", "Alpha"), ("1", "(interferon)-alpha")]
    ids = [_unique(Treated(Topic(topic, ""), drug, {}), taken) for topic, drug in pairs]
    assert ids == ["1-interferon-alpha", "1-interferon-alpha-2", "1-interferon-alpha-3"]


def test_the_same_is_made_again(made, source, tmp_path):
    build_treatments(str(source), tmp_path / "again", CHOICE, KB)
    for name in ("queries.jsonl", "qrels/test.tsv"):
        assert (tmp_path / "again" / name).read_bytes() == (
            tmp_path / "treated" / name
        ).read_bytes()


def _unjudged(source):
    source.write_text(source.read_text().partition("[qrels]")[0])


def _nothing_relevant(source):
    (source.parent / "qrels.txt").write_text("1 0 a1 0\n")


def _treated_already(source):
    path = source.parent / "topics.jsonl"
    path.write_text(path.read_text().replace('"gene"', '"treatment"'))


def _nothing_to_read(source):
    (source.parent / "docs.jsonl").write_text('{"id": "b", "abstract": "Nothing."}\n')


@pytest.mark.parametrize(
    ("change", "knowledge", "message"),
    [
        (_unjudged, KB, "'gist' has no judgments"),
        (_nothing_relevant, KB, "no topic of 'gist' has a relevant document"),
        (_treated_already, KB, "topics of 'gist' have the field 'treatment' already"),
        (_nothing_to_read, KB, "the 0 relevant articles of 'gist' that are there: 0; treatments"),
        (None, ("names", "nowhere"), "'nowhere' is not installed"),
        (None, ("genes",), "no drug is in the knowledge bases \\(genes\\)"),
    ],
)
def test_what_cannot_be_built_leaves_nothing(source, tmp_path, change, knowledge, message):
    if change:
        change(source)
    with pytest.raises(InputError, match=message):
        build_treatments(str(source), tmp_path / "treated", CHOICE, knowledge)
    assert [path.name for path in tmp_path.iterdir()] == ["source"]


def test_where_no_topic_could_be_made_it_says_how_many_drugs_there_are(source, tmp_path):
    with pytest.raises(InputError, match="there: 6; treatments among these: 2; in 4 or more"):
        build_treatments(str(source), tmp_path / "treated", Choice(at_least=4), KB)
