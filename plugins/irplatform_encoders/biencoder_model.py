"""Opens bi-encoders, and encodes queries and documents with sentence-transformers."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.plugin import InputError, Options
from irplatform_encoders.batches import batches, tokens_at_once
from irplatform_encoders.on_cpu import in_float32, map_in_threads, multiply_by_numpy
from irplatform_encoders.pretrained import (
    MODULES,
    check_weights,
    content,
    contents,
    opening,
    two_folders,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.kit import Float32
    from irplatform_encoders.options import BiEncoderOptions


NAME = "bi-encoder"
_KIND = "SentenceTransformer"
_FORMAT = 4
_AHEAD = 3  # batches that are turned into tokens while a GPU computes
_LONGEST = 512  # tokens of a text, if a model does not say how many it reads
_OF_DOCUMENTS = {"pooling", "similarity", "document_prompt", "max_length", "precision"}
"""Options that vectors of documents depend on."""


class Encoder:
    """Turns texts into vectors of `width` numbers whose inner products are the scores.

    `identity` is what vectors of documents depend on beside their texts. `notes` are for the user.
    """

    def __init__(self, options: BiEncoderOptions, device: str, threads: int = 1) -> None:
        self.options = options
        self._device = device
        self._threads = _AHEAD if device.startswith("cuda") else threads
        documents, queries = _folders(options)
        of_documents = _open(documents, options, device)
        of_queries = of_documents if queries == documents else _open(queries, options, device)
        self.notes = [note for m in (of_documents, of_queries) if (note := _note(m, options))]
        self.width = _width(of_documents)
        if _width(of_queries) != self.width:
            raise InputError(
                f"its vectors have {_width(of_queries)} numbers, those of documents "
                f"{self.width}. Name two models that were trained together.",
                path=queries,
            )
        similarity = options.similarity or of_documents.similarity_fn_name
        if similarity not in ("cosine", "dot"):
            raise InputError(
                f"its vectors are compared by {similarity} distance; only cosine and dot are "
                f"supported. {Options.spelled({f'{NAME}.similarity': 'cosine'})} compares by "
                "cosine nevertheless.",
                path=documents,
            )
        self._normalized = similarity == "cosine"
        self._documents = _Copies(of_documents)
        self._queries = self._documents if queries == documents else _Copies(of_queries)
        self.identity: Mapping[str, object] = {
            "format": _FORMAT,
            "model": content(documents),
            "device": device,
            **options.model_dump(include=_OF_DOCUMENTS),
            "precision": _precision(options, device),
        }

    def queries(self, texts: Sequence[str]) -> Float32:
        """Vectors of queries: float32 [n, width]; 0 where there is no text."""
        return self._encoded(self._queries, "encode_query", texts, self.options.query_prompt)

    def documents(self, texts: Sequence[str]) -> Float32:
        """Vectors of documents: float32 [n, width]; 0 where there is no text."""
        prompt = self.options.document_prompt
        return self._encoded(self._documents, "encode_document", texts, prompt)

    def _encoded(
        self, models: _Copies, method: str, texts: Sequence[str], prompt: str | None
    ) -> Float32:
        vectors: Float32 = np.zeros((len(texts), self.width), np.float32)
        parts = self._parts(models, texts)
        threads = min(self._threads, len(parts))
        models.have(threads)

        def encode(part: Sequence[int]) -> Float32:
            with models.one() as model:
                encoded: Tensor = getattr(model, method)(
                    [texts[number] for number in part],
                    prompt=prompt,
                    batch_size=len(part),
                    normalize_embeddings=False,
                    convert_to_numpy=False,
                    convert_to_tensor=True,
                    show_progress_bar=False,
                ).float()
            if self._normalized:  # here, in 32 bits: models may have fewer
                encoded = encoded / encoded.norm(dim=1, keepdim=True).clamp_min(1e-12)
            return encoded.cpu().numpy()

        for part, encoded in zip(parts, map_in_threads(encode, parts, threads), strict=True):
            vectors[part] = encoded
        if not np.isfinite(vectors).all():
            raise InputError(
                f"its vectors have numbers that are not finite ({NAME}.precision="
                f"{self.options.precision}): the weights are broken, or too large for float16.",
                path=self.options.model,
            )
        return vectors

    def _parts(self, models: _Copies, texts: Sequence[str]) -> list[list[int]]:
        """The places of texts that are read together; texts without words are left out."""
        filled = [number for number, text in enumerate(texts) if text.strip()]
        if not filled:
            return []
        with models.one() as model:
            lengths = _lengths(model, [texts[number] for number in filled])
            longest = model.max_seq_length or _LONGEST
        if lengths is None:
            return [[number] for number in filled]
        texts_at_once, short = self.options.batch_size, self.identity["precision"] != "float32"
        tokens = tokens_at_once(self._device, texts_at_once, longest, short=short)
        # In portable arithmetic without padding: then a text's vector does not depend on others.
        parts = batches(lengths, tokens, padded=not in_float32(self._device))
        return [[filled[place] for place in part] for part in parts]


class _Copies:
    """A model for several threads: a tokenizer works for one at a time."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self._count = 1
        self._idle: SimpleQueue[Any] = SimpleQueue()
        self._idle.put(model)

    def have(self, count: int) -> None:
        shared = {
            id(tensor): tensor for tensor in (*self._model.parameters(), *self._model.buffers())
        }
        while self._count < count:
            self._idle.put(copy.deepcopy(self._model, dict(shared)))
            self._count += 1

    @contextmanager
    def one(self) -> Iterator[Any]:
        model = self._idle.get()
        try:
            yield model
        finally:
            self._idle.put(model)


