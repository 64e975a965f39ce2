"""What the id of a topic or a document may be, wherever it comes from: a column of TREC's files.

Control characters are refused because programs that read such files, trec_eval among them, end a
text at some of them; and Lucene's longest term bounds the id of a document.
"""

from __future__ import annotations

import re

MOST_BYTES = 32_766
"""Of a term of Lucene's, in UTF-8."""
_MARK = "\ufeff"
"""A byte order mark, which programs take off the beginning of a file."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def fault(identifier: str) -> str:
    """Why a text can be no id, to go on after it in a sentence; "" where it can."""
    if not identifier:
        return "is empty"
    if identifier.split() != [identifier]:
        return "has white space in it, which run files cannot hold"
    if _CONTROL.search(identifier):
        return "has a control character in it, which run files cannot hold"
    if _MARK in identifier:
        return "has a byte order mark in it, which programs take off files"
    # No character takes more than four bytes: what is short need not be encoded.
    if len(identifier) > MOST_BYTES // 4:
        size = len(identifier.encode("utf-8", "surrogatepass"))
        if size > MOST_BYTES:
            return f"has {size:,} bytes, of which an index takes {MOST_BYTES:,}"
    return ""
