"""Names of runs that are made of others: the fused first stage, and what rerankers leave."""

from __future__ import annotations

import re

FUSED = "fused"
"""The run that several retrievers make together."""
_SEED = re.compile(r"-seed\d+$")


def alone_name(name: str) -> str:
    """The name of a reranker's own scores, without the first stage's."""
    return f"{name}-alone"


def system_of(name: str) -> str:
    """The system whose run has a name: delta for delta-seed42-alone."""
    return _SEED.sub("", name.removesuffix(alone_name("")))
