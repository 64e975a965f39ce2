"""Finds and opens a model: never downloaded unasked, no pickles, no code that it brings."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError

if TYPE_CHECKING:
    from irplatform_crossencoder.options import CrossEncoderOptions

_NEVER = "Models are never downloaded without being asked for"


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


def open_model(options: CrossEncoderOptions, device: str) -> Model:
    """Open the model that the options name.

    Raises:
        InputError: there is none, or it is none that can be used; what is wrong and what to do.
    """
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    from transformers.utils import logging

    place, local = _place(options)
    shared: dict[str, Any] = {
        "local_files_only": local,
        "trust_remote_code": False,
        **({"revision": options.revision} if options.revision and not local else {}),
    }
    if local:
        _check_folder(Path(place))
    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()  # ours is enough
    logging.set_verbosity_error()
    try:
        tokenizer = AutoTokenizer.from_pretrained(place, **shared)
        network, report = AutoModelForSequenceClassification.from_pretrained(
            place, use_safetensors=True, dtype=torch.float32, output_loading_info=True, **shared
        )
    except (OSError, ValueError, KeyError, ImportError, RuntimeError) as error:
        reason = str(error).strip().splitlines()
        raise InputError(
            f"cannot be opened as a sequence-classification model: {reason[0] if reason else ''}",
            path=place,
        ) from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()
    if missing := sorted(report["missing_keys"]):
        raise InputError(
            f"these are not the weights of a trained classifier: {missing[0]} is missing"
            f"{f', and {len(missing) - 1} more' if len(missing) > 1 else ''}. A language model "
            "has to be fine-tuned for ranking first.",
            path=place,
        )
    labels = int(network.config.num_labels)
    if labels not in (1, 2):
        raise InputError(
            f"the model has {labels} labels; one (a score) or two (not relevant, relevant) are "
            "needed.",
            path=place,
        )
    limit = getattr(network.config, "max_position_embeddings", None)
    if isinstance(limit, int) and network.config.model_type in _OFFSET_POSITIONS:
        limit -= _OFFSET_POSITIONS[network.config.model_type]
    return Model(tokenizer, network.to(device).eval(), labels, limit)


_OFFSET_POSITIONS = {"roberta": 2, "xlm-roberta": 2, "camembert": 2}
"""Models that number positions from 2, and so have two fewer than they say."""


def _place(options: CrossEncoderOptions) -> tuple[str, bool]:
    """Where the model is, and whether that is a folder here."""
    if options.model is None:
        raise InputError(
            "reranker 'cross-encoder' needs a model: --set cross-encoder.model=FOLDER, the folder "
            f"of a sequence-classification model in Hugging Face format. {_NEVER}."
        )
    folder = Path(options.model).expanduser()
    if folder.exists():
        return str(folder), True
    if not options.download:
        raise InputError(
            f"there is no such folder. {_NEVER}: --set cross-encoder.download=true takes a model "
            "of that name from the Hugging Face hub.",
            path=options.model,
        )
    return options.model, False


def _check_folder(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError("a model is a folder, not a file.", path=folder)
    config = folder / "config.json"
    try:
        json.loads(config.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise InputError(
            "there is no model in Hugging Face format here: config.json is missing.", path=folder
        ) from error
    except (OSError, ValueError) as error:
        raise InputError("cannot be read as JSON.", path=config) from error
    if not any(folder.glob("*.safetensors")):
        pickled = any(folder.glob("*.bin"))
        raise InputError(
            "there are no weights in safetensors format here"
            + (
                ". Pickled ones (*.bin) are not read, since they can run code: convert them with "
                "`save_pretrained`, where you trust them."
                if pickled
                else "."
            ),
            path=folder,
        )
