"""Transformers that users bring, as folders in Hugging Face's format.

None is downloaded unasked. Weights are read from safetensors alone: pickles can run code, and so
can a model's own Python.
"""

from __future__ import annotations

from contextlib import contextmanager
from fnmatch import fnmatch
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from packaging.version import Version
from pydantic import Field

from irplatform.kit import PlatformError, WeightFile, digests, portable, read_json
from irplatform.plugin import InputError, Options

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from torch import nn

    from irplatform.plugin import Resources

PACKAGES = ("torch", "transformers", "sentence_transformers", "safetensors")
_WITH_MODULES = Version("5.7")
_NEVER = "Models are never downloaded without being asked for"
MODULES = "modules.json"  # of sentence-transformers: the parts of a model
_ROUTER = "router_config.json"
_SETTINGS = "config_sentence_transformers.json"
_ADAPTER = "adapter_config.json"
_VOCABULARIES = ("tokenizer.json", "vocab.*", "*.model", "merges.txt")
_FILES = ("*.json", "*.safetensors", "*.txt", "*.model", "*.jinja", "artifact.metadata")
_OTHER_FILES = (
    "README*", "LICENSE*", "requirements*", "trainer_state.json", "train*_args.json",
    "*results*.json", "consolidated*", "onnx", "openvino", "checkpoint-*", ".*",
)  # fmt: skip
"""Names of files and folders of these kinds that nothing is read from."""
_KINDS = {
    "sparse_encoder": "SparseEncoder",
    "multi_vector_encoder": "MultiVectorEncoder",
    "cross_encoder": "CrossEncoder",
}
"""The kind of model that has parts from these packages of sentence-transformers."""
_PYLATE = "pylate.models.Dense.Dense"
"""A part that PyLate names, which sentence-transformers reads with its own code."""
_COLBERT = ("query_prefix", "document_prefix", "do_query_expansion")
"""Settings that PyLate saves of a model of late interaction."""
_TRANSFORMER_SETTINGS = "sentence_bert_config.json"
_OF_LABELS = ("Classification", "QuestionAnswering", "MultipleChoice")
"""Ends of the names of networks that give labels."""
_OF_IMAGES = "ForRetrieval"
"""The end of the names of networks that give vectors of images' patches."""
_SYSTEMS = {
    "CrossEncoder": "cross-encoder",
    "MultiVectorEncoder": "multi-vector",
    "SentenceTransformer": "bi-encoder",
    "SparseEncoder": "sparse-encoder",
}
"""The reranker that takes a kind of model."""
_MANY = 500  # texts that take a transformer a minute or more on a CPU


class PretrainedOptions(Options):
    """Which model, of those that a user brings."""

    model: str | None = Field(
        None,
        description="folder in Hugging Face format (config.json, *.safetensors, tokenizer files)",
    )
    download: bool = Field(
        False, description="`model` may name a model of the Hugging Face hub, to be downloaded"
    )
    revision: str | None = Field(None, description="commit or tag of a model of the hub")


class TwoSidedOptions(PretrainedOptions):
    """The same with another model for queries, if there is one."""

    query_model: str | None = Field(
        None, description="another model for queries, trained with this one (MedCPT)"
    )
    query_revision: str | None = Field(None, description="commit or tag of that one")


def tell_how_slow(resources: Resources, texts: int) -> None:
    """Say what is faster where a transformer reads many texts on the CPU."""
    if resources.device == "cpu" and texts >= _MANY and portable():
        resources.notice(
            "Transformers are slow without a GPU. With IRPLATFORM_ARITHMETIC=native and in "
            "bfloat16 they are twice as fast on some processors, and give other last digits on "
            "others."
        )


def model_folder(system: str, options: PretrainedOptions, kind: str | None = None) -> Path:
    """Return the folder of the model that the options name; download it where they ask for it.

    `system` is named in messages. `kind` is one of `_SYSTEMS`; None takes any
    model. Raises InputError for a model that cannot be used, PlatformError where the hub fails.
    """
    if not options.model:
        raise InputError(
            f"'{system}' needs a model: its option `model` "
            f"({Options.spelled({f'{system}.model': 'FOLDER'})}), a folder in "
            f"Hugging Face format. {_NEVER}."
        )
    folder = Path(options.model).expanduser()
    if folder.exists():
        if options.revision is not None:
            raise InputError(
                f"{system}.revision has no effect: this is a folder, not a model of the hub.",
                path=folder,
            )
    elif options.download:
        folder = _downloaded(options.model, options.revision)
    else:
        setting = Options.spelled({f"{system}.model": "FOLDER"})
        download = Options.spelled({f"{system}.download": True})
        raise InputError(
            f"there is no such folder. {setting} says where the model is; a checkpoint keeps its "
            f"path as it was given in training. {_NEVER}: the option `download` of '{system}' "
            f"({download}) takes a model of that name from the Hugging Face hub.",
            path=options.model,
        )
    _check(folder)
    if kind is not None:
        _check_kind(folder, system, kind)
    return folder


