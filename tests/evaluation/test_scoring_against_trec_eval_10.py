"""Figures of files are those of trec_eval 10.0: near ties, comments, text after the run tag.

`trec_eval_10.json` has what the program prints, built from its tag v10.0, for pairs of a run and
judgments that `pair` makes of a number. Where TREC_EVAL names the program it is asked again;
`TREC_EVAL=… python tests/evaluation/test_scoring_against_trec_eval_10.py` writes the file anew.
"""

import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from irplatform.evaluation.qrels import read_qrels
from irplatform.evaluation.scoring import evaluate
from irplatform.runs import read_run

PRINTED = Path(__file__).with_name("trec_eval_10.json")
PAIRS = range(25)
IPREC = "iprec_at_recall.0.1,0.3,0.5"
NAMES = {
    "AP": ("map", "map"),
    "P@5": ("P.5", "P_5"),
    "R@5": ("recall.5", "recall_5"),
    "Rprec": ("Rprec", "Rprec"),
    "RR": ("recip_rank", "recip_rank"),
    "Bpref": ("bpref", "bpref"),
    "infAP": ("infAP", "infAP"),
    "nDCG": ("ndcg", "ndcg"),
    "nDCG@5": ("ndcg_cut.5", "ndcg_cut_5"),
    "Success@1": ("success.1", "success_1"),
    "IPrec@0.1": (IPREC, "iprec_at_recall_0.10"),
    "IPrec@0.3": (IPREC, "iprec_at_recall_0.30"),
    "IPrec@0.5": (IPREC, "iprec_at_recall_0.50"),
    "SetP": ("set_P", "set_P"),
    "SetR": ("set_recall", "set_recall"),
    "SetF": ("set_F", "set_F"),
    "NumRet(rel=1)": ("num_rel_ret", "num_rel_ret"),
}
"""Of each measure, what it is asked for as, and what it is printed as."""


def pair(seed, folder):
    """A run and judgments; `random()` gives the same numbers in every version of Python."""
    draw = random.Random(seed).random
    documents = [f"d#{number}" for number in range(16)]
    qrels, run = [], []
    for topic in ("7", "12", "é", "none"):
        qrels += [f"{topic} 0 {documents[0]} 0\n"]
        qrels += [
            f"{topic} 0 {d} {(-1, 0, 0, 1, 2)[int(draw() * 5)]}\n"
            for d in documents[1:]
            if draw() < 0.8
        ]
        if topic == "none":
            continue
        for rank, document in enumerate(documents, start=1):
            score = 0.9 + int(draw() * 6) * 1e-8  # 32 bits have 0.89999998 and 0.90000004
            text = (" t", " t and more text", " t 1")[int(draw() * 3)]
            if draw() < 0.9:
                run.append(f"{topic} Q0 {document} {rank} {score:.8f}{text}\n")
    qrels.insert(0, "# four of many words\n")
    qrels.insert(9, "# 7 0 d#1 2\n")
    run.insert(0, "# six of many words, say we\n")
    run.insert(5, "#7 Q0 d#0 1 9.9 t\n")
    paths = folder / "a.run", folder / "a.qrels"
    for path, lines in zip(paths, (run, qrels), strict=True):
        path.write_text("".join(lines), encoding="utf-8")
    return paths


def figures_of(program, run, qrels):
    """What trec_eval prints for a pair, by the names here."""
    asked_as = dict.fromkeys(option for option, _ in NAMES.values())
    options = [part for option in asked_as for part in ("-m", option)]
    lines = subprocess.check_output([program, "-c", *options, qrels, run], text=True).splitlines()
    printed = {measure.strip(): value for measure, _, value in (ln.split("\t") for ln in lines)}
    return {name: printed[label] for name, (_, label) in NAMES.items()}


@pytest.mark.parametrize("seed", PAIRS)
def test_files_get_the_figures_that_trec_eval_10_prints(tmp_path, seed):
    run, qrels = pair(seed, tmp_path)
    means = evaluate(read_qrels(qrels), read_run(run), list(NAMES)).aggregate
    texts = {n: f"{v:.0f}" if n.startswith("Num") else f"{v:.4f}" for n, v in means.items()}
    assert texts == json.loads(PRINTED.read_text())[seed]
    if program := os.environ.get("TREC_EVAL"):
        assert texts == figures_of(program, run, qrels)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        figures = [figures_of(os.environ["TREC_EVAL"], *pair(seed, Path(folder))) for seed in PAIRS]
    lines = ",\n".join(json.dumps(row) for row in figures)
    PRINTED.write_text(f"[\n{lines}\n]\n")
    sys.stdout.write(f"{PRINTED}: {len(figures)} pairs\n")
