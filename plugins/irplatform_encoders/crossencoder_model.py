"""Opens cross-encoders, to score with them or to fine-tune them.

A model's prompts, chat template and activation are what sentence-transformers (5.7 and newer) wrote
beside it; scores agree with its `CrossEncoder.predict`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from irplatform.kit import quoted
from irplatform.plugin import InputError, Options
from irplatform_encoders.pretrained import (
    made_of_parts,
    opening,
    require_modules,
    saved_parts,
    saved_settings,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

_INCREASING = ("Identity", "Sigmoid", "LogSigmoid", "Tanh", "Softplus", "Softsign")
"""Activations of torch that keep the order of logits."""
_YES = re.compile(
    r"^(?:1|yes|true|pos|positive|good|correct|match(?:ing|es)?|ispositive)$|^(?:is|highly|very)?"
    r"(?:relevant|relevance|related|similar|duplicates?|entail(?:ment|ed|s)?|paraphrase|equivalent)$"
)
_NOT = re.compile(
    r"0|no|false|neg|negative|bad|wrong|contradict(?:ion|ed|s)?|(?:is)?(?:not?|non|un|ir|in|dis|mis)"
    r"(?:relevan(?:t|ce)|related|similar|correct|match(?:ing|es)?|duplicates?|entail(?:ment|ed|s)?"
    r"|paraphrase|equivalent|positive|true)|(?:not|non).+"
)
"""Names of labels, without blanks and signs, that mean relevant, and that deny it."""
_OFFSET_POSITIONS = dict.fromkeys(
    ("roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"), 2
)
"""Models that number positions from 2, and so have two fewer than they say."""
_READ_AT_THE_END = ("xlnet",)
"""Models that score by the last token, padding or not, and so need padding on the left.

