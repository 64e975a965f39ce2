"""The template that makes a query from a topic's fields, as in `"{disease} {gene}"`.

It knows placeholders and nothing else. `str.format` would also follow attributes and indexes of
whatever it is given, which a file of data must not be able to ask for.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.errors import InputError, did_you_mean

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from irplatform.plugin import FieldValue

_PLACEHOLDER = re.compile(r"\{\s*([^\s{}](?:[^{}]*[^\s{}])?)\s*\}")


@dataclass(frozen=True)
class QueryTemplate:
    """A query with placeholders for fields."""

    text: str

    @property
    def names(self) -> tuple[str, ...]:
        """The fields that it asks for."""
        return tuple(_PLACEHOLDER.findall(self.text))

    def check_syntax(self) -> None:
        """Refuse a template without placeholders, or with a brace out of place."""
        rest = _PLACEHOLDER.sub("", self.text)
        if not self.names or "{" in rest or "}" in rest:
            raise InputError(
                f"the query template {self.text!r} is not right: put names of fields in braces, as "
                'in "{disease} {gene}".'
            )

    def check(self, known: Iterable[str]) -> None:
        """Refuse a template that is malformed or asks for a field which no topic has."""
        self.check_syntax()
        fields = sorted(known)
        for name in self.names:
            if name not in fields:
                guess = did_you_mean(name, fields)
                raise InputError(
                    f"the query template {self.text!r} asks for the field '{name}', which no topic "
                    f"has. {guess}{' ' if guess else ''}Fields: {', '.join(fields) or 'none'}. "
                    "`query` under [topics] in a collection.toml names those to search."
                )

    def fill(self, fields: Mapping[str, FieldValue]) -> str:
        """The query of a topic; a field that it lacks adds nothing."""
        filled = _PLACEHOLDER.sub(lambda match: _flat(fields.get(match[1], "")), self.text)
        return " ".join(filled.split())


def _flat(value: FieldValue) -> str:
    return value if isinstance(value, str) else " ".join(value)
