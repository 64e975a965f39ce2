"""Learning for a collection: the topics to train, validate, tune and fuse on."""

from dataclasses import replace

import pytest
from letters import CORPUS, OTHER_CORPUS, TOPICS, Letters, Witness, choose

from irplatform.collection_resources import CollectionResources
from irplatform.collections.derived import joined
from irplatform.data import Collection
from irplatform.errors import InputError
from irplatform.experiment.learning import (
    check_cross_validation,
    find_training,
    to_fuse_on,
    topics_to_tune_on,
    training_candidates,
    warning_of_fields,
)
from irplatform.plugin import Topic
from irplatform.retrieval.first_stage import FirstStage

pytestmark = pytest.mark.usefixtures("fresh_home")


def make_collection(name="c", **facts):
    facts = {"load_qrels": lambda: {"t0": {"a": 1}}, **facts}
    return Collection(name, name, CORPUS, lambda: TOPICS, **facts)


def test_asking_for_what_no_training_topic_asks_for_is_told():
    plain = [Topic("1", "", {"disease": "melanoma", "note": "x", "treatment": ""})]
    asking = [*plain, Topic("2", "", {"disease": "melanoma", "treatment": "imatinib"})]
    warning = warning_of_fields(asking, plain)
    assert warning.startswith(
        "WARNING: these topics have the field treatment, and no training topic"
    )
    assert warning_of_fields(plain, asking) == warning_of_fields(asking, asking) == ""
    assert "field disease and treatment" in warning_of_fields(asking, TOPICS)
    warning = warning_of_fields(TOPICS, asking)
    assert warning.startswith("WARNING: the training topics have the field disease and treatment,")
    assert warning_of_fields(TOPICS, TOPICS) == ""


def test_a_collection_does_not_train_for_itself():
    with pytest.raises(InputError, match="'c' cannot train rerankers for itself"):
        find_training(make_collection(), [make_collection()])


def test_the_named_collection_goes_before_the_partner():
    partner, source = make_collection("partner"), make_collection("named")
    evaluated = make_collection(training=lambda: partner)
    assert find_training(evaluated, []) is partner
    assert find_training(evaluated, [source]) is source
    assert find_training(make_collection(), []) is None


def test_what_is_evaluated_does_not_validate_the_training():
    evaluated = make_collection("a-dev")
    source = make_collection("a-train", validation=lambda: make_collection("a-dev"))
    other = make_collection("b-train", validation=lambda: make_collection("b-dev"))
    assert find_training(evaluated, [source]).validation is None
    assert find_training(evaluated, [other]) is other
    assert find_training(evaluated, [source, other]).validation is None
    assert find_training(make_collection("c"), [source, other]).validation().id == "a-dev+b-dev"


def test_a_training_collection_needs_judgments():
    with pytest.raises(InputError, match="'named' has no judgments to train on"):
        find_training(make_collection(), [make_collection("named", load_qrels=None)])


def test_several_named_collections_are_learned_from_together():
    evaluated, a, b = make_collection(), make_collection("a"), make_collection("b")
    assert find_training(evaluated, [a, b]).id == "a+b"
    with pytest.raises(InputError, match="'a' is named twice"):
        find_training(evaluated, [a, b, a])
    with pytest.raises(InputError, match="'c' cannot train rerankers for itself"):
        find_training(evaluated, [a, evaluated])
    with pytest.raises(InputError, match="'b' has no judgments to train on"):
        find_training(evaluated, [a, replace(b, load_qrels=None)])
    other = replace(b, corpus=OTHER_CORPUS)
    with pytest.raises(InputError, match="'b' has other documents than 'a': they cannot"):
        find_training(evaluated, [a, other])
    partners = joined([a, evaluated])
    with pytest.raises(InputError, match="'c' cannot train rerankers for itself"):
        find_training(replace(evaluated, training=lambda: partners), [])


def test_training_on_other_documents_is_refused():
    resources = CollectionResources(CORPUS, device="cpu", seed=1, threads=1)
    other = replace(make_collection("other"), corpus=OTHER_CORPUS)
    with pytest.raises(InputError, match=r"'other' has other documents.*checkpoint="):
        training_candidates(other, FirstStage(), resources)


def test_a_fusion_is_not_learned_over_other_documents_and_that_is_told(capsys):
    evaluated, partner = make_collection(), make_collection("partner", validation=make_collection)
    training = to_fuse_on(partner, evaluated, named=True)
    assert (training.id, training.validation) == ("partner", None)
    assert capsys.readouterr().err == ""
    other = replace(partner, corpus=OTHER_CORPUS)
    assert to_fuse_on(other, evaluated, named=False) is None
    assert capsys.readouterr().err == (
        "partner: has other documents than 'c', so that all retrievers count the same when they "
        "are fused\n"
    )
    with pytest.raises(InputError, match=r"'partner' has other documents than 'c': .*fusion='ra"):
        to_fuse_on(other, evaluated, named=True)


def test_few_judged_topics_cannot_teach(capsys):
    few = {f"t{n}": {"a": 1} for n in range(9)}
    many = {f"t{n}": {"a": 1} for n in range(10)}
    worthless = {f"t{n}": {"a": 0} for n in range(30)}
    assert check_cross_validation(make_collection(), [choose(Letters)], few) is False
    strange = {f"x{n}": {"a": 1} for n in range(30)}  # the collection has no such topics
    one = {"t0": {"a": 1}}
    for judgments, phrase in (
        (few, "9 topics with a relevant document are"),
        (one, "1 topic with a relevant document is"),
        (worthless, "0 topics with a relevant document are"),
        (None, "0 topics with a relevant document are"),
        ({**few, **strange}, "9 topics with a relevant document are"),
    ):
        with pytest.raises(InputError, match=f"its own {phrase} too few"):
            check_cross_validation(make_collection(), [choose(Witness)], judgments)
    assert capsys.readouterr().err == ""
    same = replace(
        make_collection(), load_topics=lambda: [Topic(f"t{n}", "melanoma") for n in range(30)]
    )
    with pytest.raises(
        InputError,
        match="its own 10 topics with a relevant document, which ask for 1 different things",
    ):
        check_cross_validation(same, [choose(Witness)], many)
    sentences = [Topic(f"t{n}", f"word{n}", {"citing_id": str(n % 3)}) for n in range(30)]
    cited = replace(make_collection(), load_topics=lambda: sentences)
    with pytest.raises(
        InputError,
        match=r"its own 10 topics with a relevant document, which come from 3 different sources",
    ):
        check_cross_validation(cited, [choose(Witness)], many)
    assert check_cross_validation(make_collection(), [choose(Witness)], many) is True
    notice = "cross-validating over its own 10 topics with a relevant document in 5 folds"
    assert notice in capsys.readouterr().err


def test_options_are_tuned_on_the_partner_never_on_the_collection_itself_unasked():
    partner, source = make_collection("partner"), make_collection("named")
    evaluated = make_collection(training=lambda: partner)
    assert topics_to_tune_on(evaluated, [], itself=False) is partner
    assert topics_to_tune_on(evaluated, [source], itself=False) is source
    assert topics_to_tune_on(evaluated, [], itself=True) is evaluated
    with pytest.raises(InputError, match="its own topics are kept for testing"):
        topics_to_tune_on(make_collection(), [], itself=False)
    with pytest.raises(InputError, match="name different topics; give one"):
        topics_to_tune_on(evaluated, [source], itself=True)
    with pytest.raises(InputError, match="'c' has no judgments to tune on"):
        topics_to_tune_on(make_collection(load_qrels=None), [], itself=True)
