"""The first stage: runs of retrievers, checked, kept, fused; and the candidates."""

from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from irplatform.collection_resources import CollectionResources
from irplatform.errors import PluginError
from irplatform.plugin import Document, Options, Reads, Retriever, Topic, Traits
from irplatform.registry.registration import Plugin, Registration
from irplatform.retrieval.candidates import Candidates
from irplatform.retrieval.retrievers import ChosenRetriever, cached_runs
from irplatform.runs import Ranking, Run

pytestmark = pytest.mark.usefixtures("fresh_home")

TOPICS = [Topic("1", "a"), Topic("2", "b"), Topic("3", "nothing")]


class Indexed(CollectionResources):
    """Resources of a corpus that nobody has to index."""

    def index_artifact(self):
        return SimpleNamespace(fingerprint="index")

    def index(self):
        return SimpleNamespace(missing=lambda ids: {doc_id for doc_id in ids if len(doc_id) != 1})


RESOURCES = Indexed(corpus=None, device="cpu", seed=1, threads=1)
WHO = r"retriever 'one' of plugin 'strange' \(strange-distribution 1.2\)"


def _ranking(ids):
    return Ranking.of(list(ids), [float(len(ids) - i) for i in range(len(ids))])


def _choice(results, name="one", calls=None):
    class Found(Retriever):
        def retrieve(self, topics, depth, resources):
            if calls is not None:
                calls.append(name)
            if not isinstance(results, dict):
                return results
            return Run("whatever", {topic: _ranking(ids) for topic, ids in results.items()})

    plugin = Plugin("strange", "strange-distribution", "1.2")
    return ChosenRetriever(Registration(name, "retriever", Found, {}, plugin), Options())


def _retrieve(*choices, depth=10, topics=TOPICS, rerank_depth=10, resources=RESOURCES):
    runs = cached_runs(choices, topics, depth, resources, label="test")
    return Candidates.of(topics, runs, rerank_depth, depth)


def test_a_single_retriever_is_the_first_stage():
    first = _retrieve(_choice({"1": "xyz", "2": "y", "3": ""}))
    assert first.first is first.runs[0]
    assert first.first.name == "one"
    assert {t: "".join(r.doc_ids) for t, r in first.first.rankings.items()} == {
        "1": "xyz",
        "2": "y",
        "3": "",
    }


def test_no_more_than_depth_is_kept():
    first = _retrieve(_choice({"1": "xyz", "2": "y", "3": ""}), depth=2)
    assert first.first.rankings["1"].doc_ids == ("x", "y")


def test_what_was_found_is_kept():
    calls = []
    results = {"1": "xyz", "2": "y", "3": ""}
    first = _retrieve(_choice(results, calls=calls))
    again = _retrieve(_choice(results, calls=calls))
    assert calls == ["one"]
    assert again.fingerprint == first.fingerprint
    assert again.first.rankings["1"].doc_ids == ("x", "y", "z")
    _retrieve(_choice(results, calls=calls), depth=5)
    _retrieve(_choice(results, calls=calls), topics=[Topic("1", "other"), *TOPICS[1:]])
    assert len(calls) == 3


def test_nothing_found_at_all_is_no_error():
    results = {"1": "", "2": "", "3": ""}
    assert [len(r) for r in _retrieve(_choice(results)).first.rankings.values()] == [0, 0, 0]
    assert [len(r) for r in _retrieve(_choice(results)).first.rankings.values()] == [0, 0, 0]


def test_several_retrievers_are_fused():
    first = _retrieve(
        _choice({"1": "xy", "2": "", "3": ""}), _choice({"1": "yz", "2": "a", "3": ""}, "two")
    )
    assert [run.name for run in first.runs] == ["one", "two"]
    assert first.first.name == "fused"
    assert first.first.rankings["1"].doc_ids == ("y", "x", "z")
    assert first.first.rankings["2"].doc_ids == ("a",)


def test_candidates_are_the_union_of_first_documents_in_the_order_of_the_fusion():
    choices = (
        _choice({"1": "abcd", "2": "", "3": ""}),
        _choice({"1": "dcef", "2": "g", "3": ""}, "two"),
    )
    first = _retrieve(*choices, rerank_depth=2)
    order = first.first.rankings["1"].doc_ids
    assert first.per_topic == {
        "1": tuple(d for d in order if d in "abcd"),
        "2": ("g",),
        "3": (),
    }
    assert set(_retrieve(*choices, rerank_depth=1).per_topic["1"]) == {"a", "d"}


def test_anything_but_a_run_names_the_plugin():
    with pytest.raises(PluginError, match=f"{WHO} returned list, not a Run"):
        _retrieve(_choice([]))


@pytest.mark.parametrize(
    ("ranking", "message"),
    [
        (["x", "y"], r"failed searching: ValueError: .* topic '2' are \['x', 'y'\], not a Ranking"),
        (None, "failed searching: ValueError: the results of topic '2' are None, not a Ranking"),
        (
            Ranking.in_order((0, 5), np.array([2.0, 1.0])),
            r"found document 0 for topic 2: ids are text\.",
        ),
    ],
)
def test_what_it_finds_are_rankings_of_documents_of_the_collection(ranking, message):
    class Odd(Retriever):
        def retrieve(self, topics, depth, resources):
            return Run("odd", {"1": _ranking("xyz"), "2": ranking, "3": _ranking("")})

    plugin = Plugin("strange", "strange-distribution", "1.2")
    choice = ChosenRetriever(Registration("one", "retriever", Odd, {}, plugin), Options())
    with pytest.raises(PluginError, match=f"{WHO} {message}"):
        _retrieve(choice)


