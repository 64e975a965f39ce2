"""Opens models of late interaction, and encodes texts as one vector for each token.

What is read of a text, which tokens count and what is added to queries is told by the model, as
sentence-transformers' `MultiVectorEncoder` understands it (ColBERT's [Q], [D] and [MASK]).
"""

from __future__ import annotations

import logging
from contextlib import contextmanager
from importlib import metadata
from typing import TYPE_CHECKING, Any

import numpy as np
from packaging.version import Version

from irplatform.plugin import InputError
from irplatform_encoders.batches import batches, tokens_at_once
from irplatform_encoders.on_cpu import in_float32, map_in_threads, multiply_by_numpy
from irplatform_encoders.parts import parts
from irplatform_encoders.pretrained import (
    MODULES,
    check_weights,
    content,
    kind_of,
    model_folder,
    opening,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.kit import Float32
    from irplatform_encoders.multi_vector.options import MultiVectorOptions

NAME = "multi-vector"
_KIND = "MultiVectorEncoder"
_SINCE = Version("6.0.0")
_FORMAT = 1
_AHEAD = 3  # batches that a GPU computes at a time
_LONGEST = 512  # tokens of a text, if a model does not say how many it reads
_METADATA = "artifact.metadata"  # of Stanford's ColBERT: lengths and marks
_OF_DOCUMENTS = {"document_prompt", "max_length", "long"}
"""Options that vectors of documents depend on."""
_PROMPTS = {"query": ("query",), "document": ("document", "passage", "corpus")}
"""The names of the prompts that sentence-transformers puts before texts, if a model has them."""


class TokenEncoder:
    """Turns texts into vectors of their tokens, of `width` numbers each.

    `identity` is what vectors of documents depend on beside their texts. `notes` are for the user.
    With `mean`, a query's score is divided by the number of its tokens.

    Example:
        >>> encoder = TokenEncoder(MultiVectorOptions(model="models/colbert"), "cpu")
        >>> [part.shape for part in encoder.documents(["Sunitinib in renal cell carcinoma"])[0]]
        [(9, 128)]
    """

    def __init__(self, options: MultiVectorOptions, device: str, threads: int = 1) -> None:
        self.options = options
        self.notes: list[str] = []
        self._device = device
        self._threads = _AHEAD if device.startswith("cuda") else threads
        self._folder = folder_of(options)
        self._precision = "float32" if in_float32(device) else options.precision
        self._model = _open(self._folder, self._precision, device)
        if not (self._folder / MODULES).exists() and not (self._folder / _METADATA).exists():
            self.notes.append(
                f"{_METADATA} is missing in {self._folder}: the usual lengths and marks of "
                "Stanford's ColBERT are taken"
            )
        self.mean = self._model.similarity_fn_name == "meanmaxsim"
        self._limit_lengths()
        with opening(self._folder, "a model of late interaction"):
            (query,), ((document,),) = self.queries(["1"]), self.documents(["1"])
        self.width = document.shape[1]
        if not len(document):
            raise InputError("it keeps no vectors of the words of a document.", path=self._folder)
        if query.shape[1] != self.width:
            raise InputError(
                f"its vectors of queries have {query.shape[1]} numbers, those of documents "
                f"{self.width}.",
                path=self._folder,
            )
        self.identity: Mapping[str, object] = {
            "format": _FORMAT,
            "model": content(self._folder),
            "device": device,
            **options.model_dump(include=_OF_DOCUMENTS),
            "precision": self._precision,
        }

    def queries(self, texts: Sequence[str]) -> list[Float32]:
        """Vectors of the tokens of queries: float32 [tokens, width]; no tokens without words."""
        return self._encoded("query", texts)

    def documents(self, texts: Sequence[str]) -> list[list[Float32]]:
        """Vectors of the tokens of documents' parts: float32 [tokens, width] each.

        A document without words has no parts, one that fits has one.
        """
        documents = self.split(texts)
        vectors = iter(self._encoded("document", [part for parts in documents for part in parts]))
        return [[next(vectors) for _ in parts] for parts in documents]

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """The parts of documents, each of which is encoded apart."""
        places = [place for place, text in enumerate(texts) if text.strip()]
        documents: list[list[str]] = [[] for _ in texts]
        if self.options.long == "cut":
            for place in places:
                documents[place] = [texts[place]]
        elif places:
            contents = [texts[place] for place in places]
            for place, document in zip(
                places, parts(contents, self._count, self.longest), strict=True
            ):
                documents[place] = document
        return documents

    def cuts(self, queries: Sequence[str]) -> bool:
        """Whether any query is longer than what is read of queries."""
        if "message" in self._reader.modality_config:
            return False
        return max(self._lengths(queries, "query"), default=0) > self.longest_query

    def read(self, text: str, task: str) -> list[tuple[int, int]]:
        """The tokens of a text that count: the place of each among all, and its number.

        Empty if the model's vectors are not those of its tokens.
        """
        with _quiet():
            features = self._features([text], task)
        (numbers,) = features["input_ids"].tolist()
        ((mask,), _) = self._masked(features, [0], task)
        if len(mask) != len(numbers):
            return []
        return [(place, numbers[place]) for place in mask.nonzero()[:, 0].tolist()]

    def spans(self, text: str) -> list[tuple[int, int, int]]:
        """The tokens of a text with its prompt: number, begin and end; [] if none is known."""
        if not self.tokenizer.is_fast or "message" in self._reader.modality_config:
            return []
        tokens = self.tokenizer(text, return_offsets_mapping=True, verbose=False)
        spans = zip(tokens["input_ids"], tokens["offset_mapping"], strict=True)
        return [(number, begin, end) for number, (begin, end) in spans]

    @property
    def tokenizer(self) -> Any:
        """The tokenizer of the model, of transformers."""
        return self._model.tokenizer

    def prompt(self, task: str) -> str:
        """What is put before texts of "query" or "document"; "" for nothing."""
        prompt = getattr(self.options, f"{task}_prompt")
        if prompt is None:
            prompts = self._model.prompts
            names = [name for name in _PROMPTS[task] if name in prompts]
            prompt = prompts.get(names[0] if names else self._model.default_prompt_name)
        return prompt or ""

    @property
    def _reader(self) -> Any:
        return self._model[0]

    def _limit_lengths(self) -> None:
        reader, options = self._reader, self.options
        config = reader.config
        limits = (reader.max_seq_length, getattr(config, "max_position_embeddings", None))
        most = min((limit for limit in limits if limit and limit < 10**9), default=_LONGEST)
        for name in ("max_length", "query_length"):
            if (limit := getattr(options, name)) is not None and limit > most:
                self.notes.append(
                    f"The model reads {most:,} tokens at most, fewer than {NAME}.{name}={limit}"
                )
        self.longest = min(options.max_length or reader.document_length or most, most)
        reader.document_length = self.longest
        expansion = reader.query_expansion
        if options.query_length is not None:
            limit = min(options.query_length, most)
            reader.query_length = None
            if expansion is not None:
                floor = expansion["length"]
                fixed = expansion["strategy"] == "fixed"
                length = limit if fixed else min(floor, limit)
                reader.query_expansion = expansion = {**expansion, "length": length}
            if expansion is None or expansion["strategy"] != "fixed":
                reader.query_length = limit
        fixed = expansion is not None and expansion["strategy"] == "fixed"
        self.longest_query = expansion["length"] if fixed else (reader.query_length or most)
        before = self._count([""])[0]
        if before >= self.longest:
            raise InputError(
                f"it reads {self.longest} tokens of a document, and {before} of them come with "
                f"every document ({NAME}.max_length).",
                path=self._folder,
            )

    def _count(self, texts: Sequence[str]) -> list[int]:
        return self._lengths(texts, "document")

    def _lengths(self, texts: Sequence[str], task: str) -> list[int]:
        """The tokens of texts if none was cut, with those that the model adds to each."""
        if not texts:
            return []
        if "message" not in self._reader.modality_config:
            prompt = self.prompt(task)
            tokens = self.tokenizer([prompt + text for text in texts], verbose=False)["input_ids"]
            return [len(numbers) for numbers in tokens]
        options = {"text": {"truncation": False, "max_length": None, "verbose": False}}
        return _lengths_of(self._features(texts, task, processing_kwargs=options))

    def _features(self, texts: Sequence[str], task: str, **more: Any) -> dict[str, Any]:
        """Tokens of texts [n, longest], with a mask of those that are there."""
        prompt = self.prompt(task)
        return dict(self._model.preprocess(list(texts), prompt=prompt, task=task, **more))

    def _encoded(self, task: str, texts: Sequence[str]) -> list[Float32]:
        import torch

        width = getattr(self, "width", 0)
        vectors: list[Float32] = [np.zeros((0, width), np.float32)] * len(texts)
        numbers = [number for number, text in enumerate(texts) if text.strip()]
        if not numbers:
            return vectors
        with _quiet():
            features = self._features([texts[number] for number in numbers], task)
        lengths = _lengths_of(features)
        short = self._precision != "float32"
        longest = self.longest if task == "document" else self.longest_query
        tokens = tokens_at_once(self._device, self.options.batch_size, longest, short=short)
        # In portable arithmetic without padding: then a text's vectors do not depend on others.
        groups = batches(lengths, tokens, padded=not in_float32(self._device))

        def encode(places: list[int]) -> list[Float32]:
            with torch.inference_mode():
                masks, values = self._masked(features, places, task)
                rows = [value[mask] for mask, value in zip(masks, values, strict=True)]
                return [row.float().cpu().numpy() for row in rows]

        for places, of_group in zip(
            groups, map_in_threads(encode, groups, self._threads), strict=True
        ):
            for place, rows in zip(places, of_group, strict=True):
                vectors[numbers[place]] = rows
        if not all(np.isfinite(rows).all() for rows in vectors):
            raise InputError(
                f"its vectors have numbers that are not finite ({NAME}.precision="
                f"{self.options.precision}): the weights are broken, or too large for float16.",
                path=self.options.model,
            )
        return vectors

    def _masked(
        self, features: Mapping[str, Any], places: Sequence[int], task: str
    ) -> tuple[Tensor, Tensor]:
        """Some of the texts that were read: which tokens count [n, longest], and their vectors."""
        import torch
        from sentence_transformers.util import batch_to_device

        expansion = features.get("query_expansion_positions")
        mask = features["attention_mask"][places] != 0
        columns = (mask if expansion is None else mask | expansion[places].bool()).any(0)
        batch = {
            name: value[places][:, columns]
            if torch.is_tensor(value) and value.shape == features["attention_mask"].shape
            else value
            for name, value in features.items()
        }
        with torch.inference_mode():
            output = self._model(batch_to_device(batch, self._device), task=task)
        return output["attention_mask"].bool(), output["token_embeddings"]


def depends_on(options: MultiVectorOptions) -> Mapping[str, str]:
    """The digests of the model's files."""
    return content(folder_of(options))


def folder_of(options: MultiVectorOptions) -> Path:
    """The folder of the model; InputError if there is none that can be used."""
    folder = model_folder(NAME, options, _KIND)
    if kind_of(folder)[0] is None:
        raise InputError(
            f"this is no model of late interaction: '{NAME}' takes what sentence-transformers "
            f"saved of a {_KIND}, PyLate of a ColBERT, or Stanford's ColBERT (HF_ColBERT).",
            path=folder,
        )
    version = metadata.version("sentence-transformers")
    if Version(version) < _SINCE:
        raise InputError(
            f"'{NAME}' needs sentence-transformers {_SINCE} or newer; {version} is installed."
        )
    return folder


def _open(folder: Path, precision: str, device: str) -> Any:
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Transformer

    dtype = getattr(torch, precision)
    with opening(folder, "a model of late interaction"), _quiet():
        model = MultiVectorEncoder(
            str(folder),
            device=device,
            local_files_only=True,
            trust_remote_code=False,
            model_kwargs={"use_safetensors": True, "dtype": dtype},
        )
    if not isinstance(model[0], Transformer):
        raise InputError(
            f"it begins with {type(model[0]).__name__}: '{NAME}' takes models of one transformer "
            "for queries and documents.",
            path=folder,
        )
    check_weights(folder, model[0].auto_model)
    model = model.to(dtype).eval()  # the layers on top may have other numbers
    multiply_by_numpy(model, device, apart=True)
    return model


@contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings of sentence-transformers: what they tell is in our notices."""
    logger = logging.getLogger("sentence_transformers")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def _lengths_of(features: Mapping[str, Any]) -> list[int]:
    lengths: list[int] = features["attention_mask"].sum(1).tolist()
    return lengths
