"""Opens a sequence-classification model, and says what it needs to score with it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.training.linear_layers import multiply_by_numpy
from irplatform.training.pretrained import opening

if TYPE_CHECKING:
    from pathlib import Path

_OFFSET_POSITIONS = dict.fromkeys(
    ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"), 2
)
"""Models that number positions from 2, and so have two fewer than they say."""


@dataclass(frozen=True)
class Model:
    """A tokenizer and a model that classifies sequences.

    Attributes:
        tokenizer: of transformers.
        network: of transformers, in evaluation mode, in 32-bit numbers.
        labels: 1 or 2.
        max_length: tokens that it can read, if it says so.
    """

    tokenizer: Any
    network: Any
    labels: int
    max_length: int | None


def open_model(folder: Path, device: str) -> Model:
    """Open the model in a folder.

    Raises:
        InputError: it is none that can be used; what is wrong and what to do.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    shared: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with opening(folder, "a sequence-classification model"):
        tokenizer = AutoTokenizer.from_pretrained(folder, **shared)
        network, report = AutoModelForSequenceClassification.from_pretrained(
            folder, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **shared
        )
    if missing := sorted(report["missing_keys"]):
        raise InputError(
            f"these are not the weights of a trained classifier: {missing[0]} is missing"
            f"{f', and {len(missing) - 1} more' if len(missing) > 1 else ''}. A language model "
            "has to be fine-tuned for ranking first.",
            path=folder,
        )
    labels = int(network.config.num_labels)
    if labels not in (1, 2):
        raise InputError(
            f"the model has {labels} labels; one (a score) or two (not relevant, relevant) are "
            "needed.",
            path=folder,
        )
    if tokenizer.pad_token_id is None:
        raise InputError(
            "its tokenizer has no padding token, so that documents cannot be scored in batches. "
            "Give it one (`tokenizer.pad_token = tokenizer.eos_token`, say) and save it.",
            path=folder,
        )
    if network.config.pad_token_id is None:  # generative models look for the last token by it
        network.config.pad_token_id = tokenizer.pad_token_id
    multiply_by_numpy(network.to(device).eval(), device)
    return Model(tokenizer, network, labels, _longest(network.config))


def _longest(config: Any) -> int | None:
    """Tokens that a model can read; None where it does not say, or has no limit (XLNet: -1)."""
    limit = getattr(config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit < 1:
        return None
    return limit - _OFFSET_POSITIONS.get(config.model_type, 0)
