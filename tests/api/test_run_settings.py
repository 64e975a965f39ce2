"""What a run can be told, refused as soon as it is told."""

import pytest

from irplatform.api import RunSettings
from irplatform.errors import InputError


def test_a_rerank_depth_that_has_no_effect_is_refused():
    with pytest.raises(InputError, match="--rerank-depth 101 has no effect beyond --depth 100"):
        RunSettings("demo", depth=100, rerank_depth=101)
    RunSettings("demo", depth=100, rerank_depth=100, rerankers=("delta",))


def test_the_usual_rerank_depth_goes_with_any_depth():
    assert RunSettings("demo", depth=100).depth == 100


@pytest.mark.parametrize("candidates", ["judged", "some.run"])
def test_candidates_that_are_not_found_do_not_heed_the_depth(candidates):
    RunSettings("demo", depth=100, rerank_depth=1000, candidates=candidates, rerankers=("delta",))


@pytest.mark.parametrize("candidates", ["retrieved", "some.run"])
def test_a_rerank_depth_without_rerankers_is_refused(candidates):
    with pytest.raises(InputError, match="--rerank-depth has no effect without --reranker NAME"):
        RunSettings("demo", rerank_depth=50, candidates=candidates)
    RunSettings("demo", candidates=candidates)
    RunSettings("demo", rerank_depth=50, candidates="judged")  # where it is idle anyway


def test_a_fusion_of_one_retriever_is_refused():
    with pytest.raises(InputError, match="--fusion plain has no effect without a second --retr"):
        RunSettings("demo", fusion="plain")
    RunSettings("demo", fusion="plain", retrievers=("bm25", "qld"))
    RunSettings("demo", fusion="auto")


@pytest.mark.parametrize(
    ("given", "what"),
    [
        ({"retrievers": ("rm3",)}, "--retriever rm3"),
        ({"retrievers": ("bm25", "qld")}, "--retriever bm25, qld"),
        ({"settings": {"bm25.expand": ["mesh"]}}, r"the setting of bm25\.expand"),
    ],
)
def test_retrievers_that_a_run_file_takes_the_place_of_are_refused(given, what):
    with pytest.raises(InputError, match=f"{what} has no effect without --reranker NAME"):
        RunSettings("demo", candidates="some.run", **given)
    for candidates, rerankers in (("some.run", ("delta",)), ("judged", ()), ("retrieved", ())):
        RunSettings("demo", candidates=candidates, rerankers=rerankers, **given)