def _lengths(model: Any, texts: list[str]) -> list[int] | None:
    """The tokens of each text, without a prompt; None if the model's tokenizer tells no lengths."""
    if not callable(tokenizer := model.tokenizer):
        return None
    tokens = tokenizer(texts, truncation=True, max_length=model.max_seq_length)["input_ids"]
    return [len(numbers) for numbers in tokens]


def depends_on(options: BiEncoderOptions) -> Mapping[str, object]:
    """The digests of the models' files."""
    return contents(*_folders(options))


def _folders(options: BiEncoderOptions) -> tuple[Path, Path]:
    documents, queries = two_folders(NAME, options, _KIND)
    for folder in (documents, queries):
        _check_pooling(folder, options)
    return documents, queries


def _check_pooling(folder: Path, options: BiEncoderOptions) -> None:
    saved = (folder / MODULES).exists()
    if not saved and options.pooling is None:
        raise InputError(
            "this model does not say how words' vectors become a text's, since "
            "sentence-transformers did not save it (modules.json is missing): "
            f"{Options.spelled({f'{NAME}.pooling': 'mean'})} or cls says it.",
            path=folder,
        )
    if saved and options.pooling is not None:
        raise InputError(
            f"this model says itself how words' vectors become a text's: take {NAME}.pooling out.",
            path=folder,
        )


def _precision(options: BiEncoderOptions, device: str) -> str:
    # The shorter ones have no quick portable arithmetic.
    return "float32" if in_float32(device) else options.precision


def _open(folder: Path, options: BiEncoderOptions, device: str) -> Any:
    import torch
    from sentence_transformers import SentenceTransformer

    saved = (folder / MODULES).exists()
    weights: dict[str, Any] = {
        "use_safetensors": True,
        "dtype": getattr(torch, _precision(options, device)),
    }
    shared: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with opening(folder, "a model for sentence-transformers"):
        if saved:
            model = SentenceTransformer(str(folder), device=device, model_kwargs=weights, **shared)
        else:
            modules = _with_pooling(folder, options.pooling, {**weights, **shared}, shared)
            model = SentenceTransformer(modules=modules, device=device)
    check_weights(folder, getattr(model[0], "auto_model", None))
    multiply_by_numpy(model, device, apart=True)
    return model.eval()


def _with_pooling(
    folder: Path, pooling: str | None, weights: dict[str, Any], configuration: dict[str, Any]
) -> list[Any]:
    try:
        from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    except ImportError:  # before 5.4
        from sentence_transformers.models import Pooling, Transformer

        words = Transformer(str(folder), model_args=weights, config_args=configuration)
    else:
        words = Transformer(str(folder), model_kwargs=weights, config_kwargs=configuration)
    return [words, Pooling(_width(words), pooling_mode=pooling)]


def _note(model: Any, options: BiEncoderOptions) -> str:
    """Limit the length of texts to the option; return a note where the model reads less."""
    most, limit = model.max_seq_length, options.max_length
    if limit is None:
        return ""
    model.max_seq_length = min(limit, most or limit)
    if model.max_seq_length == limit:
        return ""
    return f"The model reads {most:,} tokens at most, fewer than {NAME}.max_length={limit}"


def _width(model: Any) -> int:
    """Of the vectors of a model or of its transformer; before 5.4, the names were longer."""
    names = ("embedding", "sentence_embedding", "word_embedding")
    methods = (getattr(model, f"get_{name}_dimension", None) for name in names)
    return int(next(filter(None, methods))())
