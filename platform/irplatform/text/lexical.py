"""The 18 lexical match features of Delta (Mohan et al., WWW 2018, "Lexical Match Features").

Each is a kind of match (`field_match`) of a query with a field of a document. The paper numbers
them 1 to 18; `ALL18` lists their names in that order, and `LEX3` those of the model Delta-32-Lex3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
import numpy.typing as npt
from pydantic import AfterValidator

from irplatform.errors import InputError, unknown
from irplatform.text.field_match import FieldMatch
from irplatform.text.forward_index import FIELDS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.text.arrays import Int32, Int64
    from irplatform.text.forward_index import ForwardIndex

_OVERLAPS = ("overlap", "bigram_overlap", "jaccard", "idf_overlap", "idf_jaccard")

ALL18: tuple[str, ...] = (
    *(f"{kind}_text" for kind in _OVERLAPS),
    *("bm25_title", "bm25_abstract", "bm25_text"),
    *(f"{kind}_title" for kind in _OVERLAPS),
    *(f"{kind}_abstract" for kind in _OVERLAPS),
)
"""All features, in the order of the paper: its number n is at place n - 1."""

LEX3: tuple[str, ...] = ("bm25_abstract", "idf_jaccard_title", "idf_overlap_title")
"""The features of Delta-32-Lex3, chosen by greedy search on the paper's validation data."""

_KINDS = {
    "overlap": FieldMatch.overlap,
    "bigram_overlap": FieldMatch.bigram_overlap,
    "jaccard": FieldMatch.jaccard,
    "idf_overlap": FieldMatch.idf_overlap,
    "idf_jaccard": FieldMatch.idf_jaccard,
    "bm25": FieldMatch.bm25,
}


def _only_known(names: tuple[str, ...]) -> tuple[str, ...]:
    for name in names:
        if name not in ALL18:
            raise ValueError(f"'{name}' is not one of {', '.join(ALL18)}")
    return names


LexicalNames = Annotated[tuple[str, ...], AfterValidator(_only_known)]
"""The type of an option that names some of these features."""


def feature_names(features: Sequence[str | int]) -> tuple[str, ...]:
    """Names of features that are given by name or by the paper's number.

    Raises:
        InputError: there is no such feature.
    """
    names = []
    for feature in features:
        if isinstance(feature, int) or feature.isdecimal():
            number = int(feature)
            if not 1 <= number <= len(ALL18):
                raise InputError(f"lexical features are numbered 1 to 18; {number} is none.")
            names.append(ALL18[number - 1])
        elif feature in ALL18:
            names.append(feature)
        else:
            raise unknown("lexical feature", feature, ALL18)
    return tuple(names)


def lexical_features(
    index: ForwardIndex, query_ids: Int32, rows: Int64, features: Sequence[str | int] = LEX3
) -> npt.NDArray[np.float32]:
    """Lexical match features of a query with documents.

    Args:
        index: the collection's forward index.
        query_ids: the query's words, see `ForwardIndex.query_ids`.
        rows: the documents' rows, see `ForwardIndex.rows`.
        features: which, by name or by the paper's number.

    Returns:
        float32 [len(rows), len(features)].

    Raises:
        InputError: there is no such feature.
    """
    names = feature_names(features)
    values = np.zeros((len(rows), len(names)), dtype=np.float32)
    matches = {
        field: FieldMatch(index, field, query_ids, rows)
        for field in FIELDS
        if any(name.endswith(field) for name in names)
    }
    for column, name in enumerate(names):
        kind, _, field = name.rpartition("_")
        values[:, column] = _KINDS[kind](matches[field])  # type: ignore[index]
    return values
