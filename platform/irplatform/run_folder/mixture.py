"""What a run is made of: the first stage's share in a reranker's run, weights of fused retrievers.

A reranker's run is W × first stage + (1 − W) × reranker. With W = 1 it is the first stage's ranking
under another name, and says nothing of the reranker.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from irplatform.errors import enumeration
from irplatform.run_folder.metadata_model import Step
from irplatform.runs.names import PACKED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from irplatform.run_folder.metadata_model import Method

FIRST_STAGE_WEIGHT = "weight of the first stage"
"""Key of W in ir_metadata."""


@dataclass(frozen=True)
class Mixture:
    """What a run is made of, as far as that is known.

    Attributes:
        first_stage: the name of the run that a reranker was given; "" for other runs.
        share: W, the first stage's weight in a reranker's run, 0 to 1; over folds or seeds the
            mean. None for other runs.
        folds: the number of folds of cross-validation, if there are several.
        shares: W of each fold, as far as recorded.
        fused: the names of fused retrievers, or runs, with their weights.
    """

    first_stage: str = ""
    share: float | None = None
    folds: int = 0
    shares: tuple[float, ...] = ()
    fused: tuple[tuple[str, float], ...] = ()

    @property
    def has_no_weight(self) -> bool:
        """Whether the reranker has no part in the run, which is the first stage's."""
        return self.share == 1

    @property
    def share_text(self) -> str:
        """W with two decimals, more if it would look like 1; "" for other runs."""
        if self.share is None:
            return ""
        return f"{self.share:.2f}" if self.share == 1 or self.share < 0.995 else f"{self.share:.6g}"

    @property
    def fusion(self) -> str:
        """The weights of fused retrievers: "0 × bm25 + 1 × rm3"; "" for other runs."""
        if len({weight for _, weight in self.fused}) == 1:
            return f"{' + '.join(name for name, _ in self.fused)}, with equal weights"
        return " + ".join(f"{weight:.3g} × {name}" for name, weight in self.fused)

    def as_json(self) -> dict[str, Any]:
        """Return the fields of JSON: share, shares of folds, weights of retrievers."""
        return {
            "first_stage_share": self.share,
            **({"folds": self.folds} if self.folds else {}),
            **({"first_stage_shares": [*self.shares]} if self.shares else {}),
            **({"fused": dict(self.fused)} if self.fused else {}),
        }


def mixture_of(method: Method) -> Mixture:
    """Return what the metadata of a run say of it; nothing for those of other programs."""
    try:
        fused = tuple(_fused(method.retrieval))
        last = method.retrieval[-1] if method.retrieval else Step()
        if last.reranks is None:
            return Mixture(fused=fused if last.fusion is not None or last.fuses else ())
        share = method.interpolation
        if share is None:
            share = last.interpolates.get(FIRST_STAGE_WEIGHT)
        if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
            return Mixture()
        folds = len(method.weights)
        shares = tuple(map(float, method.shares))
        return Mixture(str(last.reranks), float(share), folds * (folds > 1), shares)
    except (AttributeError, KeyError, TypeError, ValueError):  # of another program
        return Mixture()


def _fused(steps: Iterable[Step]) -> Iterator[tuple[str, float]]:
    """The fused retrievers or runs, with their weights."""
    run_names: list[str] = []
    for step in steps:
        if step.fusion is not None:
            weights = step.fusion.get("weights") or [1.0] * len(run_names)
            yield from zip(run_names, map(float, weights), strict=True)
        elif step.fuses:
            for run in step.fuses:
                name = PurePath(run.run or "").name.removesuffix(PACKED)
                yield name.removesuffix(".run"), float(run.weight)
        elif step.retriever or step.run:
            run_names.append(str(step.retriever or step.run))


def weights_told(mixtures: Mapping[str, Mixture]) -> list[str]:
    """Return the weights of fused retrievers, a line for each run: "fused: 0 × bm25 + 1 × rm3"."""
    lines = []
    for name, mixture in mixtures.items():
        if mixture.fused:
            none = [retriever for retriever, weight in mixture.fused if not weight]
            remark = f" ({enumeration(none)} got no weight)" if none else ""
            lines.append(f"{name}: {mixture.fusion}{remark}")
    return lines


def folds_told(mixtures: Mapping[str, Mixture]) -> list[str]:
    """Return sentences on rerankers whose W is a mean over folds, and 1 in some of them."""
    groups: dict[tuple[int, int], list[str]] = {}
    for name, mixture in mixtures.items():
        if mixture.folds and mixture.share not in (0, 1):
            groups.setdefault((mixture.folds, mixture.shares.count(1.0)), []).append(name)
    return [
        f"W of {enumeration(names)} is the mean over {folds} folds"
        f"{f', and 1 in {ones} of them' if ones else ''}."
        for (folds, ones), names in groups.items()
    ]


def no_weight_told(first_stages: Mapping[str, str]) -> list[str]:
    """Return sentences on rerankers that were given no weight.

    Args:
        first_stages: reranker to the name of the run whose ranking it is.
    """
    groups: dict[str, list[str]] = {}
    for name, first in first_stages.items():
        groups.setdefault(first, []).append(name)
    return [
        f"{enumeration(names)} {'was' if len(names) == 1 else 'were'} given no weight: "
        f"{'this is' if len(names) == 1 else 'these are'} {first}'s ranking."
        for first, names in groups.items()
    ]
