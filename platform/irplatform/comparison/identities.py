"""Systems that have no ranking of their own: a first stage's, or another system's, under a name.

They have means, but no verdict and no rank: these are of the run whose ranking it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from irplatform.comparison.results import Pair
from irplatform.comparison.tests import first_alike, paired_test
from irplatform.errors import enumeration
from irplatform.run_folder.mixture import Mixture, folds_told, no_weight_told, weights_told

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from irplatform.comparison.results import System
    from irplatform.evaluation.scoring import Evaluation
    from irplatform.runs.run import Run


def rankings_of_others(
    runs: Mapping[str, Run],
    evaluations: Mapping[str, Evaluation],
    mixtures: Mapping[str, Mixture],
    baselines: Collection[str] = (),
) -> tuple[dict[str, str], list[str]]:
    """Return the systems without a ranking of their own, with the name of the run that has it.

    A reranker without weight has its first stage's, which need not be among the systems. Of other
    systems with the same ranking, one keeps it: a baseline, or else the first.

    Args:
        runs: name to run; one without rankings, a mean over seeds, is known by its mixture alone.
        evaluations: the systems' scores.
        mixtures: what the systems are made of, as far as known.
        baselines: systems that others are compared with.

    Returns:
        System to name, and notes about metadata that rankings contradict.
    """
    compositions = {name: mixtures.get(name, Mixture()) for name in runs}
    alike = first_alike({name: evaluations[name] for name in runs})
    keepers: list[str] = []
    kept_by: dict[str, str] = {}
    for name in sorted(runs, key=lambda n: (compositions[n].has_no_weight, n not in baselines)):
        twins = (k for k in keepers if alike[k] == alike[name] and _same(runs[k], runs[name]))
        kept_by[name] = next(twins, name)
        if kept_by[name] == name:
            keepers.append(name)
    others: dict[str, str] = {}
    notes = []
    for name, mixture in compositions.items():
        keeper, first = kept_by[name], mixture.first_stage
        if not mixture.has_no_weight:
            if keeper != name:
                others[name] = keeper
        elif first not in runs:
            others[name] = first if compositions[keeper].has_no_weight else keeper
        elif not runs[first].rankings or _same(runs[first], runs[name]):
            others[name] = first
        else:
            notes.append(
                f"{name}: its metadata say that it was given no weight, but its ranking is not "
                f"{first}'s. Was a file changed?"
            )
    return others, notes


def _same(one: Run, other: Run) -> bool:
    """Whether two runs rank the same documents in the same order, for all topics."""
    rankings = [{t: r.doc_ids for t, r in run.rankings.items() if len(r)} for run in (one, other)]
    return bool(rankings[0]) and rankings[0] == rankings[1]


def untested(names: tuple[str, str], systems: Sequence[System]) -> Iterator[Pair]:
    """Yield a pair of which a system has another's ranking: differences without a verdict."""
    pair = [next(system for system in systems if system.name == name) for name in names]
    text = " ".join(others_told(pair[::-1]))
    for measure in pair[0].scores:
        values = [system.scores[measure].per_topic for system in pair]
        difference = replace(
            paired_test(values[0], values[1]), p_value=None, low=None, high=None, effect_size=None
        )
        yield Pair(*names, measure, difference, verdict="none", sentence=text)


def others_told(systems: Sequence[System]) -> list[str]:
    """Return sentences on systems without a ranking of their own."""
    others = [system for system in systems if system.ranking_of]
    sentences = no_weight_told({s.name: s.ranking_of for s in others if s.mixture.has_no_weight})
    groups: dict[str, list[str]] = {}
    for system in others:
        if not system.mixture.has_no_weight:
            groups.setdefault(system.ranking_of, []).append(system.name)
    for keeper, names in groups.items():
        have = "has" if len(names) == 1 else "have"
        sentences.append(f"{enumeration(names)} {have} the same ranking as {keeper}.")
    return sentences


def identities_told(systems: Sequence[System]) -> list[str]:
    """Return sentences on what systems are made of, and on those without a ranking of their own."""
    mixtures = {system.name: system.mixture for system in systems}
    return [*others_told(systems), *folds_told(mixtures), *weights_told(mixtures)]
