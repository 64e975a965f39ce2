"""A small dataset of ir_datasets."""

import pytest


@pytest.fixture
def registered(monkeypatch):
    """A dataset with the splits train, dev and test, known under a name of its own."""
    import ir_datasets
    from ir_datasets.datasets.base import Dataset
    from irds_parts import Docs, Qrels, Queries

    monkeypatch.setattr(ir_datasets.registry, "_registered", dict(ir_datasets.registry._registered))
    docs = Docs()
    ir_datasets.registry.register("local", Dataset(docs))
    for split in ("train", "dev", "test"):
        ir_datasets.registry.register(f"local/{split}", Dataset(docs, Queries(split), Qrels(split)))
    return "local"
