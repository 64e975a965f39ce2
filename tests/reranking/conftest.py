"""Resources of twenty topics, and a reranker that has learned nothing yet."""

import pytest
from letters import CORPUS
from memory import Memory
from small import SmallResources

from irplatform.collection_resources import CollectionResources


@pytest.fixture
def resources():
    collection_resources = CollectionResources(CORPUS, device="cpu", seed=1, threads=1)
    collection_resources.documents = SmallResources().documents
    return collection_resources


@pytest.fixture
def nothing_fitted():
    """Forget what was fitted before."""
    Memory.fitted = []
    Memory.interrupt_at = None
