"""What sentence-transformers wrote beside a cross-encoder: prompts, a chat template, an activation.

`CrossEncoder.predict` of sentence-transformers (5.4 and newer) is what scores must agree with.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, quoted
from irplatform_encoders.pretrained import MODULES, opening, saved_parts, saved_settings

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform_encoders.crossencoder_model import Model

_TRANSFORMER = "Transformer"
_INCREASING = ("Identity", "Sigmoid", "LogSigmoid", "Tanh", "Softplus", "Softsign")
"""Activations of torch that keep the order of logits."""


def as_saved(folder: Path, model: Model) -> Model:
    """A model with what its files say of how it is fed."""
    parts = [part.rpartition(".")[2] for part in saved_parts(folder)]
    if others := [part for part in parts if part != _TRANSFORMER]:
        raise InputError(
            f"its scores are made by {' and '.join(others)} ({MODULES}), which is not supported: "
            "only models whose transformer has a classifier on top are.",
            path=folder,
        )
    settings = saved_settings(folder)
    model = replace(model, prompt=_prompt(folder, settings), notes=_notes(model, settings))
    if parts or model.tokenizer.chat_template is not None:
        return _with_formatter(folder, model, saved=bool(parts))
    return model


def _prompt(folder: Path, settings: Any) -> str:
    name, prompts = settings.get("default_prompt_name"), settings.get("prompts") or {}
    if name is None:
        return ""
    if not isinstance(prompts, dict) or not isinstance(prompts.get(name), str):
        raise InputError(
            f"its default prompt {quoted(name)} is not among its prompts "
            "(config_sentence_transformers.json).",
            path=folder,
        )
    return str(prompts[name])


def _notes(model: Model, settings: Any) -> tuple[str, ...]:
    notes = []
    activation = str(settings.get("activation_fn") or "Identity").rpartition(".")[2]
    if activation not in _INCREASING:
        notes.append(f"Scores are logits: the model's activation function {activation} is not used")
    names = [str(name) for name in model.network.config.id2label.values()]
    if model.labels == 2 and names != ["LABEL_0", "LABEL_1"]:
        notes.append(
            f"Of the model's labels, {quoted(names[1])} is read as relevant and {quoted(names[0])} "
            "as not relevant"
        )
    return tuple(notes)


def _with_formatter(folder: Path, model: Model, *, saved: bool) -> Model:
    """A model read through sentence-transformers' own module."""
    try:
        from sentence_transformers.base.modules import Transformer
    except ImportError as error:
        raise InputError(
            "a model with a chat template, or with sentence-transformers' modules, needs version "
            "5.4 or newer of sentence-transformers.",
            path=folder,
        ) from error

    class Opened(Transformer):  # type: ignore[misc]
        def _load_model(self, *_: Any, **__: Any) -> Any:
            return model.network

    shared: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with opening(folder, "a cross-encoder of sentence-transformers"):
        if saved:
            module = Opened.load(str(folder), **shared)
        else:
            module = Opened(
                str(folder),
                transformer_task="sequence-classification",
                processor_kwargs=dict(shared),
                config_kwargs=dict(shared),
            )
    tokenizer = module.tokenizer
    tokenizer.padding_side = model.tokenizer.padding_side
    if most := (module.processing_kwargs.get("text") or {}).get("max_length"):
        tokenizer.model_max_length = min(tokenizer.model_max_length, int(most))
    model = replace(model, tokenizer=tokenizer)
    if "message" not in module.modality_config and not module.processing_kwargs:
        return model
    template = module.processing_kwargs.get("chat_template") or {}
    failure = module.input_formatter.pair_roles_failure(
        {name: value for name, value in template.items() if name != "restore_suffix"}
    )
    if "message" in module.modality_config and failure is not None:
        if saved:
            raise InputError(
                f"its chat template does not take a query and a document: {failure}.", path=folder
            )
        note = "The model's chat template is not used: it does not take a query and a document"
        return replace(model, notes=(*model.notes, note))
    return replace(model, formatter=module)
