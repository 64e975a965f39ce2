"""Resources of twenty topics, and a reranker that has learned nothing yet."""

import pytest
from letters import CORPUS
from memory import Memory
from small import SmallResources

from irplatform.collection_resources import CollectionResources


@pytest.fixture
def resources():
    made = CollectionResources(CORPUS, device="cpu", seed=1, threads=1)
    made.documents = SmallResources().documents
    return made


@pytest.fixture
def nothing_fitted():
    """Forget what was fitted before."""
    Memory.fitted = []
    Memory.interrupt_at = None
