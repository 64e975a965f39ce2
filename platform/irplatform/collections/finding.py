"""What a check of a collection finds."""

from __future__ import annotations

from dataclasses import dataclass

EXAMPLES = 5
"""Ids that a finding shows, at most."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong, or that a reader of the scores should know.

    Attributes:
        kind: what, in a word or two; stable, for programs.
        serious: whether scores cannot be trusted.
        count: of how many documents, topics or judgments.
        message: what, with the number, for people.
        examples: some of their ids.
    """

    kind: str
    serious: bool
    count: int
    message: str
    examples: tuple[str, ...] = ()
