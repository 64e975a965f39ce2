"""Opens sparse encoders, and encodes queries and documents as vectors of weighted words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from irplatform.kit import quoted, read_json
from irplatform.plugin import InputError, Options
from irplatform_encoders.batches import batches, tokens_at_once
from irplatform_encoders.on_cpu import in_float32, map_in_threads, multiply_by_numpy
from irplatform_encoders.parts import parts
from irplatform_encoders.pretrained import (
    MODULES,
    all_parts,
    check_weights,
    content,
    contents,
    opening,
    two_folders,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from scipy.sparse import csr_matrix
    from torch import Tensor

    from irplatform.kit import Float32, Int64
    from irplatform_encoders.sparse.options import SparseEncoderOptions


NAME = "sparse-encoder"
_KIND = "SparseEncoder"
_FORMAT = 1
_AHEAD = 3  # batches that a GPU computes at a time
_LONGEST = 512  # tokens of a text, if a model does not say how many it reads
_OF_DOCUMENTS = {"similarity", "document_prompt", "max_length", "most_words", "long"}
"""Options that vectors of documents depend on."""
_PROMPTS = {"query": ("query",), "document": ("document", "passage", "corpus")}
"""The names of the prompts that sentence-transformers puts before texts, if a model has them."""
_APART = {"Transformer", "MLMTransformer", "SpladePooling", "SparseStaticEmbedding", "Router"}
"""Parts of models whose numbers for one text do not depend on the others of its batch."""
_SPARSE = {"SpladePooling", "SparseStaticEmbedding", "SparseAutoEncoder"}
"""Parts of which a model of sparse vectors has one."""


class Words(NamedTuple):
    """The words of one vector, by column, and their weights."""

    columns: Int64
    weights: Float32


class SparseTextEncoder:
    """Turns texts into sparse vectors, whose inner products are the scores.

    `words` names each column: a token of the model's tokenizer, where the column is one. Names are
    distinct, and none has a blank in it. `identity` is what vectors of documents depend on beside
    their texts. `notes` are for the user.

    Example:
        >>> encoder = SparseTextEncoder(SparseEncoderOptions(model="models/splade"), "cpu")
        >>> vectors = encoder.documents(["Sunitinib in renal cell carcinoma"])
        >>> vectors.shape
        (1, 30522)
        >>> [encoder.words[column] for column in vectors.indices[vectors.data > 1.3]]
        ['sun', '##ni', 'cell', '##iti', 'renal']
    """

    def __init__(self, options: SparseEncoderOptions, device: str, threads: int = 1) -> None:
        self.options = options
        self._device = device
        self._threads = _AHEAD if device.startswith("cuda") else threads
        documents, queries = _folders(options)
        precision = "float32" if in_float32(device) else options.precision
        of_documents = _Model(documents, precision, device)
        of_queries = of_documents if queries == documents else _Model(queries, precision, device)
        self._sides = {"document": of_documents, "query": of_queries}
        models = dict.fromkeys((of_documents, of_queries))
        self.notes = [note for m in models if (note := m.limit_length(options.max_length))]
        self.words = of_documents.words
        for side, task in ((of_queries, "query"), (of_documents, "document")):
            if side.words != self.words or side.width(task) != len(self.words):
                raise InputError(
                    f"its vectors of {'queries' if task == 'query' else 'documents'} have other "
                    "words than those of documents. Name two models that were trained together.",
                    path=side.folder,
                )
        similarity = options.similarity or of_documents.model.similarity_fn_name
        if similarity not in ("cosine", "dot"):
            raise InputError(
                f"its vectors are compared by {similarity} distance; only cosine and dot are "
                f"supported. {Options.spelled({f'{NAME}.similarity': 'dot'})} compares by inner "
                "product nevertheless.",
                path=documents,
            )
        self._normalized = similarity == "cosine"
        self.identity: Mapping[str, object] = {
            "format": _FORMAT,
            "model": content(documents),
            "device": device,
            **options.model_dump(include=_OF_DOCUMENTS),
            "precision": precision,
        }

    def queries(self, texts: Sequence[str]) -> csr_matrix:
        """Vectors of queries: float32 [n, words], at least 0; empty where there is no text.

        SPLADE itself gives an empty text a vector: of what stands before and after each text.
        """
        return self._encoded("query", texts, None)

    def documents(self, texts: Sequence[str]) -> csr_matrix:
        """Vectors of documents: float32 [n, words], at least 0; empty where there is no text.

        What is longer than the model reads is cut.
        """
        return self._encoded("document", texts, self.options.most_words)

    def split(self, texts: Sequence[str]) -> list[list[str]]:
        """Documents' parts, each encoded apart: one of a text that fits, or if the end is cut."""
        if self.options.long == "cut":
            return [[text] for text in texts]
        return self._sides["document"].split(texts, self.options.document_prompt)

    def read_words(self, query: str) -> dict[int, str]:
        """The columns of what a query itself has, as the model reads it, with the query's words.

        A word may have several columns, and a column several words: "##2" in "ERBB2, HER2". Those
        of a prompt have none. Columns of an autoencoder are nobody's words.
        """
        side = self._sides["query"]
        if side.finds_features:
            return {}
        features = side.read([query], "query", self.options.query_prompt)
        tokenizer = side.model.tokenizer
        special = {*getattr(tokenizer, "all_special_ids", ())} - {tokenizer.unk_token_id}
        columns: dict[int, list[str]] = {
            column: [] for column in features["input_ids"][0].tolist() if column not in special
        }
        for column, word in side.pieces(query):
            if column in columns and word not in columns[column]:
                columns[column].append(word)
        return {column: ", ".join(words) for column, words in columns.items()}

    def _encoded(self, task: str, texts: Sequence[str], most: int | None) -> csr_matrix:
        from scipy.sparse import csr_matrix

        side = self._sides[task]
        filled = [number for number, text in enumerate(texts) if text.strip()]
        vectors = [Words(np.empty(0, np.int64), np.empty(0, np.float32))] * len(texts)
        if filled:
            prompt = self.options.query_prompt if task == "query" else self.options.document_prompt
            features = side.read([texts[number] for number in filled], task, prompt)
            together = self._batches(side, features)

            def encode(places: Sequence[int]) -> list[Words]:
                dense = side.encoded(features, places, task)
                return [self._select_words(weights, most) for weights in dense]

            for places, encoded in zip(
                together, map_in_threads(encode, together, self._threads), strict=True
            ):
                for place, words in zip(places, encoded, strict=True):
                    vectors[filled[place]] = words
        offsets = np.cumsum([0, *(len(words.columns) for words in vectors)])
        columns, weights = (
            np.concatenate([np.empty(0, kind), *(words[at] for words in vectors)]).astype(kind)
            for at, kind in ((0, np.int32), (1, np.float32))
        )
        return csr_matrix((weights, columns, offsets), shape=(len(texts), len(self.words)))

    def _batches(self, side: _Model, features: Mapping[str, Any]) -> list[list[int]]:
        """The places of texts that are read together."""
        lengths = features["attention_mask"].sum(1).tolist()
        short = self.identity["precision"] != "float32"
        tokens = tokens_at_once(
            self._device,
            self.options.batch_size,
            side.model.max_seq_length or _LONGEST,
            short=short,
        )
        if not in_float32(self._device):
            return batches(lengths, tokens)
        # In portable arithmetic a text's vector does not depend on others.
        return batches(lengths, tokens if side.apart else 1, padded=False)

    def _select_words(self, dense: Float32, most: int | None) -> Words:
        """The words of a vector; `most` keeps those of largest weights, first lower columns."""
        columns = np.flatnonzero(dense)
        if most is not None and len(columns) > most:
            columns = np.sort(columns[np.argsort(-dense[columns], kind="stable")[:most]])
        weights = dense[columns]
        if not np.isfinite(weights).all():
            raise InputError(
                f"its vectors have numbers that are not finite ({NAME}.precision="
                f"{self.options.precision}): the weights are broken, or too large for float16.",
                path=self.options.model,
            )
        if (weights < 0).any():
            lowest = int(np.argmin(weights))
            raise _below_zero(self.options.model, self.words[columns[lowest]], weights[lowest])
        if self._normalized and len(weights):
            weights = (weights / np.sqrt(np.square(weights, dtype=np.float64).sum())).astype(
                np.float32
            )
        return Words(columns, weights)