def two_folders(system: str, options: TwoSidedOptions, kind: str) -> tuple[Path, Path]:
    """Return the folders of the models for documents and for queries; see `model_folder`."""
    documents = queries = model_folder(system, options, kind)
    if options.query_model is not None:
        fields = {"model": options.query_model, "revision": options.query_revision}
        queries = model_folder(system, options.model_copy(update=fields), kind)
    return documents, queries


def contents(documents: Path, queries: Path) -> Mapping[str, object]:
    """The digests of the files of one model or two."""
    of_queries = {} if queries == documents else {"query_model": content(queries)}
    return {"model": content(documents), **of_queries}


def saved_settings(folder: Path) -> Mapping[str, Any]:
    """The settings that sentence-transformers wrote beside a model: kind, prompts, similarity."""
    path = folder / _SETTINGS
    settings = read_json(path) if path.exists() else {}
    if not isinstance(settings, dict):
        raise InputError("does not hold the settings of a model.", path=path)
    return settings


def saved_parts(folder: Path) -> list[str]:
    """The parts of a model that sentence-transformers saved; [] for another model."""
    path = folder / MODULES
    return _parts(read_json(path), path) if path.exists() else []


def all_parts(folder: Path) -> list[str]:
    """The same with the parts of parts that choose between several."""
    lists = [path for path in _model_files(folder, "*.json") if path.name in (MODULES, _ROUTER)]
    return [part for path in lists for part in _parts(read_json(path), path)]


def made_of_parts(folder: Path) -> bool:
    """Return whether a model is a language model that answers, or has further modules."""
    kinds = [part.rpartition(".")[2] for part in saved_parts(folder)]
    if kinds:
        settings = folder / _TRANSFORMER_SETTINGS
        task = read_json(settings).get("transformer_task") if settings.exists() else None
        return kinds != ["Transformer"] or task not in (None, "sequence-classification")
    names = read_json(folder / "config.json").get("architectures") or [""]
    return str(names[0]).endswith("ForCausalLM")


def require_modules(folder: Path, kind: str) -> None:
    """Refuse releases of sentence-transformers that cannot run a cross-encoder's modules."""
    version = metadata.version("sentence-transformers")
    if Version(version) < _WITH_MODULES:
        raise InputError(
            f"{kind} needs sentence-transformers {_WITH_MODULES} or newer; {version} is installed.",
            path=folder,
        )


def _check_kind(folder: Path, system: str, kind: str) -> None:
    model_kind, source = kind_of(folder)
    if model_kind not in (None, kind):
        advice = f" Use '{_SYSTEMS[model_kind]}'." if model_kind in _SYSTEMS else ""
        raise InputError(
            f"this model is a {model_kind} ({source}), and '{system}' needs a {kind}.{advice}",
            path=folder,
        )


def kind_of(folder: Path) -> tuple[str | None, str]:
    """The kind of model by sentence-transformers' names, and where it says so; None if nowhere."""
    settings = saved_settings(folder)
    if (saved := settings.get("model_type")) is not None:
        return "MultiVectorEncoder" if saved == "ColBERT" else saved, f"{_SETTINGS}: model_type"
    if marks := [name for name in _COLBERT if name in settings]:
        return "MultiVectorEncoder", f"{_SETTINGS}: {marks[0]}"
    for part in all_parts(folder):
        for package, kind in _KINDS.items():
            if part.startswith(f"sentence_transformers.{package}."):
                return kind, f"{MODULES}: {part.rpartition('.')[2]}"
    return _kind_of_network(folder / "config.json")


def _kind_of_network(path: Path) -> tuple[str | None, str]:
    parsed = read_json(path) if path.exists() else {}
    for name in (parsed.get("architectures") if isinstance(parsed, dict) else None) or ():
        if name == "HF_ColBERT":
            return "MultiVectorEncoder", f"{path.name}: {name}"
        if "ForSequenceClassification" in str(name):
            return "CrossEncoder", f"{path.name}: {name}"
        if str(name).endswith((*_OF_LABELS, _OF_IMAGES)):
            return str(name), f"{path.name}: architectures"
    return None, ""


def content(folder: Path) -> Mapping[str, str]:
    """The digest of each file that the scores of the model in a folder depend on."""
    files = [path for kind in _FILES for path in _model_files(folder, kind)]
    names = [str(path.relative_to(folder)) for path in files]
    return dict(sorted(zip(names, digests(files), strict=True)))


def _model_files(folder: Path, kind: str) -> list[Path]:
    """The files of a kind that a model is read from: in its folder, and in those of its parts."""
    parts = read_json(folder / MODULES) if (folder / MODULES).exists() else []
    _parts(parts, folder / MODULES)
    below = [folder / str(part["path"]) for part in parts if part["path"]]
    below += [folder / name for name in _routes(folder / _ROUTER) if name]
    paths = {*folder.glob(kind), *(path for part in below for path in part.rglob(kind))}
    return sorted(
        path
        for path in paths
        if path.is_file()
        and folder in path.parents
        and not any(
            fnmatch(name, other)
            for name in path.relative_to(folder).parts
            for other in _OTHER_FILES
        )
    )