def test_a_forgotten_topic_names_the_plugin():
    with pytest.raises(PluginError, match=f"{WHO} returned no ranking for topic 3"):
        _retrieve(_choice({"1": "x", "2": "y"}))


def _odd(**methods):
    plugin = Plugin("strange", "strange-distribution", "1.2")
    system = type("Odd", (Retriever,), methods)
    return ChosenRetriever(Registration("one", "retriever", system, {}, plugin), Options())


def _raises(*arguments):
    raise KeyError("gone")


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"__init__": _raises}, "failed being made: KeyError: 'gone'"),
        ({"reads": _raises}, "failed returning what it reads: KeyError: 'gone'"),
        ({"reads": lambda self: Path("x")}, "returned PosixPath from reads; irplatform"),
        (
            {"reads": lambda self: Reads(more={"x": {1}})},
            "returned a value from reads that is not JSON",
        ),
        (
            {"traits": lambda self: Traits(remark=3)},
            "failed returning its traits: TypeError: remark of Traits is 3",
        ),
        ({"traits": _raises}, "failed returning its traits: KeyError: 'gone'"),
    ],
)
def test_one_that_cannot_describe_itself_is_named(methods, message):
    with pytest.raises(PluginError, match=f"{WHO} ?{message}"):
        odd = _odd(**methods)
        odd.describe()


def test_what_it_says_about_topics_is_json():
    with pytest.raises(
        PluginError, match=f"{WHO} returned a value from describe_run that is not JSON"
    ):
        _odd(describe_run=lambda self, topics, resources: {"x": {1}}).describe_run(
            TOPICS, RESOURCES
        )


def test_every_retriever_has_its_own_seconds():
    results = {"1": "xyz", "2": "y", "3": ""}
    first = _retrieve(_choice(results), _choice(results, name="two"))
    assert [list(retrieval.seconds) for retrieval in first.retrieved] == [
        ["retrieve"],
        ["retrieve"],
    ]


def test_a_retriever_that_draws_has_a_run_for_every_seed():
    """Unless it says that it draws nothing."""
    calls = []
    drawing, steady = _choice({"1": "x", "2": "", "3": ""}, calls=calls), []
    for seed in (1, 2):
        _retrieve(drawing, resources=Indexed(None, device="cpu", seed=seed, threads=1))
    assert len(calls) == 2
    fixed = _choice({"1": "x", "2": "", "3": ""}, name="fixed", calls=steady)
    fixed.registration.system.traits = lambda self: Traits(seeded=False)
    for seed in (1, 2):
        _retrieve(fixed, resources=Indexed(None, device="cpu", seed=seed, threads=1))
    assert len(steady) == 1


@pytest.mark.parametrize(("on_device", "searched"), [(True, 2), (False, 1)])
def test_a_retriever_that_computes_on_a_device_has_a_run_for_every_number_of_threads(
    on_device, searched
):
    """What it trains or computes there is rounded otherwise."""
    calls = []
    choice = _choice({"1": "x", "2": "", "3": ""}, calls=calls)
    choice.registration.system.traits = lambda self: Traits(on_device=on_device)
    for threads in (1, 2, 1):
        resources = Indexed(None, device="cpu", seed=1, threads=1, model_threads=threads)
        _retrieve(choice, resources=resources)
    assert len(calls) == searched


def test_each_run_names_what_it_was_made_with_wherever_it_comes_from():
    """What other retrievers of the command use is not among it; what made a kept run is."""
    results = {"1": "x", "2": "", "3": ""}
    plain, reading = _choice(results, "plain"), _choice(results, "reading")
    search = reading.registration.system.retrieve

    def read(self, topics, depth, resources):
        resources.forward_index()
        return search(self, topics, depth, resources)

    reading.registration.system.retrieve = read
    for order in ([reading, plain], [plain, reading]):
        resources = Indexed(corpus=None, device="cpu", seed=1, threads=1)
        built = SimpleNamespace(fingerprint="forward", path=Path("forward"))
        resources._opened.forward_index = built, built
        first = _retrieve(*order, resources=resources)
        made_with = {retrieval.run.name: retrieval.artifacts for retrieval in first.retrieved}
        assert made_with == {
            "plain": {"index": "index"},
            "reading": {"index": "index", "forward_index": "forward"},
        }
        assert first.artifacts == made_with["reading"]


@pytest.mark.parametrize(
    ("on_device", "seeded", "facts"),
    [
        (False, False, {}),
        (False, True, {"seed": 1}),
        (True, False, {"device": "cpu", "model_threads": 1}),
        (True, True, {"seed": 1, "device": "cpu", "model_threads": 1}),
    ],
)
def test_seed_and_device_are_told_of_retrievers_that_depend_on_them(on_device, seeded, facts):
    choice = _choice({"1": "x", "2": "", "3": ""})
    traits = Traits(on_device=on_device, seeded=seeded)
    choice.registration.system.traits = lambda self: traits
    (description,) = _retrieve(choice).describe()
    assert {
        name: description[name]
        for name in ("seed", "device", "model_threads")
        if name in description
    } == facts


def test_later_documents_are_left_out_for_retrievers_that_do_not_know_of_dates():
    class Dated(Indexed):
        def documents(self, doc_ids):
            return [Document(d, "", "", {"year": f"20{ord(d) - 100:02}"}) for d in doc_ids]

    resources = Dated(corpus=None, device="cpu", seed=1, threads=1)
    topics = [Topic("1", "a", {"published_before": "2021"}), Topic("2", "b"), Topic("3", "c")]
    choice = _choice({"1": "yx", "2": "yx", "3": ""})
    first = _retrieve(choice, topics=topics, resources=resources)
    assert first.first.rankings["1"].doc_ids == ("x",)
    assert first.first.rankings["2"].doc_ids == ("y", "x")
