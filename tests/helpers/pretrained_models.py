"""Transformers as users bring them: small ones, in folders."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.plugin import Document, Documents

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.text import WordVectors

WORDS = [f"w{number}" for number in range(60)]
LONGEST = 32
"""Tokens that the models can read."""
WIDTH = 16


def tokenizer(words: Sequence[str] = WORDS):
    """One token a word."""
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate([*special, *words])}
    backend = Tokenizer(models.WordLevel(vocabulary, unk_token="[UNK]"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    names = ("pad_token", "unk_token", "cls_token", "sep_token", "mask_token")
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_max_length=LONGEST,
        **dict(zip(names, special, strict=True)),
    )


def config(**changed):
    """Of a BERT of two small layers."""
    from transformers import BertConfig

    sizes: dict[str, Any] = {
        "vocab_size": 5 + len(WORDS),
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": LONGEST,
        "initializer_range": 0.5,
    }
    return BertConfig(**{**sizes, **changed})


def save_transformer(folder: Path, seed: int = 1, **changed) -> Path:
    """A bare transformer, as `save_pretrained` writes it."""
    import torch
    from transformers import BertModel

    torch.manual_seed(seed)
    BertModel(config(**changed)).save_pretrained(folder)
    tokenizer().save_pretrained(folder)
    return folder


def save_transformer_of_vectors(folder: Path, vectors: WordVectors, seed: int = 3) -> Path:
    """A language model that knows word vectors, and nothing else.

    Args:
        folder: where to.
        vectors: of its words.
        seed: of its other weights.
    """
    import torch
    from transformers import BertModel

    words = list(vectors.words)
    reader = tokenizer(words)
    width = vectors.matrix.shape[1]
    sizes = {"vocab_size": len(reader), "hidden_size": width, "intermediate_size": 64}
    torch.manual_seed(seed)
    without = {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    model = BertModel(config(**sizes, **without, initializer_range=0.2))
    with torch.no_grad():
        rows = reader.convert_tokens_to_ids(words)
        model.embeddings.word_embeddings.weight[rows] = torch.from_numpy(
            np.array(vectors.matrix[:-1])
        )
    model.save_pretrained(folder)
    reader.save_pretrained(folder)
    return folder


def save_sentence_encoder(folder: Path, seed: int = 1, width: int = WIDTH, **changed) -> Path:
    """A model of sentence-transformers: mean of the words' vectors.

    Args:
        folder: where to; the bare transformer lies beside it.
        seed: of its weights.
        width: numbers of a vector.
        changed: arguments of `SentenceTransformer`: prompts, similarity_fn_name.
    """
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.models import Pooling, Transformer

    bare = save_transformer(folder.with_name(f"{folder.name}-bare"), seed, hidden_size=width)
    parts = [Transformer(str(bare)), Pooling(width, pooling_mode="mean")]
    SentenceTransformer(modules=parts, device="cpu", **changed).save_pretrained(str(folder))
    return folder


def texts(seed: int, count: int) -> list[str]:
    """Texts of up to 50 words, some of none."""
    random = np.random.default_rng(seed)
    return [" ".join(random.choice(WORDS, random.integers(0, 50))) for _ in range(count)]


def documents(seed: int = 1, count: int = 23) -> Documents:
    """Documents of such texts."""
    return Documents.of(
        [Document(f"d{n}", "w1 w2", text) for n, text in enumerate(texts(seed, count))]
    )
