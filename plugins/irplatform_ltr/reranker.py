"""Learning to rank as a reranker: features of all groups, and the learners over them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from irplatform.kit import Calculator
from irplatform.plugin import (
    Documents,
    InputError,
    NamedSystem,
    Reads,
    Resources,
    Topic,
    TrainableReranker,
    TrainingData,
    Traits,
)
from irplatform_ltr.options import LtrOptions

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from irplatform.kit import Float32, Pool
    from irplatform_ltr.ensemble import Views

_FILE = "ltr.json"


class LearningToRank(TrainableReranker):
    """Learning to rank from features: LambdaMART, regression trees, a linear model and a network.

    Features come in groups, which are plugins; a group without data is left out. Features that
    learn from judgments, such as scores of other rerankers, are computed out of fold.
    """

    Options = LtrOptions
    citation: ClassVar[str] = (
        "Christopher J. C. Burges. From RankNet to LambdaRank to LambdaMART: An Overview. "
        "MSR-TR-2010-82. Guolin Ke et al. LightGBM. NeurIPS 2017."
    )
    options: LtrOptions

    _resources: Resources
    _groups: list[Any]
    _learners: Views

    def traits(self) -> Traits:

        learner = self.options.learner
        trees = ("lightgbm",) if learner in ("trees", "average") else ()
        network = ("torch",) if learner in ("network", "average") else ()
        return Traits(
            packages=(*trees, *network, "gensim"),
            weighs_first_stage=Calculator.weigh_first_stage(self.options.features),
            learns_on_device=bool(self.options.stack),  # every member holds all rerankers of it
        )

    def reads(self) -> Reads:
        names, settings = self._groups_and_settings()
        if not names:
            raise InputError("'features' names no group (`platform features list`).")
        return Reads(systems=NamedSystem.several("feature group", names, settings))

    def prepare(self, resources: Resources) -> None:
        self._resources = resources
        self._groups = []

    def fit(self, data: TrainingData) -> None:

        from irplatform_ltr.learners import Table
        from irplatform_ltr.pools import pools_of_system

        names, settings = self._groups_and_settings()
        topics = [labelled.topic for labelled in (*data.training, *data.validation)]
        groups = Calculator(self._resources).open(names, settings, topics)
        if not groups:
            raise InputError("no group of features applies to these topics.")
        pools = pools_of_system(data.training, self.options.pool)
        if not pools:
            raise InputError(
                "no training topic has both relevant documents and others among its candidates."
            )
        columns: list[list[Float32]] = []
        self._groups = []
        for group in groups:
            for usable in self._learned(group, data):
                columns.append(self._of_pools(usable, pools, data))
                self._groups.append(usable)
        features = np.hstack([np.concatenate(column) for column in columns])
        table = Table(
            np.ascontiguousarray(features, dtype=np.float32),
            np.concatenate([pool.grades for pool in pools]),
            np.cumsum([0, *(len(pool.doc_ids) for pool in pools)], dtype=np.int64),
        )
        self._learners = self._views()
        self._learners.fit(table, self._resources.seed)

    def _learned(self, group: Any, data: TrainingData) -> list[Any]:
        """Return a group out of fold where it learns; twice where it may see its own judgments."""
        if not group.learns:
            return [group]
        folds, calculator = (self.options.folds, self.options.apart), Calculator(self._resources)
        blind = calculator.out_of_fold(group, data, *folds)
        if self.options.hide_judged or group.remembers:
            return [blind]
        seeing = calculator.out_of_fold(group, data, *folds, hide_judged=False)
        return [blind, replace(seeing, remembers=True, variant="seeing")]

    def _views(self) -> Views:
        from irplatform_ltr.ensemble import Views

        remembers = [group.remembers for group in self._groups for _ in group.columns]
        return Views(self.options, np.array(remembers, dtype=np.bool_), self._resources.threads)

    def _groups_and_settings(self) -> tuple[list[str], dict[str, dict[str, Any]]]:
        names, settings = list(self.options.features), dict(self.options.settings)
        if self.options.stack:
            if "stack" not in names:
                names.append("stack")
            settings["stack"] = {**settings.get("stack", {}), "rerankers": self.options.stack}
        return names, settings

    def _of_pools(self, group: Any, pools: Sequence[Pool], data: TrainingData) -> list[Float32]:
        """Features of pools; those of validation topics go to the cache, for other members."""
        from irplatform_ltr.pools import pools_of_system

        all_pools = [*pools, *pools_of_system(data.validation, self.options.pool)]
        order = sorted(range(len(all_pools)), key=lambda n: all_pools[n].labelled.topic.id)
        matrices = Calculator(self._resources).compute_all(
            group, [(all_pools[n].labelled.topic, all_pools[n].doc_ids) for n in order]
        )
        # By place: another collection's validation topics may have the training topics' ids.
        by_place = dict(zip(order, matrices, strict=True))
        return [by_place[n] for n in range(len(pools))]

    def save(self, folder: Path) -> None:

        self._learners.save(folder)
        Calculator.save(self._groups, folder / _FILE)

    def load(self, folder: Path) -> None:

        self._groups = Calculator(self._resources).load(folder / _FILE)
        self._learners = self._views()
        self._learners.load(folder)

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        return [self._learners.score(values).tolist() for values in self.features(batch)]

    def rescore(
        self, topic: Topic, documents: Documents, scores: Sequence[float]
    ) -> Sequence[float]:
        del topic
        if not self.options.neighbours.share:
            return scores
        from irplatform_ltr.pools import smoothed

        index = self._resources.forward_index()
        near = smoothed(index, documents.ids, np.array(scores), self.options.neighbours)
        return [float(score) for score in near]

    def explain(self, topic: Topic, documents: Documents) -> Sequence[Mapping[str, object]]:

        (values,) = self.features([(topic, documents)])
        adds = self._learners.contributions(values)
        groups = [group.columns for group in self._groups]
        return [
            {
                "score": score,
                "constant": float(parts[-1]),
                **Calculator.contributions(groups, row, parts[:-1]),
            }
            for score, row, parts in zip(
                self._learners.score(values).tolist(), values, adds, strict=True
            )
        ]

    def features(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Float32]:

        calculator = Calculator(self._resources)
        # For topics that are in no fold, both variants of a group are the same.
        distinct = {group.mark: group for group in self._groups}
        matrices = {
            mark: calculator.compute(group, list(batch)) for mark, group in distinct.items()
        }
        columns = [matrices[group.mark] for group in self._groups]
        return [np.hstack(values) for values in zip(*columns, strict=True)]

    @property
    def feature_names(self) -> list[str]:
        return [name for group in self._groups for name in group.columns]
