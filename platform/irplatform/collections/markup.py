"""Markup in texts: tags of HTML and JATS, and entities that nobody resolved.

Texts are searched as they are: `<b>` as the word "b", `&amp;` as "amp". As `<` and `&` mean other
things in science, names of tags alone count, and entities with their semicolon.
"""

from __future__ import annotations

import re

_TAGS = (
    "a abstracttext b big blockquote body bold br center code dd div dl dt em font h[1-6] head hr "
    "html i img italic jats:[a-z-]+ li ol p pre sc script sec small span strong style sub sup "
    "table tbody td th thead title tr tt u ul xref"
)
_MARKUP = re.compile(
    rf"</?(?:{'|'.join(_TAGS.split())})(?:\s+[\w:-]+\s*=[^<>]*)?\s*/?>"
    r"|&(?:[a-z][a-z0-9]{1,7}|#x?[0-9a-f]{1,6});",
    re.IGNORECASE,
)


def first_markup(text: str) -> str:
    """The first tag or entity of a text; "" where it has none."""
    match = _MARKUP.search(text)
    return match[0] if match else ""