Others look for the last token themselves, and padding on the left could change their scores.
"""


@dataclass(frozen=True)
class Model:
    """A tokenizer and a model that classifies sequences."""

    tokenizer: Any  # of transformers
    network: Any  # of transformers, on the CPU, in evaluation mode, in 32-bit numbers
    labels: int  # how many scores it gives to a pair
    max_length: int | None  # tokens that it can read, if it says so
    new: frozenset[str] = frozenset()  # names of weights that its files lack: they are random
    prompt: str = ""  # put before a query, as the model's files say
    formatter: Any = None  # sentence-transformers' module that fills the model's chat template
    notes: tuple[str, ...] = ()  # a sentence for each part of its files that is not used
    label: int = 0  # of several labels, the one that means relevant
    activation: Any = None  # a module of torch that is applied to the logits, or None


def open_classifier(folder: Path, label: str | None = None, *, activated: bool = False) -> Model:
    """Open a model that is scored with as it is.

    Args:
        folder: of the model.
        label: the name or number of the label that means relevant; None goes by the labels' names.
        activated: whether scores pass through the model's activation function.

    Raises:
        InputError: it cannot be opened, or does not say which of its labels means relevant.
    """
    model = _open_parts(folder) if made_of_parts(folder) else _open_trained(folder)
    names, settings = _names(model), saved_settings(folder)
    model = replace(model, label=_relevant(folder, names, label))
    if activated:
        return replace(model, activation=_activation(folder, model, settings))
    notes = _notes(model, settings, names, has_label=label is not None)
    return replace(model, notes=(*model.notes, *notes))


def _open_parts(folder: Path) -> Model:
    """A model that sentence-transformers runs."""
    from irplatform_encoders.crossencoder_parts import open_parts

    parts, labels = open_parts(folder)
    tokenizer = parts.reader.tokenizer
    limits = [limit for limit in (_longest(parts.config), tokenizer.model_max_length) if limit]
    prompt = _prompt(folder, saved_settings(folder))
    return Model(tokenizer, parts, labels, min(limits), prompt=prompt, formatter=parts.reader)


def _open_trained(folder: Path) -> Model:
    """A sequence classifier with all of its weights."""
    model = _open(folder)
    if missing := sorted(model.new):
        raise InputError(
            f"these are not the weights of a trained classifier: {missing[0]} is missing"
            f"{_more(missing)}. A language model has to be fine-tuned for ranking first: "
            "`vanilla-bert` does.",
            path=folder,
        )
    with_settings = as_saved(folder, model)
    limits = [with_settings.max_length, with_settings.tokenizer.model_max_length]
    return replace(with_settings, max_length=min(limit for limit in limits if limit is not None))


def open_to_fine_tune(folder: Path) -> Model:
    """Open a classifier, or a language model, which gets a random layer on top."""
    model = _open(folder, labels=1)
    if model.labels not in (1, 2):
        raise InputError(
            f"the model has {model.labels} labels; one (a score) or two (not relevant, relevant) "
            "are needed.",
            path=folder,
        )
    body = f"{model.network.base_model_prefix}."
    lacking = sorted(name for name in model.new if name.startswith(body) and "pooler" not in name)
    if lacking:
        raise InputError(
            f"there are no weights of the whole transformer: {lacking[0]} is missing or of another "
            f"size{_more(lacking)}.",
            path=folder,
        )
    unused = {
        "prompt": saved_settings(folder).get("default_prompt_name"),
        "chat template": model.tokenizer.chat_template,
    }
    notes = [f"The model's {name} is not used" for name, value in unused.items() if value]
    label = _by_name(_names(model))
    return replace(model, notes=tuple(notes), label=model.label if label is None else label)


def _open(folder: Path, labels: int | None = None) -> Model:
    """A sequence classifier, perhaps with random weights on top."""
    import torch
    from transformers import AutoConfig, AutoModelForSequenceClassification, AutoTokenizer

    shared: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}
    with opening(folder, "a sequence-classification model"):
        tokenizer = AutoTokenizer.from_pretrained(folder, **shared)
        config = AutoConfig.from_pretrained(folder, **shared)
        classifiers = [n for n in config.architectures or () if "ForSequenceClassification" in n]
        new_top = bool(labels) and not classifiers
        if new_top:
            config.num_labels = labels
        network, report = AutoModelForSequenceClassification.from_pretrained(
            folder,
            config=config,
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,  # named below
            **shared,
        )
    # What was on top for another task, as of a tagger of words, may have the same name.
    # Transformers 4 names the tensors, Transformers 5 adds both shapes.
    mismatched = report["mismatched_keys"]
    unfit = sorted(key if isinstance(key, str) else key[0] for key in mismatched)
    if unfit and not new_top:
        needed = list(network.state_dict()[unfit[0]].shape)
        raise InputError(
            f"the tensor '{unfit[0]}' of its files has not the shape {needed} that config.json "
            "asks for.",
            path=folder,
        )
    if tokenizer.pad_token_id is None:
        raise InputError(
            "its tokenizer has no padding token, so that documents cannot be scored in batches. "
            "Give it one (`tokenizer.pad_token = tokenizer.eos_token`, say) and save it.",
            path=folder,
        )
    at_the_end = config.model_type in _READ_AT_THE_END
    tokenizer.padding_side = "left" if at_the_end else "right"
    if network.config.pad_token_id is None:  # generative models look for the last token by it
        network.config.pad_token_id = tokenizer.pad_token_id
    new = frozenset([*report["missing_keys"], *unfit])
    labels_found = int(network.config.num_labels)
    longest = _longest(network.config)
    return Model(tokenizer, network.eval(), labels_found, longest, new, label=labels_found - 1)


def _longest(config: Any) -> int | None:
    """Tokens that a model can read; None where it does not say, or has no limit (XLNet: -1)."""
    limit = getattr(config, "max_position_embeddings", None)
    if not isinstance(limit, int) or limit < 1:
        return None
    return limit - _OFFSET_POSITIONS.get(config.model_type, 0)


def _more(names: list[str]) -> str:
    return f", and {len(names) - 1} more" if len(names) > 1 else ""


def as_saved(folder: Path, model: Model) -> Model:
    """A model with what its files say of how it is fed."""
    parts = saved_parts(folder)
    model = replace(model, prompt=_prompt(folder, saved_settings(folder)))
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


def _names(model: Model) -> list[str]:
    """The names of the labels, in the order of the network's outputs, whatever the file's is."""
    names = {int(number): str(name) for number, name in model.network.config.id2label.items()}
    return [names.get(number, f"LABEL_{number}") for number in range(model.labels)]


def _by_name(names: Sequence[str]) -> int | None:
    """The place of the label whose name alone means relevant, as "yes" beside "no"; or None."""
    words = [re.sub(r"[\W_]+|^label", "", name.casefold()) for name in names]
    meant = [_NOT.fullmatch(word) is None and _YES.search(word) is not None for word in words]
    if "1" in words and {*words} != {"0", "1"}:  # grades, of which 1 is not the best
        return None
    if len(names) == 2 and not any(meant):  # one that is none, beside one with a name of its own
        denied = [_NOT.fullmatch(word) is not None for word in words]
        meant = [not no for no in denied] if any(denied) else meant
    return meant.index(True) if sum(meant) == 1 else None


def _relevant(folder: Path, names: Sequence[str], label: str | None) -> int:
    """The place of the label that means relevant."""
    text = _name_list(names)
    if label is None:
        if len(names) == 1:
            return 0
        if (number := _by_name(names)) is None:
            raise InputError(
                f"the model has {len(names)} labels ({text}): say which one means relevant, as in "
                f"{Options.spelled({'cross-encoder.label': names[-1]})}.",
                path=folder,
            )
        return number
    if len(names) == 1:
        raise InputError(
            "cross-encoder.label has no effect: the model gives one score.", path=folder
        )
    places = {name.casefold(): place for place, name in enumerate(names)}
    numbers = {str(place): place for place in range(len(names))}
    number = places.get(label.casefold(), numbers.get(label))
    if number is None:
        raise InputError(
            f"{quoted(label)} is not among the labels of the model: {text}.", path=folder
        )
    return number


def _activation_name(model: Model, settings: Any) -> str:
    """The activation function of scores as sentence-transformers' releases have written it."""
    config = model.network.config
    of_config = getattr(config, "sentence_transformers", None) or {}
    former = getattr(config, "sbert_ce_default_activation_function", None)
    activation = settings.get("activation_fn") or of_config.get("activation_fn") or former
    return str(activation or ("torch.nn.Sigmoid" if model.labels == 1 else "torch.nn.Identity"))


