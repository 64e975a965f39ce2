"""The kinds of what the harness keeps in the cache: its folders there."""

from __future__ import annotations

EXACT_KINDS = frozenset(
    {
        "check",
        "citing-sentences",
        "concept-table",
        "fields",
        "forward-index",
        "index",
        "lucene",
        "mesh-queries",
    }
)
"""Those of artifacts that no processor rounds, and that every arithmetic shares."""
OWN_KINDS = EXACT_KINDS | {
    "checkpoint",
    "collections",
    "concept-linker",
    "concepts",
    "features",
    "kb",
    "learned-features",
    "locks",
    "reproduce",
    "run",
    "scores",
    "tune",
    "vectors",
}
"""Those that no plugin of a stranger may use."""
