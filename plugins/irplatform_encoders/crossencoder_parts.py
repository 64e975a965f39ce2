"""Cross-encoders that are not one classifier, run by the modules of sentence-transformers.

They are language models that answer "yes" or "no" (Nogueira et al., Findings of EMNLP 2020; Qwen3
Reranker, 2025), and transformers with further modules, such as a pooling and a dense layer.
"""

from __future__ import annotations

from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import torch

from irplatform.plugin import InputError
from irplatform_encoders.pretrained import opening, require_modules

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_PAIR = ("query", "document")


class Parts(torch.nn.Module):
    """A transformer and further modules, called as a classifier of transformers is."""

    def __init__(self, parts: list[Any]) -> None:
        super().__init__()
        self.parts = torch.nn.ModuleList(parts)
        self.modality = str(self.reader.preprocess([_PAIR]).get("modality", "text"))
        self._answers = self.reader.transformer_task in ("text-generation", "any-to-any")

    @property
    def reader(self) -> Any:
        """The module that turns texts into the inputs of the transformer, and holds it."""
        return self.parts[0]

    @property
    def config(self) -> Any:
        """The configuration of the transformer."""
        return self.reader.model.config

    @property
    def on_top(self) -> list[torch.nn.Module]:
        """What the transformer has on top, such as the layer that predicts words."""
        network = self.reader.model
        body = network.base_model
        return (
            [] if body is network else [layer for layer in network.children() if layer is not body]
        )

    def forward(self, **inputs: torch.Tensor) -> SimpleNamespace:
        """Scores, [pairs, labels], as `logits`."""
        features: dict[str, Any] = {**inputs, "modality": self.modality}
        if self._answers:  # only the last word counts, and padding on the left must not move any
            mask = inputs["attention_mask"]
            positions = (mask.cumsum(-1) - 1).clamp(min=0)
            features |= {"logits_to_keep": 1, "position_ids": positions}
        features = self.reader(features)
        with torch.autocast(inputs["input_ids"].device.type, enabled=False):
            for part in self.parts[1:]:
                features = part({name: _in_float32(value) for name, value in features.items()})
        return SimpleNamespace(logits=features["scores"])


def _in_float32(value: Any) -> Any:
    return value.float() if torch.is_tensor(value) and value.is_floating_point() else value


def open_parts(folder: Path) -> tuple[Parts, int]:
    """The parts of a cross-encoder, and how many scores they give to a pair.

    Raises:
        InputError: it cannot be opened, its weights are not whole, or it does not score pairs.
    """
    require_modules(folder, "a language model that answers, or a model of several modules,")
    from sentence_transformers import CrossEncoder
    from sentence_transformers.cross_encoder.modules import LogitScore

    missing: list[str] = []
    with opening(folder, "a cross-encoder of sentence-transformers"):
        with _told_of(missing):
            library = CrossEncoder(
                str(folder),
                device="cpu",
                local_files_only=True,
                trust_remote_code=False,
                model_kwargs={"dtype": torch.float32, "use_safetensors": True},
            ).eval()
        if not missing:
            parts = Parts(list(library))
            features = parts.reader.preprocess([_PAIR])
            names = ("input_ids", "token_type_ids", "attention_mask")
            with torch.inference_mode():  # to see that a pair has scores
                scores = parts(**{n: features[n] for n in names if n in features}).logits
    if missing:
        raise InputError(
            f"these are not the weights of a whole cross-encoder: {missing[0]} is missing.",
            path=folder,
        )
    for part in library:
        if isinstance(part, LogitScore) and library.tokenizer.unk_token_id is not None:
            answers = {part.true_token_id, part.false_token_id}
            if library.tokenizer.unk_token_id in answers:
                raise InputError(
                    "its tokenizer lacks the words that it should answer with, 'yes' and 'no'.",
                    path=folder,
                )
    return parts.eval(), int(scores.shape[1])


@contextmanager
def _told_of(missing: list[str]) -> Iterator[None]:
    """Collect the names of weights that transformers draws at random, which it only warns of."""
    from sentence_transformers.base.modules import Transformer

    load = Transformer._load_model

    def loaded(self: Any, *arguments: Any, **keywords: Any) -> Any:
        network, report = load(self, *arguments, output_loading_info=True, **keywords)
        missing.extend(sorted(name for name in report["missing_keys"] if "pooler" not in name))
        return network

    Transformer._load_model = loaded
    try:
        yield
    finally:
        Transformer._load_model = load