def _activation(folder: Path, model: Model, settings: Any) -> Any:
    """The activation function of a model; only those of torch, for no code of a model is run."""
    import torch

    name = _activation_name(model, settings)
    kind: Any = getattr(torch.nn, name.rpartition(".")[2], None)
    usable = isinstance(kind, type) and issubclass(kind, torch.nn.Module)
    if not name.startswith("torch.nn.") or not usable:
        raise InputError(
            f"the model's activation function {quoted(name)} is not one of torch; set another "
            "cross-encoder.output.",
            path=folder,
        )
    with opening(folder, f"a cross-encoder with the activation function {name}"):
        return kind()


def _notes(
    model: Model, settings: Any, names: Sequence[str], *, has_label: bool
) -> tuple[str, ...]:
    notes = []
    activation = _activation_name(model, settings).rpartition(".")[2]
    if activation not in _INCREASING:
        notes.append(
            f"Scores are logits: the model's activation function {activation} is not used; "
            "cross-encoder.output=model uses it"
        )
    if model.labels > 1 and not has_label and names != ["LABEL_0", "LABEL_1"]:
        notes.append(
            f"Of the model's labels ({_name_list(names)}), {quoted(names[model.label])} is read as "
            "relevant; cross-encoder.label names another"
        )
    return tuple(notes)


def _with_formatter(folder: Path, model: Model, *, saved: bool) -> Model:
    require_modules(folder, "a model with a chat template, or with modules.json,")
    from sentence_transformers.base.modules import Transformer

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


def _name_list(names: Sequence[str], most: int = 5) -> str:
    return ", ".join([*names[:most], *(["…"] if len(names) > most else [])])
