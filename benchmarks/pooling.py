"""Which order of ten systems do judgments give that are chosen within a budget?

The judgments of TREC Precision Medicine 2017 are hidden, and those of pooled documents revealed.
Compared with all judgments: Kendall's tau and tau_ap of the order of the systems by nDCG@20, and
the mean error of nDCG@20, unjudged documents counting as not relevant. Of stratified samples, also
infNDCG, whose error is against the same pool judged whole. Each system is once left out of the
pool: how much worse is it scored then, and by how many ranks does it move? `ours` is the tau of
`worth` at the middle budget, `peer` the best of trectools' three pools of about that size. Nothing
is tuned on these topics.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections import defaultdict
from math import isnan
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from _common import parser, report, require
from irplatform import RunSettings, collection, next_batch, pool_runs, read_run, run, write_run
from irplatform.evaluation.agreement.rank_correlation import kendall_taus, tau_aps
from irplatform.evaluation.sampled import NOT_JUDGED
from irplatform.evaluation.sampled import Pool as Sampled
from irplatform.evaluation.scoring import evaluate
from irplatform.judging.pool_folder import read_pool
from irplatform.judging.pool_settings import ADAPTIVE, METHODS, STRATIFIED
from irplatform.runs import Run
from irplatform.runs.fuse import fuse
from irplatform.runs.fusion import fusion_method

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.data import Qrels
    from irplatform.judging.pool_folder import Pool

MEASURE, INFERRED = "nDCG@20", "infNDCG"
RETRIEVERS: Mapping[str, tuple[str, Mapping[str, object]]] = {
    "bm25": ("bm25", {}),
    "bm25 k1=2 b=0.2": ("bm25", {"bm25.k1": 2.0, "bm25.b": 0.2}),
    "qld": ("qld", {}),
    "qld mu=100": ("qld", {"qld.mu": 100.0}),
    "rm3": ("rm3", {}),
}
RERANKERS = ("bm25-title", "dlh13")
FUSED = ("bm25", "qld", "rm3")
Scores = dict[str, float]


def main() -> None:
    """Measure, and print the line of JSON."""
    command_line = parser(__doc__ or "")
    command_line.add_argument("--budgets", type=int, nargs="+", default=[100, 300, 1000])
    command_line.add_argument("--seeds", type=int, default=3, help="seeds 1 to this")
    command_line.add_argument("--left-out", type=int, help="systems to leave out; default: all")
    command_line.add_argument("--systems", type=Path, help="a folder to keep the runs in")
    command_line.add_argument("--trectools", type=Path, help="a Python with trectools")
    arguments = command_line.parse_args()
    folder = require(arguments.data / "trec-pm")
    truth = collection(str(folder / "2017.toml")).load_qrels()
    with tempfile.TemporaryDirectory() as scratch:
        place = arguments.systems or Path(scratch, "systems")
        systems = made_systems(folder, place, truth)
        study = Study(systems, truth, Path(scratch), [*systems][: arguments.left_out])
        table = study.table(arguments.budgets, range(1, arguments.seeds + 1), arguments.trectools)
    middle = str(arguments.budgets[len(arguments.budgets) // 2])
    peers = [row["tau"] for name, row in table[middle].items() if name.startswith("trectools")]
    detail = {"topics": len(truth), "systems": study.true, "budgets": table}
    best = max(peers, default=None)
    tau = table[middle]["worth"]["tau"]
    report("pooling", tau, best, "tau", higher_is_better=True, **detail)


def made_systems(folder: Path, place: Path, truth: Qrels) -> dict[str, Run]:
    """The runs of ten systems over the judged topics: made here, fused, and two of the track's."""
    data = str(folder / "2017.toml")
    systems: dict[str, Run] = {}
    for number, (name, (retriever, settings)) in enumerate(RETRIEVERS.items()):
        run_folder = place / str(number)
        run(RunSettings(data, first_stages=(retriever,), settings=settings, run_dir=run_folder))
        systems[name] = read_run(run_folder / f"{retriever}.run")
    run(RunSettings(data, rerankers=RERANKERS, interpolate=0.0, run_dir=place / "reranked"))
    systems |= {name: read_run(place / "reranked" / f"{name}.run") for name in RERANKERS}
    systems["fused"] = fuse([systems[name] for name in FUSED], fusion_method("ranks"), depth=1000)
    official = sorted((folder / "runs").glob("*.gz")) if (folder / "runs").exists() else []
    systems |= {path.name.partition(".")[0]: read_run(path) for path in official}
    judged = {
        name: {t: ranking for t, ranking in system.rankings.items() if t in truth}
        for name, system in systems.items()
    }
    return {name: Run(f"s{n}", rankings) for n, (name, rankings) in enumerate(judged.items())}