class _Model:
    """A model for texts of queries, of documents, or of both."""

    def __init__(self, folder: Path, precision: str, device: str) -> None:
        import torch
        from sentence_transformers import SparseEncoder

        from irplatform_encoders.sparse.pooling import pool_quickly

        self.folder = folder
        self._device = device
        with opening(folder, "a model of sparse vectors"):
            self.model = SparseEncoder(
                str(folder),
                device=device,
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"use_safetensors": True, "dtype": getattr(torch, precision)},
            ).eval()
            for part in self.model.modules():
                check_weights(folder, getattr(part, "auto_model", None))
            pool_quickly(self.model, device)
        multiply_by_numpy(self.model, device, apart=True)
        modules = [part for part in self.model.modules() if hasattr(part, "get_config_dict")]
        self.apart = {type(module).__name__ for module in modules} <= _APART and all(
            _attends_apart(getattr(module, "auto_model", None)) for module in modules
        )
        self.finds_features = "SparseAutoEncoder" in {type(module).__name__ for module in modules}
        self.words = self._column_names(self.width("document"))
        for module in modules:
            if type(module).__name__ == "SparseStaticEmbedding" and (module.weight < 0).any():
                lowest = int(module.weight.argmin())
                raise _below_zero(folder, self.words[lowest], float(module.weight[lowest]))

    def width(self, task: str) -> int:
        """The columns of vectors."""
        with opening(self.folder, f"a model of sparse vectors of a {task}"):
            return len(self.encoded(self.read(["1"], task, ""), [0], task)[0])

    def limit_length(self, limit: int | None) -> str:
        """Limit the length of texts; return a note where the model reads less."""
        most = self.model.max_seq_length
        if limit is None:
            return ""
        self.model.max_seq_length = min(limit, most or limit)
        if self.model.max_seq_length == limit:
            return ""
        return f"The model reads {most:,} tokens at most, fewer than {NAME}.max_length={limit}"

    def read(self, texts: Sequence[str], task: str, prompt: str | None) -> dict[str, Any]:
        """Tokens of texts [n, longest], with a mask of those that are there."""
        model, prompt = self.model, self._prompt(task, prompt)
        if hasattr(model, "preprocess"):
            return dict(model.preprocess(list(texts), prompt=prompt, task=task))
        # sentence-transformers before 5.4
        features = dict(model.tokenize([prompt + text for text in texts], task=task))
        if prompt:
            features["prompt_length"] = (
                model.tokenize([prompt], task=task)["input_ids"].shape[1] - 1
            )
        return features

    def encoded(self, features: Mapping[str, Any], places: Sequence[int], task: str) -> Float32:
        """Weights of all words [texts, words] of some of the texts that were read."""
        import torch
        from sentence_transformers.util import batch_to_device, select_max_active_dims

        mask = features["attention_mask"][places]
        columns = mask.any(0)  # padding that no text of this batch needs is left out
        part = {
            name: value[places][:, columns]
            if torch.is_tensor(value) and value.shape == features["attention_mask"].shape
            else value
            for name, value in features.items()
        }
        most = self.model.max_active_dims
        limit = {} if most is None else {"max_active_dims": most}
        with torch.inference_mode():
            read = self.model(batch_to_device(part, self._device), task=task, **limit)
            vectors: Tensor = read["sentence_embedding"].float()
            if most is not None:
                vectors = select_max_active_dims(vectors, most)
        return vectors.cpu().numpy()

    def split(self, texts: Sequence[str], prompt: str | None) -> list[list[str]]:
        """The parts of texts that are longer than the model reads."""
        tokenizer, most = self.model.tokenizer, self.model.max_seq_length
        if most is None or not callable(tokenizer):
            return [[text] for text in texts]

        def count(read: list[str]) -> list[int]:
            # Not verbose: it would warn of texts that are longer than the model reads.
            tokens = tokenizer(read, add_special_tokens=False, verbose=False)
            return [len(ids) for ids in tokens["input_ids"]]

        (before,) = count([self._prompt("document", prompt)])
        most -= before + tokenizer.num_special_tokens_to_add()
        return parts(texts, count, max(1, most))

    def pieces(self, text: str) -> Iterator[tuple[int, str]]:
        """The columns of a text's tokens, each with the word that it is in."""
        tokenizer = self.model.tokenizer
        if not getattr(tokenizer, "is_fast", False):  # others do not say where tokens are
            return
        tokens = tokenizer(
            text, add_special_tokens=False, return_offsets_mapping=True, verbose=False
        )
        words = [(match.start(), match.end(), match[0]) for match in re.finditer(r"\S+", text)]
        for column, (start, end) in zip(tokens["input_ids"], tokens["offset_mapping"], strict=True):
            for first, last, word in words:
                if start < last and end > first:
                    yield column, word.strip(",.;:?!()[]")

    def _prompt(self, task: str, prompt: str | None) -> str:
        """What is put before texts; "" for nothing."""
        if prompt is None:
            prompts = self.model.prompts
            names = [name for name in _PROMPTS[task] if name in prompts]
            prompt = prompts.get(names[0] if names else self.model.default_prompt_name)
        return prompt or ""

    def _column_names(self, width: int) -> tuple[str, ...]:
        """A name of each column."""
        if self.finds_features:
            return tuple(f"feature-{column}" for column in range(width))
        tokens = {column: token for token, column in self.model.tokenizer.get_vocab().items()}
        names: dict[str, None] = {}
        for column in range(width):
            name = re.sub(r"\s", "_", tokens.get(column, "")) or f"[{column}]"
            names[f"{name}[{column}]" if name in names else name] = None
        return tuple(names)


