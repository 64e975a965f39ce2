"""Documents that a retriever finds and the collection lacks are told, and left out."""

from types import SimpleNamespace

import pytest
from small import PLUGIN

from irplatform.collection_resources import CollectionResources
from irplatform.errors import PluginError
from irplatform.plugin import Options, Retriever, Topic
from irplatform.registry.loading import registry
from irplatform.registry.registration import Plugin, Registration
from irplatform.retrieval.retrievers import ChosenRetriever, cached_runs, checked_run
from irplatform.runs import Ranking, Run

HELD = {"d1", "d2", "d3"}
TOPICS = [Topic("t1", "query"), Topic("t2", "query")]
OURS = Plugin("ours", "irplatform", "0.2")


def _choice(ids, plugin=PLUGIN):
    class Found(Retriever):
        def retrieve(self, topics, depth, resources):
            scores = range(len(ids), 0, -1)
            return Run("own", {topic.id: Ranking.of(ids, scores) for topic in topics})

    return ChosenRetriever(Registration("own", "retriever", Found, {}, plugin), Options())


def _resources():
    requests, messages = [], []

    def missing(ids):
        requests.extend(ids)
        return {*ids} - HELD

    index = SimpleNamespace(missing=missing)
    return (
        SimpleNamespace(device="cpu", index=lambda: index, notice=messages.append),
        requests,
        messages,
    )


def test_documents_of_the_collection_are_looked_up_once_and_stay():
    resources, requests, messages = _resources()
    run = checked_run(_choice(["d2", "d1"]), TOPICS, 10, resources)
    assert run.rankings["t2"].doc_ids == ("d2", "d1")
    assert (requests, messages) == (["d2", "d1"], [])


def test_some_that_it_lacks_are_left_out_and_counted():
    resources, _, messages = _resources()
    run = checked_run(_choice(["d2", "PMC7", "d1", "PMC8"]), TOPICS, 10, resources)
    assert run.rankings["t1"].doc_ids == ("d2", "d1")
    assert run.rankings["t1"].scores.tolist() == [4.0, 2.0]
    assert messages == [
        "WARNING: retriever 'own' of plugin 'strange' (strange-distribution 1.2): 2 of 4 documents "
        "that own found are not in the collection (first: 'PMC7'); they are left out, and the "
        "others move up"
    ]


@pytest.mark.parametrize("ids", [["PMC1", "PMC2"], ["D1"], ["1"], ["d1.0", "d2.0"], ["pmid:d1"]])
def test_only_such_documents_are_an_error_that_names_the_retriever(ids):
    resources, _, _ = _resources()
    message = f"retriever 'own' of plugin .*: {len(ids)} of {len(ids)} documents that own found are"
    with pytest.raises(PluginError, match=f"{message} not in the collection .first: '{ids[0]}'."):
        checked_run(_choice(ids), TOPICS, 10, resources)


def test_no_document_at_all_is_no_error():
    resources, requests, _ = _resources()
    assert len(checked_run(_choice([]), TOPICS, 10, resources).rankings["t1"]) == 0
    assert requests == []


def test_the_platforms_own_retrievers_are_not_looked_up():
    resources, requests, _ = _resources()
    checked_run(_choice(["anything"], OURS), TOPICS, 10, resources)
    assert requests == []


@pytest.mark.java
def test_it_is_told_again_when_the_run_is_in_the_cache(fresh_home, capsys):
    corpus = registry().collection("demo").corpus
    choice = _choice(["demo0001", "PMC0"])
    for _ in range(2):
        resources = CollectionResources(corpus, "cpu", 1, 1)
        (retrieved,) = cached_runs([choice], TOPICS, 10, resources, label="demo")
        assert retrieved.run.rankings["t1"].doc_ids == ("demo0001",)
        assert "1 of 2 documents that own found" in capsys.readouterr().err
