"""Weight files: tensors in safetensors format, which cannot carry code, with a model's identity."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from numpy import ascontiguousarray, isfinite, isnan, ndarray

from irplatform.errors import InputError, quoted
from irplatform.files.digests import file_state, is_settled
from irplatform.files.writing import share

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor, nn

_TYPES_OF_NUMPY = frozenset(
    {"F64", "F32", "F16", "I64", "I32", "I16", "I8", "U64", "U32", "U16", "U8", "BOOL"}
)
"""As safetensors calls them; it has others, such as BF16."""
_AGAIN = "The file is damaged: copy it again, or make it again."


@dataclass(frozen=True)
class WeightFile:
    """A file of tensors with the identity of their model."""

    path: Path

    def save(self, tensors: Mapping[str, Tensor], identity: Mapping[str, Any]) -> None:
        """Write tensors with the identity of the model, which `load` compares, as JSON.

        Tensors that share memory, as in tied layers, are written whole under each of their names.
        """
        from safetensors.torch import save_file

        separate: dict[str, Tensor] = {}
        addresses: set[int] = set()
        for name, tensor in tensors.items():
            plain = tensor.detach().cpu().contiguous()
            address = plain.untyped_storage().data_ptr()
            separate[name] = plain.clone() if address in addresses else plain
            addresses.add(address)
        temporary = self.path.with_name(self.path.name + ".tmp")
        about = {
            "identity": identity,
            "shapes": {name: list(tensor.shape) for name, tensor in separate.items()},
            "infinite": [name for name, tensor in separate.items() if not _finite(tensor)],
        }
        # One entry: safetensors writes several in another order each time.
        save_file(separate, temporary, metadata={"about": json.dumps(about, sort_keys=True)})
        share(temporary)
        temporary.replace(self.path)

    def load(self, identity: Mapping[str, Any] | None = None) -> dict[str, Tensor]:
        """Read tensors that `save` wrote; an identity of None accepts any.

        InputError if the file is not safetensors, is damaged, or has the weights of another model.
        """
        about, tensors = _read(self.path)
        saved = about.get("identity")
        if identity is not None and saved != (needed := json.loads(json.dumps(identity))):
            raise InputError(
                f"these weights are of another model: {_differences(saved, needed)}.",
                path=self.path,
            )
        _refuse_damage(self.path, about, tensors)
        return tensors

    def load_into(self, network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
        """Give a network tensors of the file; InputError if one is missing or of another shape."""
        shapes = {name: list(tensor.shape) for name, tensor in network.state_dict().items()}
        _refuse_other_shapes(self.path, tensors, shapes)
        network.load_state_dict(dict(tensors))

    @staticmethod
    def digest(tensors: Mapping[str, Tensor]) -> str:
        """Return a digest of weights: names, shapes and every bit of their values."""
        digest = hashlib.sha256()
        for name, tensor in sorted(tensors.items()):
            values = ascontiguousarray(tensor.detach().cpu().numpy())
            digest.update(f"{name} {values.dtype} {values.shape} ".encode())
            digest.update(values.data)
        return digest.hexdigest()

    def check(self) -> None:
        """Refuse a file that is damaged or has values that are not finite."""
        if not self.path.is_file():
            raise InputError("there is no such weight file.", path=self.path)
        state = file_state(self.path)
        (_check if is_settled(state) else _check.__wrapped__)(self.path, state)


@lru_cache(maxsize=256)
def _check(path: Path, state: tuple[int, ...]) -> None:
    del state
    _refuse_damage(path, *_read(path, for_torch=False))


def _read(path: Path, *, for_torch: bool = True) -> tuple[Mapping[str, Any], dict[str, Any]]:
    """The notes of `WeightFile.save` on tensors, and the tensors.

    Files of earlier versions have only an identity, and those of other tools nothing.
    """
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise InputError("there is no such weight file.", path=path)
    try:
        with safe_open(path, framework="np") as file:
            metadata, names = file.metadata() or {}, list(file.keys())
            types = {file.get_slice(name).get_dtype() for name in names}
        framework = "pt" if for_torch or not types <= _TYPES_OF_NUMPY else "np"
        with safe_open(path, framework=framework) as file:
            tensors = {name: file.get_tensor(name) for name in names}
        if "about" in metadata:
            about = dict(json.loads(metadata["about"]))
        else:
            about = {name: json.loads(metadata[name]) for name in ("identity",) if name in metadata}
    except (SafetensorError, OSError, ValueError, TypeError) as error:
        raise InputError(
            "this is not a safetensors file, or a damaged one. Pickled checkpoints (.pt, .pkl) are "
            "not read, since they can run code.",
            path=path,
        ) from error
    return about, tensors


def _refuse_damage(path: Path, about: Mapping[str, Any], tensors: Mapping[str, Any]) -> None:
    """Check that tensors are those that were saved.

    A network may hold infinite numbers: the divisor of a feature that never varies.
    """
    if isinstance(about.get("shapes"), dict):
        _refuse_other_shapes(path, tensors, about["shapes"])
    unknown = tensors if "identity" in about else ()
    may_be_infinite = about.get("infinite", unknown)
    for name, tensor in tensors.items():
        if not _finite(tensor, infinite_too=name in may_be_infinite):
            raise InputError(
                f"the tensor '{name}' has values that are not finite numbers. {_AGAIN}", path=path
            )


def _finite(tensor: Tensor | ndarray[Any, Any], *, infinite_too: bool = False) -> bool:
    if isinstance(tensor, ndarray):
        floating = tensor.dtype.kind == "f"
        return not floating or bool((~isnan(tensor) if infinite_too else isfinite(tensor)).all())
    if infinite_too:
        return bool(tensor.isnan().logical_not().all())
    return not tensor.is_floating_point() or bool(tensor.float().isfinite().all())


def _refuse_other_shapes(
    path: Path, tensors: Mapping[str, Any], shapes: Mapping[str, list[int]]
) -> None:
    for name, shape in shapes.items():
        if name not in tensors:
            raise InputError(f"the tensor '{name}' is missing. {_AGAIN}", path=path)
        if (saved_shape := list(tensors[name].shape)) != shape:
            raise InputError(
                f"the tensor '{name}' has the shape {saved_shape}, not {shape}. {_AGAIN}", path=path
            )
    for name in tensors:
        if name not in shapes:
            raise InputError(f"the tensor '{name}' is not part of this model. {_AGAIN}", path=path)


def _differences(saved: Any, needed: Mapping[str, Any]) -> str:
    if not isinstance(saved, dict):
        return "they do not name their model"
    return "; ".join(
        f"{name} is {quoted(saved.get(name, 'missing'))}, {quoted(needed.get(name, 'none'))} is "
        "needed"
        for name in {**needed, **saved}
        if saved.get(name, "missing") != needed.get(name, "none")
    )
