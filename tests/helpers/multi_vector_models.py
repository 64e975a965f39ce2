"""Small models of late interaction of all kinds, in folders."""

from __future__ import annotations

import json
import string
from typing import TYPE_CHECKING, Any

from pretrained_models import LONGEST, WIDTH, WORDS, config, tokenizer

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

LENGTH = 12
"""Tokens of a query, where masks fill it up."""
NUMBERS = 8
"""Numbers of a vector."""
SKIPPED = ["w7", "w8"]
"""Words of documents that do not count."""
_EXPANSION = {"strategy": "fixed", "attend": False, "length": LENGTH}


def save_multi_vector(
    folder: Path,
    *,
    network: Callable[[], Any] | None = None,
    words: Any = None,
    layers: int = 1,
    bias: bool = False,
    normalized: bool = True,
    pooled: bool = False,
    numbers: str = "float32",
    reader: dict[str, Any] | None = None,
    **keywords: Any,
) -> Path:
    """A model as `MultiVectorEncoder` saves it, with random weights.

    Args:
        folder: where to; the bare transformer lies beside it.
        network: makes the transformer; a small BERT.
        words: its tokenizer.
        layers: on top of the transformer; all but the last have an activation and a bias.
        bias: of the last layer.
        normalized: vectors have length 1.
        pooled: vectors of documents are clustered.
        numbers: of the weights.
        reader: arguments of `Transformer`: query_expansion, document_length.
        keywords: arguments of `MultiVectorEncoder`: prompts, similarity_fn_name.
    """
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import (
        HierarchicalTokenPooling,
        MultiVectorMask,
    )

    bare = save_bare(folder.with_name(f"{folder.name}-bare"), network, words)
    token: dict[str, Any] = {"module_input_name": "token_embeddings"}
    top: list[Any] = [
        Dense(WIDTH, WIDTH, bias=True, activation_function=torch.nn.GELU(), **token)
        for _ in range(layers - 1)
    ]
    identity = torch.nn.Identity()
    top.append(Dense(WIDTH, NUMBERS, bias=bias, activation_function=identity, **token))
    top.append(MultiVectorMask(SKIPPED))
    if normalized:
        top.append(Normalize(**token))
    if pooled:
        top.append(HierarchicalTokenPooling(pool_factor=2))
    arguments: dict[str, Any] = {"query_expansion": _EXPANSION, **(reader or {})}
    prompts = {"query": "w50 ", "document": "w51 "}
    encoder = MultiVectorEncoder(
        modules=[Transformer(str(bare), **arguments), *top],
        device="cpu",
        **{"prompts": prompts, **keywords},
    )
    encoder.to(getattr(torch, numbers)).save_pretrained(str(folder))
    return folder


def save_bare(folder: Path, network: Callable[[], Any] | None = None, words: Any = None) -> Path:
    """A transformer and its tokenizer."""
    import torch
    from transformers import BertModel

    torch.manual_seed(1)
    (network() if network else BertModel(config())).save_pretrained(folder)
    (words or tokenizer()).save_pretrained(folder)
    return folder


def chatting_tokenizer() -> Any:
    """A tokenizer that puts texts into a template of chats."""
    words = tokenizer()
    words.chat_template = (
        "{% for m in messages %}w20 {{ m['content'] if m['content'] is string "
        "else m['content'][0]['text'] }} w21{% endfor %}"
    )
    return words


def modern_bert() -> Any:
    """A network with rotary positions and windows of attention."""
    import torch
    from transformers import ModernBertConfig, ModernBertModel

    torch.manual_seed(1)
    return ModernBertModel(
        ModernBertConfig(
            vocab_size=5 + len(WORDS),
            hidden_size=WIDTH,
            num_hidden_layers=3,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=LONGEST,
            local_attention=8,
            initializer_range=0.5,
            pad_token_id=0,
            cls_token_id=2,
            sep_token_id=3,
            bos_token_id=2,
            eos_token_id=3,
        )
    )


