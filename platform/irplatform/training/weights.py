"""Weight files: tensors in safetensors format, which cannot carry code, with a model's identity."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, quoted
from irplatform.storage import share

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from torch import Tensor


def save_weights(path: Path, tensors: Mapping[str, Tensor], identity: Mapping[str, Any]) -> None:
    """Write tensors with what identifies the model: its name and the sizes that must match.

    Tensors that share memory, as those of tied layers, are written whole under each of their names.

    Args:
        path: the file to write, in a folder that is there.
        tensors: by name, of any shape, on any device.
        identity: as JSON; `load_weights` compares it.
    """
    from safetensors.torch import save_file

    separate: dict[str, Tensor] = {}
    addresses: set[int] = set()
    for name, tensor in tensors.items():
        plain = tensor.detach().cpu().contiguous()
        address = plain.untyped_storage().data_ptr()
        separate[name] = plain.clone() if address in addresses else plain
        addresses.add(address)
    temporary = path.with_name(path.name + ".tmp")
    save_file(separate, temporary, metadata={"identity": json.dumps(identity, sort_keys=True)})
    share(temporary)
    temporary.replace(path)


def load_weights(path: Path, identity: Mapping[str, Any] | None = None) -> dict[str, Tensor]:
    """Read tensors that `save_weights` wrote.

    Args:
        path: the file.
        identity: what the file must have been saved with; None accepts any.

    Raises:
        InputError: not a safetensors file (a pickle, say), or the weights of another model.
    """
    from safetensors import SafetensorError, safe_open

    if not path.is_file():
        raise InputError("there is no such weight file.", path=path)
    try:
        with safe_open(path, framework="pt") as file:
            saved = json.loads((file.metadata() or {}).get("identity", "null"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except (SafetensorError, OSError, ValueError) as error:
        raise InputError(
            "this is not a safetensors file. Pickled checkpoints (.pt, .pkl) are not read, since "
            "they can run code.",
            path=path,
        ) from error
    if identity is not None and saved != (needed := json.loads(json.dumps(identity))):
        raise InputError(
            f"these weights belong to another model: {_differences(saved, needed)}.", path=path
        )
    return tensors


def _differences(saved: Any, needed: Mapping[str, Any]) -> str:
    """What a file was saved with and what is needed, where the two differ."""
    if not isinstance(saved, dict):
        return "they do not say of which"
    return "; ".join(
        _difference(name, saved, needed)
        for name in {**needed, **saved}
        if (name in saved, saved.get(name)) != (name in needed, needed.get(name))
    )


def _difference(name: str, saved: Mapping[str, Any], needed: Mapping[str, Any]) -> str:
    if name not in needed:
        return f"{name} is {quoted(saved[name])}, and the model has none"
    if name not in saved:
        return f"they have no {name}, {quoted(needed[name])} is needed"
    return f"{name} is {quoted(saved[name])}, {quoted(needed[name])} is needed"
