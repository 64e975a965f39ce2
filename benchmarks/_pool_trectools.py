"""Pools as trectools makes them, for `pooling`: needs trectools, and not the platform.

Reads budgets and runs to leave out as JSON from stdin. Prints budget to strategy to the run that is
left out ("" for none) to topic to documents. rbp and rrf take equally many documents of each topic,
topX is as deep as brings its pool nearest to the budget.
"""

import json
import sys
from pathlib import Path

from trectools import TrecPoolMaker, TrecRun

Documents = dict[str, list[str]]


def main() -> None:
    """Print the pools of a folder of runs."""
    request = json.load(sys.stdin)
    runs = {path.stem: TrecRun(str(path)) for path in sorted(Path(sys.argv[1]).glob("*.run"))}
    topics = len({topic for run in runs.values() for topic in run.topics()})
    pools: dict[str, dict[str, dict[str, Documents]]] = {}
    for budget in request["budgets"]:
        depths = {strategy: max(1, round(budget / topics)) for strategy in ("rbp", "rrf")}
        depths["topX"] = nearest_depth(runs, budget)
        pools[budget] = {
            strategy: {
                out: pool([run for name, run in runs.items() if name != out], strategy, depth)
                for out in ["", *request["left_out"]]
            }
            for strategy, depth in depths.items()
        }
    print(json.dumps(pools))


def nearest_depth(runs: dict[str, TrecRun], budget: int) -> int:
    """The depth whose pool has about as many documents as the budget."""
    sizes: list[int] = []
    while not sizes or sizes[-1] < budget:
        documents = pool([*runs.values()], "topX", len(sizes) + 1)
        sizes.append(sum(map(len, documents.values())))
        if sizes[-2:-1] == sizes[-1:]:
            break
    return min(range(1, len(sizes) + 1), key=lambda depth: abs(sizes[depth - 1] - budget))


def pool(runs: list[TrecRun], strategy: str, depth: int) -> Documents:
    """The documents of a pool by topic."""
    by_topic = TrecPoolMaker().make_pool(runs, strategy=strategy, topX=depth).pool
    return {str(topic): sorted(map(str, documents)) for topic, documents in by_topic.items()}


if __name__ == "__main__":
    main()
