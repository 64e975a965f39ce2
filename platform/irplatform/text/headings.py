"""MeSH headings as a document's field has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import FieldValue


def main_headings(value: FieldValue | None) -> list[str]:
    """Headings without their qualifiers and the stars of major topics, each once.

    Args:
        value: several texts, or one with semicolons; `*Melanoma / drug therapy` is *Melanoma*.
    """
    if value is None:
        return []
    values: Sequence[str] = value.split(";") if isinstance(value, str) else value
    names = (" ".join(text.replace("*", "").partition("/")[0].split()) for text in values)
    return [name for name in dict.fromkeys(names) if name.strip(" ,")]
