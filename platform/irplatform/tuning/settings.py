"""The settings of a search for options, each declared once; imports nothing heavy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.settings import check_values, documented, setting

if TYPE_CHECKING:
    from collections.abc import Sequence

_GROUP = "Search"


@documented
@dataclass(frozen=True)
class TuneSettings:
    """The settings of a search for options.

    `over` has options with their ranges, see `irplatform.tuning.space`.

    Raises:
        InputError: a value is none of those that its setting takes.
    """

    over: Sequence[str] = setting(
        (),
        "Options to tune. A range is LOW:HIGH, LOW:HIGH:log or VALUE,VALUE,…; default: the "
        "declared bounds.",
        group=_GROUP,
        takers="tune",
        names="range",
    )
    trials: int = setting(
        30, "Settings to try in addition to the defaults.", group=_GROUP, takers="tune", least=1
    )
    refine: int = setting(
        0,
        "Further trials around the best setting, for every fold and at the end.",
        group=_GROUP,
        takers="tune",
        least=0,
    )
    folds: int = setting(
        5,
        "Cross-validation folds, of the estimate and of rerankers in every trial.",
        group=_GROUP,
        takers="tune",
        least=2,
    )
    topics: int | None = setting(
        None,
        "Topics to use, drawn at random; default: all.",
        group=_GROUP,
        takers="tune",
        least=1,
    )
    train_on: Sequence[str] = setting(
        (),
        "Collections whose topics to tune on; default: the collection's training partner. Several "
        "collections must have the same documents.",
        group=_GROUP,
        takers="tune",
        names="collection",
    )
    on_these_topics: bool = setting(
        False,
        "Tune on the topics of the collection itself, which must be training topics.",
        group=_GROUP,
        takers="tune",
    )

    def __post_init__(self) -> None:
        from irplatform.experiment.arguments import as_names

        for name in ("over", "train_on"):
            object.__setattr__(self, name, as_names(getattr(self, name), name))
        check_values(self)
