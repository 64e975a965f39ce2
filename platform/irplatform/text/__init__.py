"""Text as models see it: tokens, word vectors, the forward index, lexical features.

Names are imported when they are first used: the modules behind some of them load numpy.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from irplatform.text.field_match import FieldMatch
    from irplatform.text.forward_build import build_forward_index
    from irplatform.text.forward_index import ForwardIndex, Vocabulary
    from irplatform.text.lexical import ALL18, LEX3, LexicalNames, lexical_features
    from irplatform.text.markers import Marker, parse_markers
    from irplatform.text.sentence_splitter import sentences
    from irplatform.text.stop_words import STOP_WORDS, content_words
    from irplatform.text.tokenizer import tokenize
    from irplatform.text.vector_import import import_vectors
    from irplatform.text.vector_training import VectorOptions, train_vectors
    from irplatform.text.vectors import WordVectors

__all__ = [
    "ALL18",
    "LEX3",
    "STOP_WORDS",
    "FieldMatch",
    "ForwardIndex",
    "LexicalNames",
    "Marker",
    "VectorOptions",
    "Vocabulary",
    "WordVectors",
    "build_forward_index",
    "content_words",
    "import_vectors",
    "lexical_features",
    "parse_markers",
    "sentences",
    "tokenize",
    "train_vectors",
]

_MODULES = {
    "ALL18": "lexical",
    "LEX3": "lexical",
    "STOP_WORDS": "stop_words",
    "FieldMatch": "field_match",
    "ForwardIndex": "forward_index",
    "LexicalNames": "lexical",
    "VectorOptions": "vector_training",
    "Vocabulary": "forward_index",
    "WordVectors": "vectors",
    "build_forward_index": "forward_build",
    "content_words": "stop_words",
    "import_vectors": "vector_import",
    "Marker": "markers",
    "lexical_features": "lexical",
    "parse_markers": "markers",
    "sentences": "sentence_splitter",
    "tokenize": "tokenizer",
    "train_vectors": "vector_training",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
