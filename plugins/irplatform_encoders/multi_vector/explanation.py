"""Which words of a query met which words of a document, and what each meeting adds to the score."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Mapping

    from irplatform.kit import Float32
    from irplatform_encoders.multi_vector.model import TokenEncoder

_WORD = re.compile(r"\S+")
_NEIGHBOURS = 2  # words on each side of a document's word
_MOST_ADDED = 5  # words that tokens which are no words met, those that add most


class Token(NamedTuple):
    """A token of a text: the word that it is part of, and the word with its neighbours.

    `is_word` is false for what the model puts before, after and into a text, such as [CLS].
    """

    word: str
    in_context: str
    is_word: bool


class Explainer:
    """Explains scores of a query's documents."""

    def __init__(self, encoder: TokenEncoder, query: str, vectors: Float32) -> None:
        self._encoder = encoder
        self._vectors = vectors
        self._query = tokens_of(encoder, query, "query")

    def explain(self, text: str, part: int, vectors: Float32) -> Mapping[str, Any]:
        """The meetings of the query's tokens with those of a part of a document.

        Args:
            text: of the document.
            part: its number.
            vectors: of the part's tokens, float32 [tokens, width].
        """
        parts = self._encoder.split([text])[0]
        tokens = tokens_of(self._encoder, parts[part], "document")
        products = self._vectors @ vectors.T
        places = products.argmax(axis=1)
        share = len(products) if self._encoder.mean else 1
        adds = products[np.arange(len(products)), places].astype(np.float64) / share
        words = [place for place, token in enumerate(self._query) if token.is_word]
        marks = [place for place in range(len(products)) if place not in {*words}]

        def word_at(place: int) -> str | None:
            return tokens[places[place]].in_context if len(tokens) == len(vectors) else None

        explanation: dict[str, Any] = {}
        if len(parts) > 1:
            explanation["part"] = f"{part + 1} of {len(parts)}"
        explanation["of words"] = float(adds[words].sum())
        explanation["of added tokens"] = float(adds[marks].sum())
        explanation["words"] = [
            {
                "query word": self._query[place].word,
                "document word": word_at(place),
                "adds": float(adds[place]),
            }
            for place in words
        ]
        by_word: dict[str | None, list[float]] = defaultdict(list)
        for place in marks:
            by_word[word_at(place)].append(float(adds[place]))
        explanation["added tokens"] = [
            {"document word": word, "times": len(shares), "adds": sum(shares)}
            for word, shares in sorted(by_word.items(), key=lambda item: -sum(item[1]))
        ][:_MOST_ADDED]
        return explanation


def tokens_of(encoder: TokenEncoder, text: str, task: str) -> list[Token]:
    """The tokens of a text that count, in the order of their vectors; [] if they have none.

    Args:
        encoder: which reads the text.
        text: a query or a part of a document.
        task: "query" or "document".
    """
    places = encoder.read(text, task)
    prompt = encoder.prompt(task)
    tokenizer, spans = encoder.tokenizer, encoder.spans(prompt + text)
    names = tokenizer.convert_ids_to_tokens([number for _, number in places])
    tokens = []
    for (place, number), name in zip(places, names, strict=True):
        span = spans[place] if place < len(spans) else None
        if span is None or span[0] != number or span[2] <= max(span[1], len(prompt)):
            tokens.append(Token(name, name, False))
        else:
            begin, end = max(0, span[1] - len(prompt)), span[2] - len(prompt)
            tokens.append(_token(text, begin, end))
    return tokens


def _token(text: str, begin: int, end: int) -> Token:
    """The token at a place of a text; what is only a part of a word is put in brackets."""
    while begin < end and text[begin].isspace():  # some tokenizers count the blank before a word
        begin += 1
    words = list(_WORD.finditer(text))
    number = next((n for n, word in enumerate(words) if word.end() > begin), None)
    if number is None:
        return Token(text[begin:end], text[begin:end], False)
    word = words[number]
    if begin <= word.start() and word.end() <= end:
        label = word[0]
    else:
        label = f"{text[word.start() : begin]}[{text[begin:end]}]{text[end : word.end()]}"
    before = [neighbour[0] for neighbour in words[max(0, number - _NEIGHBOURS) : number]]
    after = [neighbour[0] for neighbour in words[number + 1 : number + 1 + _NEIGHBOURS]]
    return Token(label, " ".join([*before, f"«{label}»", *after]), True)
