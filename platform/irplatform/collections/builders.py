"""The collections that a command makes, and the answer to the name of one that is not made yet."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

_POOL = "trec-pm-pool-"
"""Begins the names that `--collection` takes; of all others the user names the folder."""
BUILDERS: Mapping[str, str] = {
    f"{_POOL}2017": "TREC PM 2017, the judged documents only",
    f"{_POOL}2018": "TREC PM 2018, the judged documents only",
    "pubmed-articles": "the articles of PubMed that judgments name",
    "mesh": "MeSH-term queries for the documents of a collection",
    "new-documents": "halves of a collection that share no document",
}
"""Parts of `platform collections build`, and what each makes."""


def check_built(name: str) -> None:
    """Refuse the name of a collection that can be built and is not built yet.

    Raises:
        InputError: the message names the command that builds it.
    """
    if name.startswith(_POOL) and name in BUILDERS:
        raise InputError(
            f"'{name}' ({BUILDERS[name]}) is not built yet. `platform collections build {name}` "
            "fetches it; with --dry-run it only says what, from where, and how much."
        )