def save_pylate(folder: Path, *, model_type: str | None = "ColBERT", **settings: Any) -> Path:
    """A model as PyLate saves it: [Q] and [D] are tokens, and masks and norms are not listed.

    Args:
        folder: where to.
        model_type: what the settings say that it is; None says nothing, as old versions do.
        settings: other than the usual ones.
    """
    import torch
    from safetensors.torch import save_file
    from transformers import BertModel

    words = tokenizer()
    words.add_tokens(["[Q] ", "[D] "])
    save_bare(folder, lambda: BertModel(config(vocab_size=len(words))), words)
    top = folder / "1_Dense"
    top.mkdir()
    torch.manual_seed(2)
    save_file({"linear.weight": torch.randn(NUMBERS, WIDTH)}, top / "model.safetensors")
    activation = "torch.nn.modules.linear.Identity"
    _write(
        top / "config.json",
        {
            "in_features": WIDTH,
            "out_features": NUMBERS,
            "bias": False,
            "activation_function": activation,
        },
    )
    _write(
        folder / "modules.json",
        [
            {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
            {"idx": 1, "name": "1", "path": "1_Dense", "type": "pylate.models.Dense.Dense"},
        ],
    )
    _write(folder / "sentence_bert_config.json", {"max_seq_length": 31, "do_lower_case": False})
    usual = {
        "__version__": {"sentence_transformers": "4.0.2"},
        "prompts": {},
        "default_prompt_name": None,
        "similarity_fn_name": "MaxSim",
        "query_prefix": "[Q] ",
        "document_prefix": "[D] ",
        "query_length": LENGTH,
        "document_length": 24,
        "attend_to_expansion_tokens": False,
        "skiplist_words": [*string.punctuation, *SKIPPED],
        **({"model_type": model_type} if model_type else {}),
    }
    _write(folder / "config_sentence_transformers.json", {**usual, **settings})
    return folder


def save_stanford(folder: Path, **metadata: Any) -> Path:
    """A model as Stanford's ColBERT saves it: one file of weights, and `artifact.metadata`.

    Args:
        folder: where to.
        metadata: other than the usual ones.
    """
    import torch
    from safetensors.torch import load_file, save_file

    words = tokenizer([*WORDS, "[unused0]", "[unused1]"])
    save_bare(folder, lambda: _bert(len(words)), words)
    weights = load_file(folder / "model.safetensors")
    torch.manual_seed(2)
    tensors = {f"bert.{name}": value.clone() for name, value in weights.items()}
    save_file(
        {**tensors, "linear.weight": torch.randn(NUMBERS, WIDTH)},
        folder / "model.safetensors",
        {"format": "pt"},
    )
    settings = json.loads((folder / "config.json").read_text())
    _write(folder / "config.json", {**settings, "architectures": ["HF_ColBERT"]})
    usual = {
        "query_token_id": "[unused0]",
        "doc_token_id": "[unused1]",
        "query_maxlen": LENGTH,
        "doc_maxlen": 24,
        "attend_to_mask_tokens": False,
        "mask_punctuation": True,
    }
    _write(folder / "artifact.metadata", {**usual, **metadata})
    return folder


def _bert(words: int) -> Any:
    from transformers import BertModel

    return BertModel(config(vocab_size=words))


def _write(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value))


KINDS: dict[str, Callable[[Path], Path]] = {
    "expanded": save_multi_vector,
    "attending": lambda path: save_multi_vector(
        path, reader={"query_expansion": {**_EXPANSION, "attend": True}}
    ),
    "floor": lambda path: save_multi_vector(
        path, reader={"query_expansion": {**_EXPANSION, "strategy": "min", "length": 6}}
    ),
    "plain": lambda path: save_multi_vector(
        path, reader={"query_expansion": None, "query_length": 9, "document_length": 20}
    ),
    "two layers": lambda path: save_multi_vector(path, layers=2, bias=True),
    "mean": lambda path: save_multi_vector(path, similarity_fn_name="meanmaxsim"),
    "not normalized": lambda path: save_multi_vector(path, normalized=False),
    "pooled": lambda path: save_multi_vector(path, pooled=True),
    "bfloat16": lambda path: save_multi_vector(path, numbers="bfloat16"),
    "ModernBERT": lambda path: save_multi_vector(path, network=modern_bert),
    "chat template": lambda path: save_multi_vector(
        path, words=chatting_tokenizer(), reader={"query_expansion": None}, prompts={}
    ),
    "without prompts": lambda path: save_multi_vector(path, prompts={}),
    "PyLate": save_pylate,
    "old PyLate": lambda path: save_pylate(path, model_type=None),
    "PyLate without masks": lambda path: save_pylate(path, do_query_expansion=False),
    "PyLate attending": lambda path: save_pylate(path, attend_to_expansion_tokens=True),
    "Stanford": save_stanford,
    "Stanford attending": lambda path: save_stanford(path, attend_to_mask_tokens=True),
    "Stanford with punctuation": lambda path: save_stanford(path, mask_punctuation=False),
}
"""Kinds of models by name, with what saves one in a folder."""


def open_multi_vector(folder: Path, resources: Any, **options: Any) -> Any:
    """The reranker, ready."""
    from irplatform_encoders.multi_vector.options import MultiVectorOptions
    from irplatform_encoders.multi_vector.reranker import MultiVector

    reranker = MultiVector(MultiVectorOptions(model=str(folder), **options))
    reranker.prepare(resources)
    return reranker


def of_the_library(folder: Path) -> Any:
    """The same model as sentence-transformers opens it, in float32."""
    from sentence_transformers import MultiVectorEncoder

    return MultiVectorEncoder(str(folder), device="cpu", local_files_only=True).float()


def library_is_too_old() -> bool:
    """Whether sentence-transformers has no models of late interaction yet."""
    from importlib import metadata

    from packaging.version import Version

    return Version(metadata.version("sentence-transformers")) < Version("6.0.0")
