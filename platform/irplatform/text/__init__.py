"""Text as models see it: tokens, word vectors, the forward index, lexical features.

Names are imported at first use: the modules of some of them load numpy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.system.packages import on_demand

if TYPE_CHECKING:
    from irplatform.text.forward_build import build_forward_index as build_forward_index
    from irplatform.text.forward_index import ForwardIndex as ForwardIndex
    from irplatform.text.lexical import ALL18 as ALL18
    from irplatform.text.lexical import FieldMatch as FieldMatch
    from irplatform.text.lexical import LexicalNames as LexicalNames
    from irplatform.text.lexical import lexical_features as lexical_features
    from irplatform.text.tokenizer import STOP_WORDS as STOP_WORDS
    from irplatform.text.tokenizer import content_words as content_words
    from irplatform.text.tokenizer import tokenize as tokenize
    from irplatform.text.vector_training import VectorOptions as VectorOptions
    from irplatform.text.vector_training import sentences as sentences
    from irplatform.text.vector_training import train_vectors as train_vectors
    from irplatform.text.vectors import WordVectors as WordVectors
    from irplatform.text.vectors import import_vectors as import_vectors

__getattr__, __dir__, __all__ = on_demand(__name__)
