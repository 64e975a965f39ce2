"""Sparse encoders as users bring them: tiny ones with random weights, of each kind there is."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import numpy as np
from pretrained_models import LONGEST, WIDTH, WORDS, tokenizer

from irplatform_encoders.sparse.model import SparseTextEncoder
from irplatform_encoders.sparse.options import SparseEncoderOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

VOCABULARY = 5 + len(WORDS)
_SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "max_position_embeddings": LONGEST,
    "initializer_range": 0.2,
}


def opened(folder: Path, device: str = "cpu", threads: int = 1, **options) -> SparseTextEncoder:
    """A sparse encoder of ours."""
    return SparseTextEncoder(SparseEncoderOptions(model=str(folder), **options), device, threads)


def library(folder: Path):
    """The same in sentence-transformers, in 32 bits."""
    import torch
    from sentence_transformers import SparseEncoder

    return SparseEncoder(str(folder), device="cpu", model_kwargs={"dtype": torch.float32})


def dense(library_model: Any, task: str, texts: Sequence[str]):
    """What the library makes of texts [texts, words]; 0 for empty ones."""
    vectors = getattr(library_model, f"encode_{task}")(
        list(texts), convert_to_sparse_tensor=False, show_progress_bar=False
    ).numpy()
    return vectors * np.array([[bool(text.strip())] for text in texts])


def save_language_model(folder: Path, kind: str = "Bert", seed: int = 1, **changed) -> Path:
    """A masked language model with random weights, as `save_pretrained` writes it.

    Args:
        folder: where to.
        kind: "Bert", "DistilBert", "ModernBert", "Roberta" or another of transformers.
        seed: of its weights.
        changed: sizes and settings of its configuration.
    """
    import torch
    import transformers

    settings = {**_SIZES, **changed}
    if kind == "DistilBert":
        names = {
            "hidden_size": "dim",
            "num_hidden_layers": "n_layers",
            "intermediate_size": "hidden_dim",
        }
        names["num_attention_heads"] = "n_heads"
        settings = {names.get(name, name): value for name, value in settings.items()}
    if kind == "ModernBert":
        settings |= {"pad_token_id": 0, "cls_token_id": 2, "sep_token_id": 3}
    if kind == "Roberta":  # its positions begin behind the padding's
        settings |= {"pad_token_id": 0, "max_position_embeddings": LONGEST + 1}
    torch.manual_seed(seed)
    network = getattr(transformers, f"{kind}ForMaskedLM")(
        getattr(transformers, f"{kind}Config")(**settings)
    )
    last = network.get_output_embeddings()
    if last.bias is not None:  # a text has some words, and not all
        with torch.no_grad():
            last.bias -= 1
    network.save_pretrained(folder)
    reader = tokenizer()
    if kind != "Bert":  # others tell no first text from a second
        reader.model_input_names = ["input_ids", "attention_mask"]
        reader.init_kwargs["model_input_names"] = reader.model_input_names  # these are saved
    reader.save_pretrained(folder)
    return folder


def save_splade(
    folder: Path, seed: int = 1, pooling: dict[str, str] | None = None, **changed
) -> Path:
    """A SPLADE, as sentence-transformers saves it.

    Args:
        folder: where to; its language model lies beside it.
        seed: of its weights.
        pooling: arguments of `SpladePooling`.
        changed: arguments of `SparseEncoder`: prompts, similarity_fn_name, max_active_dims.
    """
    from sentence_transformers import SparseEncoder

    parts = splade_parts(folder.with_name(f"{folder.name}-bare"), seed, **(pooling or {}))
    SparseEncoder(modules=parts, device="cpu", **changed).save_pretrained(str(folder))
    return folder


def splade_parts(bare: Path, seed: int = 1, **pooling) -> list[Any]:
    """A language model and SPLADE's pooling."""
    from sentence_transformers.sparse_encoder.models import MLMTransformer, SpladePooling

    save_language_model(bare, seed=seed)
    return [MLMTransformer(str(bare)), SpladePooling(**pooling)]


def save_without_inference(folder: Path, least: float = 0.0) -> Path:
    """A SPLADE for documents; queries have the weights of their words, as IDF."""
    import torch
    from sentence_transformers import SparseEncoder
    from sentence_transformers.models import Router
    from sentence_transformers.sparse_encoder.models import SparseStaticEmbedding

    torch.manual_seed(5)
    weights = torch.rand(VOCABULARY) * 3 + least
    router = Router.for_query_document(
        query_modules=[SparseStaticEmbedding(tokenizer(), weights, frozen=True)],
        document_modules=splade_parts(
            folder.with_name(f"{folder.name}-bare"), activation_function="log1p_relu"
        ),
    )
    SparseEncoder(modules=[router], similarity_fn_name="dot", device="cpu").save_pretrained(
        str(folder)
    )
    return folder


def save_with_two_sides(folder: Path) -> Path:
    """Two language models, one for queries and one for documents."""
    from sentence_transformers import SparseEncoder
    from sentence_transformers.models import Router

    router = Router.for_query_document(
        query_modules=splade_parts(folder.with_name(f"{folder.name}-bare-queries"), 3),
        document_modules=splade_parts(folder.with_name(f"{folder.name}-bare-documents"), 4),
    )
    SparseEncoder(modules=[router], device="cpu").save_pretrained(str(folder))
    return folder


def save_autoencoder(folder: Path, **changed) -> Path:
    """A CSR: the largest features that an autoencoder finds in a dense vector."""
    import torch
    from pretrained_models import save_transformer
    from sentence_transformers import SparseEncoder
    from sentence_transformers.models import Pooling, Transformer
    from sentence_transformers.sparse_encoder.models import SparseAutoEncoder

    bare = save_transformer(folder.with_name(f"{folder.name}-bare"))
    torch.manual_seed(6)
    parts = [
        Transformer(str(bare)),
        Pooling(WIDTH, pooling_mode="mean"),
        SparseAutoEncoder(WIDTH, hidden_dim=4 * WIDTH, k=9, k_aux=4),
    ]
    SparseEncoder(modules=parts, device="cpu", **changed).save_pretrained(str(folder))
    return folder


def save_as_the_first_release(folder: Path) -> Path:
    """Give the parts of a saved model the names that they had in sentence-transformers 5.0."""
    part = re.compile(r"sentence_transformers\.[\w.]*\.(\w+)")
    places = dict.fromkeys(("SpladePooling", "MLMTransformer"), "sparse_encoder.models.")
    places |= dict.fromkeys(("SparseStaticEmbedding",), "sparse_encoder.models.")

    def old(match: re.Match[str]) -> str:
        name = {"Transformer": "MLMTransformer"}.get(match[1], match[1])
        return f"sentence_transformers.{places.get(name, 'models.')}{name}"

    for path in [folder / "modules.json", *folder.rglob("router_config.json")]:
        path.write_text(part.sub(old, path.read_text()))
    return folder


def change_json(path: Path, change: Callable[[Any], Any]) -> None:
    """Change what a JSON file holds."""
    path.write_text(json.dumps(change(json.loads(path.read_text()))))