def _routes(path: Path) -> list[str]:
    """The folders of the parts that a router in a model's own folder chooses from."""
    if not path.exists():
        return []
    parsed = read_json(path)
    _parts(parsed, path)
    return [str(name) for name in parsed["types"]]


@contextmanager
def opening(folder: Path, kind: str) -> Iterator[None]:
    """Silence transformers while a model is opened; its errors become an InputError of one line."""
    from safetensors import SafetensorError
    from transformers.utils import logging

    bars, level = logging.is_progress_bar_enabled(), logging.get_verbosity()
    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    except (
        OSError, ValueError, KeyError, ImportError, RuntimeError, TypeError, AttributeError,
        SafetensorError,
    ) as error:  # fmt: skip
        raise InputError(
            f"cannot be opened as {kind}: {_first_line(error)}", path=folder
        ) from error
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def check_weights(folder: Path, network: nn.Module | None) -> None:
    """Refuse a transformer whose files lack some of its weights: they would be random."""
    from safetensors import safe_open

    if network is None:  # a model of words without a transformer
        return
    names: set[str] = set()
    for path in folder.rglob("*.safetensors"):
        with safe_open(path, "np") as file:
            names.update(file.keys())
    # Files may have a prefix, such as "bert.", and TensorFlow's names of layer norms.
    old_names = {"Norm.gamma": "Norm.weight", "Norm.beta": "Norm.bias"}
    for old, new in old_names.items():
        names = {name.replace(old, new) for name in names}
    parts = (name.split(".") for name in names)
    ends = {".".join(part[start:]) for part in parts for start in range(len(part))}
    state = network.state_dict()
    loaded = {value.data_ptr() for name, value in state.items() if name in ends}
    missing = [
        name
        for name, value in state.items()
        if value.data_ptr() not in loaded and not name.startswith("pooler.")
    ]  # tied weights are saved once; sentence-transformers has no use for the pooler
    if missing:
        raise InputError(
            f"these are not all weights of the model: {missing[0]} is missing"
            f"{f', and {len(missing) - 1} more' if len(missing) > 1 else ''}.",
            path=folder,
        )


@cache
def _downloaded(name: str, revision: str | None) -> Path:
    from huggingface_hub import errors, snapshot_download

    try:
        return Path(snapshot_download(name, revision=revision, allow_patterns=list(_FILES)))
    except errors.HFValidationError as error:
        raise InputError(
            "is neither a folder nor a name of the Hugging Face hub (owner/model).", path=name
        ) from error
    except (errors.RepositoryNotFoundError, errors.RevisionNotFoundError) as error:
        raise InputError(
            f"cannot be downloaded from the Hugging Face hub: {_first_line(error)}", path=name
        ) from error
    except (errors.HfHubHTTPError, OSError, ValueError) as error:
        PlatformError.raise_refusal(error)
        raise PlatformError(
            f"{name}: cannot be downloaded from the Hugging Face hub: "
            f"{_first_line(error.__cause__ or error)}"
        ) from error


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _check(folder: Path) -> None:
    if not folder.is_dir():
        raise InputError("a model is a folder, not a file.", path=folder)
    if adapters := _model_files(folder, _ADAPTER):
        raise InputError(
            f"this is an adapter of another model ({_ADAPTER}). Merge the two (in peft: "
            "`merge_and_unload`) and save the result.",
            path=adapters[0].parent,
        )
    if not any((folder / name).exists() for name in ("config.json", MODULES)):
        raise InputError(
            "there is no model in Hugging Face format here: config.json is missing.", path=folder
        )
    for path in _model_files(folder, "*.json"):
        parsed = read_json(path)
        for part in _parts(parsed, path) if path.name in (MODULES, _ROUTER) else ():
            if part != _PYLATE and not part.startswith("sentence_transformers."):
                raise InputError(
                    f"the part '{part}' is code that the model brings, which is not run.", path=path
                )
    weights = _model_files(folder, "*.safetensors")
    for pickled in _model_files(folder, "pytorch_model*.bin"):
        if pickled.parent not in [path.parent for path in weights]:
            raise InputError(
                "there are no weights in safetensors format here. Pickled ones (*.bin) can run "
                "code and are not read. Convert them with `save_pretrained` if you trust them.",
                path=pickled.parent,
            )
    for path in weights:
        WeightFile(path).check()
    parts = all_parts(folder)
    if parts and not any(part.endswith("Transformer") for part in parts):
        return  # word vectors or counts of words, which have their own files
    if not weights:
        raise InputError("there are no weights in safetensors format here.", path=folder)
    if not any(_model_files(folder, name) for name in _VOCABULARIES):
        raise InputError(
            "there is no tokenizer here (tokenizer.json, vocab.txt or the like).", path=folder
        )


def _parts(parsed: Any, path: Path) -> list[str]:
    try:
        if path.name == MODULES:
            return [str(part["type"]) for part in parsed if part["path"] is not None]
        return [str(kind) for kind in parsed["types"].values()]
    except (TypeError, KeyError, AttributeError) as error:
        raise InputError("does not list the parts of a model.", path=path) from error
