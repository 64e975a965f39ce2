"""What was found of one system of a plugin."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


@dataclass(frozen=True)
class Finding:
    """A system of a plugin after its check.

    Attributes:
        kind: "reranker", "retriever" or "feature group"; "plugin" for what is of no system.
        name: of the system, or the plugin.
        problems: where it breaks its contract, each in a line.
        unchecked: why it could not be checked, or not to the end; "" where it was.
        remarks: what could be better, though the contract is kept.
    """

    kind: str
    name: str
    problems: Sequence[str] = ()
    unchecked: str = ""
    remarks: Sequence[str] = ()

    def as_json(self) -> dict[str, Any]:
        """An entry of `platform plugins check --json`."""
        return {
            "kind": self.kind,
            "name": self.name,
            "problems": list(self.problems),
            "unchecked": self.unchecked or None,
            "remarks": list(self.remarks),
        }
