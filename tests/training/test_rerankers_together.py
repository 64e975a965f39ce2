"""Two processes can train whatever learns, and end with the same weights."""

import pytest
from rerankers_together import Share, kinds, train_all

from irplatform.system.workers import all_at_once
from irplatform.training.distributed import Place


@pytest.fixture(scope="module")
def both(tmp_path_factory):
    """What either process saves of each reranker."""
    folder = tmp_path_factory.mktemp("both")
    (folder / "meeting").mkdir()
    shares = [
        Share(
            Place(rank, 2, folder / "meeting", folder / f"work-{rank}", folder / "work-0"),
            folder / f"resources-{rank}",
        )
        for rank in (0, 1)
    ]
    return all_at_once(train_all, shares)


@pytest.mark.parametrize("name", kinds())
def test_two_processes_train_it_to_the_same_weights(both, name):
    first, second = (found[name] for found in both)
    assert isinstance(first, dict), first
    assert first == second