class Study:
    """Systems whose judgments are hidden.

    Attributes:
        true: the systems' scores by all judgments.
    """

    def __init__(
        self, systems: Mapping[str, Run], truth: Qrels, scratch: Path, left_out: Sequence[str]
    ) -> None:
        self._systems, self._truth, self._scratch = systems, truth, scratch
        self._left_out = left_out
        self._numbers = iter(range(1 << 30))
        self.true = self._scores(truth)

    def table(
        self, budgets: Sequence[int], seeds: Iterable[int], trectools: Path | None
    ) -> dict[str, dict[str, dict[str, Any]]]:
        """Budget to method to its figures, means over the seeds, and tau of each."""
        seeds = [*seeds]
        table: dict[str, dict[str, dict[str, Any]]] = {}
        for budget in budgets:
            rows = table[str(budget)] = {}
            for method in METHODS:
                rows[method] = _mean([self._of_method(method, budget, seed) for seed in seeds])
                print(budget, method, json.dumps(rows[method]), file=sys.stderr)
        if trectools:
            for budget, name, row in self._of_trectools(trectools, budgets):
                table[str(budget)][f"trectools {name}"] = row
                print(budget, name, json.dumps(row), file=sys.stderr)
        return table

    def _of_method(self, method: str, budget: int, seed: int) -> dict[str, float]:
        def pooled(names: Iterable[str]) -> Pool:
            folder = self._scratch / str(next(self._numbers))
            runs = {name: self._systems[name] for name in names}
            pool_runs(runs, folder, method=method, budget=budget, seed=seed)
            while method in ADAPTIVE and next_batch(folder, self._revealed(read_pool(folder))):
                pass
            return read_pool(folder)

        pool = pooled(self._systems)
        scores = self._scores(self._revealed(pool))
        without = {name: pooled(self._others(name)) for name in self._left_out}
        alone = {name: self._scores(self._revealed(other)) for name, other in without.items()}
        figures = {"documents": float(pool.placed), **self._figures(scores, alone)}
        if method == STRATIFIED:
            inferred, full_scores = (
                self._inferred(pool, all_grades=all_grades) for all_grades in (False, True)
            )
            alone = {
                name: self._inferred(other, all_grades=False) for name, other in without.items()
            }
            figures |= {
                f"{INFERRED} {key}": value
                for key, value in self._figures(inferred, alone, errors_to=full_scores).items()
            }
        return figures

    def _others(self, left_out: str) -> list[str]:
        return [name for name in self._systems if name != left_out]

    def _revealed(self, pool: Pool) -> dict[str, dict[str, int]]:
        return self._grades({t: [i.document for i in pool.items(t)] for t in pool.topics})

    def _grades(self, documents: Mapping[str, Iterable[str]]) -> dict[str, dict[str, int]]:
        """The grades of documents: 0 of those that the track did not judge."""
        return {
            topic: {d: int(self._truth[topic].get(d, 0)) for d in documents.get(topic, ())}
            for topic in self._truth
        }

    def _scores(self, judged: Mapping[str, Mapping[str, float]]) -> Scores:
        qrels = {topic: {"none": 0, **grades} for topic, grades in judged.items()}
        return {
            name: evaluate(qrels, system.top(20), [MEASURE]).aggregate[MEASURE]
            for name, system in self._systems.items()
        }

    def _inferred(self, pool: Pool, *, all_grades: bool) -> Scores:
        import numpy as np

        sampled = {}
        for topic in pool.topics:
            items = pool.pooled(topic)
            grades = self._grades({topic: [item.document for item in items]})[topic]
            sampled[topic] = Sampled(
                {item.document: row for row, item in enumerate(items)},
                np.array([item.stratum - 1 for item in items]),
                np.array(
                    [
                        grades[item.document] if item.place or all_grades else NOT_JUDGED
                        for item in items
                    ]
                ),
            )
        return {
            name: evaluate({}, system, [INFERRED], sampled=sampled).aggregate[INFERRED]
            for name, system in self._systems.items()
        }

    def _figures(
        self, scores: Scores, alone: Mapping[str, Scores], errors_to: Scores | None = None
    ) -> dict[str, float]:
        """Correlations with the truth, the mean error, and what being left out changes."""
        expected = errors_to or self.true
        figures = {
            "tau": _tau(self.true, scores),
            "tau_ap": float(tau_aps(*_rows(self.true, scores))[0]),
            "error": fmean(abs(scores[name] - expected[name]) for name in scores),
        }
        if alone:
            changes = [alone[name][name] - scores[name] for name in alone]
            ranks = [_rank(alone[name], name) - _rank(scores, name) for name in alone]
            figures["left out: change"] = fmean(changes)
            figures["left out: largest change"] = max(changes, key=abs)
            figures["left out: ranks"] = fmean(map(abs, ranks))
        return figures

    def _of_trectools(
        self, python: Path, budgets: Sequence[int]
    ) -> Iterable[tuple[int, str, dict[str, Any]]]:
        """Budget, strategy and figures of trectools' pools of the size nearest to the budget."""
        folder = self._scratch / "written"
        folder.mkdir()
        for system in self._systems.values():
            write_run(system, folder / f"{system.name}.run")
        names = {system.name: name for name, system in self._systems.items()}
        left_out = [self._systems[name].name for name in self._left_out]
        process = subprocess.run(
            [python, Path(__file__).with_name("_pool_trectools.py"), folder],
            input=json.dumps({"budgets": budgets, "left_out": left_out}),
            capture_output=True,
            text=True,
            check=True,
        )
        for budget, by_strategy in json.loads(process.stdout.splitlines()[-1]).items():
            for strategy, pools in by_strategy.items():
                scores = {
                    out: self._scores(self._grades(documents)) for out, documents in pools.items()
                }
                full_scores = scores.pop("")
                alone = {names[out]: values for out, values in scores.items()}
                figures = self._figures(full_scores, alone)
                row = {"documents": sum(map(len, pools[""].values())), **figures}
                yield int(budget), strategy, {key: _rounded(value) for key, value in row.items()}


def _tau(first: Scores, second: Scores) -> float:
    return float(kendall_taus(*_rows(first, second, 12))[0])


def _rows(first: Scores, second: Scores, digits: int | None = None) -> list[Any]:
    import numpy as np

    rows = [np.array([[scores[name] for name in first]]) for scores in (first, second)]
    return rows if digits is None else [row.round(digits) for row in rows]


def _rank(scores: Scores, name: str) -> int:
    return 1 + sum(value > scores[name] for value in scores.values())


def _mean(rows: Sequence[Mapping[str, float]]) -> dict[str, Any]:
    columns = defaultdict(list)
    for row in rows:
        for key, value in row.items():
            columns[key].append(value)
    means: dict[str, Any] = {key: _rounded(fmean(values)) for key, values in columns.items()}
    return means | {"tau of each seed": [*map(_rounded, columns["tau"])]}


def _rounded(value: float) -> float | None:
    return None if isnan(value) else round(value, 4)


if __name__ == "__main__":
    main()
