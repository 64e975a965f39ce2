"""Collections that a command makes: what there is, and what to say of one that is not made yet."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True)
class Builder:
    """A part of `platform collections build`.

    Attributes:
        name: as the command calls it.
        makes: what it makes, in a line.
        named: whether `--collection NAME` means what it makes; otherwise the user names it.
    """

    name: str
    makes: str
    named: bool

    @property
    def command(self) -> str:
        """What the user types."""
        return f"platform collections build {self.name}"


BUILDERS: Mapping[str, Builder] = {
    builder.name: builder
    for builder in (
        Builder("trec-pm-pool-2017", "TREC PM 2017, the judged documents only", named=True),
        Builder("trec-pm-pool-2018", "TREC PM 2018, the judged documents only", named=True),
        Builder("pubmed-articles", "the articles of PubMed that judgments name", named=False),
        Builder("mesh", "MeSH-term queries for the documents of a collection", named=False),
        Builder("new-documents", "halves of a collection that share no document", named=False),
    )
}
"""What can be built, by name."""


def check_built(name: str) -> None:
    """Say how a collection is built, for a name that nothing has.

    Raises:
        InputError: it can be built.
    """
    builder = BUILDERS.get(name)
    if builder and builder.named:
        raise InputError(
            f"'{name}' ({builder.makes}) is not built yet. `{builder.command}` fetches it; with "
            "--dry-run it only says what, from where, and how much."
        )
