"""Three small runs to pool, and what a person says of their documents."""

import numpy as np

import irplatform as ir

TRUTH = {t: {f"d{n:02}": int(n % 4 == 0) for n in range(60)} for t in "123"}


def write_runs(folder):
    """Three run files of three topics."""
    random = np.random.default_rng(1)
    paths = []
    for name in ("a", "b", "c"):
        rankings = {
            t: ir.Ranking.of([f"d{n:02}" for n in random.permutation(60)[:40]], range(40, 0, -1))
            for t in "123"
        }
        paths.append(folder / f"{name}.run")
        ir.write_run(ir.Run(name, rankings), paths[-1])
    return paths


def judged(pool):
    """The grades of all documents that have a place."""
    return {t: {i.document: TRUTH[t][i.document] for i in pool.items(t)} for t in pool.topics}


def qrels(folder, grades):
    """A file of judgments."""
    rows = (f"{t} 0 {d} {g}\n" for t, judgments in grades.items() for d, g in judgments.items())
    (folder / "judged.txt").write_text("".join(rows))
    return folder / "judged.txt"