def _below_zero(model: Path | str | None, word: str, weight: float) -> InputError:
    return InputError(
        f"its vectors have weights below 0 (of the word {quoted(word)}: {weight:.4g}), and "
        f"'{NAME}' needs weights that are not.",
        path=model,
    )


def _attends_apart(network: Any) -> bool:
    """Whether a transformer's attention to one text does not depend on the others of its batch."""
    # The products of other kinds of attention are made for the whole batch.
    return network is None or getattr(network.config, "_attn_implementation", "") == "sdpa"


def depends_on(options: SparseEncoderOptions) -> Mapping[str, object]:
    """The digests of the models' files."""
    return contents(*_folders(options))


def _folders(options: SparseEncoderOptions) -> tuple[Path, Path]:
    documents, queries = two_folders(NAME, options, _KIND)
    for folder in (documents, queries):
        _check_parts(folder)
    return documents, queries


def _check_parts(folder: Path) -> None:
    """Refuse what sentence-transformers would give random weights of words."""
    if (folder / MODULES).exists():
        kinds = [part.rpartition(".")[2] for part in all_parts(folder)]
        if _SPARSE & {*kinds}:
            return
        facts = f"its parts are {', '.join(kinds)}"
    else:
        names = [str(name) for name in read_json(folder / "config.json").get("architectures") or ()]
        if any(name.endswith("ForMaskedLM") for name in names):
            return
        facts = f"config.json: {', '.join(names) or 'no architectures'}"
    raise InputError(
        f"this is no model of sparse vectors ({facts}): '{NAME}' takes a masked language model, or "
        "what sentence-transformers saved of a SparseEncoder.",
        path=folder,
    )
