"""Unicode's composed form (NFC): an "é" of one character, not of an "e" and an accent.

Lucene takes the two for different words, so that documents are indexed, and queries analyzed, in
this form.
"""

import unicodedata


def composed(text: str) -> str:
    """A text in Unicode's composed form."""
    return text if text.isascii() else unicodedata.normalize("NFC", text)
