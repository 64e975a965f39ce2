"""What a document or a concept is joined to in a graph, for a reader."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.errors import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

_NAMES = 12
"""Names of a concept that are shown."""


def document_lines(facts: Mapping[str, Any]) -> Iterator[str]:
    """A document's concepts and the relations between them, as `describe` tells them."""
    yield f"document {facts['id']}: {counted(len(facts['concepts']), 'concept')}"
    for each in facts["concepts"]:
        yield f"  {each['count']:>3} × {each['name']}  ({each['kind']}, {each['id']})"
    if facts["relations"]:
        yield f"{counted(len(facts['relations']), 'relation')} between them"
        for each in facts["relations"]:
            yield f"  {each['from']} → {each['to']}  ({each['relation']}, {each['kb']})"


def concept_lines(facts: Mapping[str, Any], others: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """A concept's names, neighbours and documents; then those named beside it."""
    documents = counted(facts["documents"], "document")
    yield f"{facts['id']}  {facts['name']}  ({facts['kind']}), in {documents}"
    names: dict[str, str] = {}
    for name in facts["names"]:
        names.setdefault(name.casefold(), name)  # those that differ in case alone are one
    first_names = list(names.values())[:_NAMES]
    yield f"  names  {'; '.join(first_names)}{' …' if len(names) > _NAMES else ''}"
    for edge in facts["edges"]:
        arrow = "→" if edge["forward"] else "←"
        yield f"  {arrow} {edge['relation']} ({edge['kb']}, {edge['count']:,})"
        for each in edge["neighbours"]:
            details = f"{each['kind']}, {each['id']}, {counted(each['documents'], 'document')}"
            yield f"    {each['name']}  ({details})"
    if facts["mentioned_in"]:
        mentions = ", ".join(f"{each['id']} ({each['count']})" for each in facts["mentioned_in"])
        yield f"  mentioned most in  {mentions}"
    if others:
        namesakes = ", ".join(f"{each['name']} ({each['id']})" for each in others)
        yield f"  named beside it  {namesakes}"
