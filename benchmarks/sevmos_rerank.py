"""SevMos: milliseconds to rerank 500 documents with stored document vectors, and without.

Topics and judged documents of TREC Precision Medicine 2017; untrained weights and random vectors,
which cost what trained ones cost. Ours is `sevmos-c3` with the paper's 256 filters, served from
stored document vectors: from document ids to a list of scores, the 18 lexical features included.
The peer is the same model that computes the documents' vectors for every topic; the detail has both
shapes with the default's 64 filters, too. All must score alike to 1e-4. The figures are the
processor time of one thread, which is what it takes on an idle machine; the detail has the time
that passed, too.
"""

from __future__ import annotations

import os
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from _common import parser, report, require
from delta_rerank import RandomVectors, candidates
from irplatform.collections.names import open_path
from irplatform_delta.options import SevMosOptions
from irplatform_delta.reranker import SevMos

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.plugin import Documents, Resources, Topic

TOLERANCE = 1e-4
MODELS: dict[str, dict[str, object]] = {
    "c3": {"layers": 3, "width": 3},
    "c1": {"layers": 1, "width": 5},
    "c3, 256 filters": {"layers": 3, "width": 3, "filters": 256},
}
SIDES: dict[str, dict[str, object]] = {"stored": {}, "unstored": {"stored_documents": 0}}


def build(resources: Resources, model: dict[str, object]) -> dict[str, SevMos]:
    """The sides with the same weights; what is stored is computed here."""
    sides = {}
    with tempfile.TemporaryDirectory() as scratch:
        for name, changes in SIDES.items():
            side = sides[name] = SevMos(SevMosOptions.model_validate({**model, **changes}))
            side.prepare(resources)
            if name == "stored":
                side.save(Path(scratch))
            side.load(Path(scratch))
    return sides


def measure(
    sides: dict[str, SevMos], pools: Sequence[tuple[Topic, Documents]], rounds: int
) -> dict[str, Any]:
    """Milliseconds of each side over all topics, in turns; their scores must agree."""
    wall_times: dict[str, list[float]] = {name: [] for name in sides}
    processor_times: dict[str, list[float]] = {name: [] for name in sides}
    difference = 0.0
    for topic, documents in pools:
        scores = {name: np.array(side.score(topic, documents)) for name, side in sides.items()}
        for _ in range(rounds):
            for name, side in sides.items():
                started, begun = time.perf_counter(), time.thread_time()
                side.score(topic, documents)
                processor_times[name].append((time.thread_time() - begun) * 1000)
                wall_times[name].append((time.perf_counter() - started) * 1000)
        for side_scores in scores.values():
            difference = max(difference, float(abs(side_scores - scores["stored"]).max()))
    if difference > TOLERANCE:
        raise SystemExit(f"the sides disagree: scores differ by up to {difference:.2g}")
    return {
        "processor": {name: round(median(values), 2) for name, values in processor_times.items()},
        "median": {name: round(median(values), 2) for name, values in wall_times.items()},
        "quickest": {name: round(min(values), 2) for name, values in wall_times.items()},
        "largest_difference": difference,
    }


def main() -> None:
    command_line = parser(__doc__.splitlines()[0])
    command_line.add_argument("--topics", type=int, default=5)
    command_line.add_argument("--documents", type=int, default=500, help="documents of a topic")
    arguments = command_line.parse_args()
    torch.backends.cudnn.allow_tf32 = False  # or a GPU rounds to three digits
    torch.set_num_threads(1)

    collection = open_path(require(arguments.data / "trec-pm" / "2017.toml"))
    pools = candidates(collection, arguments.topics, arguments.documents)
    milliseconds = {}
    for device in ("cpu", "cuda") if torch.cuda.is_available() else ("cpu",):
        resources = RandomVectors(collection.corpus, device, seed=1, threads=1)
        for name, model in MODELS.items():
            measured = measure(build(resources, model), pools, arguments.rounds)
            milliseconds[f"{name}, {device}"] = measured
    medians = milliseconds["c3, 256 filters, cpu"]["processor"]
    report(
        "sevmos_rerank",
        medians["stored"],
        medians["unstored"],
        f"ms of one thread's processor time per {arguments.documents} documents",
        higher_is_better=False,
        topics=len(pools),
        rounds=arguments.rounds,
        threads=1,
        load=round(os.getloadavg()[0], 1),
        milliseconds=milliseconds,
    )


if __name__ == "__main__":
    main()
