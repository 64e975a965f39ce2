"""What each part of an expanded query brings on TREC Precision Medicine, added and taken away.

Each year is searched with the plan that was chosen on the other one. `ours` is the mean nDCG@20 of
2017, of 30 topics, `peer` that of plain BM25; the detail has nDCG@20, P@10 and recall at 500 of
both years for every line of the table in docs/archive/development-log.md. Needs the six knowledge
bases below.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from _common import leave_out, parser, report, require
from irplatform import RunSettings, run
from irplatform.expansion.plan import read_plan
from irplatform.knowledge import installed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

KNOWLEDGE = ("mesh", "doid", "hgnc", "civic", "dgidb", "drugs")
MEASURES = ("nDCG@20", "P@10", "R@500")
PARTS: Mapping[str, tuple[str, ...]] = {
    "variants and alterations": ("gene.variant", "gene.alteration", "gene.altered", "gene.mutated"),
    "synonyms and aliases": ("synonyms.synonym", "synonyms.alias", "gene.phrase"),
    "kinds of the disease": ("synonyms.narrow",),
    "titles": ("disease.title", "gene.title", "gene.words_title"),
    "headings of the disease": ("disease.heading",),
    "disease and gene together": ("near.both", "near.weight"),
    "words of the context": (
        "context.treatment_weight",
        "context.treatment_title",
        "context.prognosis_weight",
        "context.prognosis_title",
        "context.people_weight",
    ),
    "headings of the context": ("context.headings_weight", "context.humans"),
    "drugs": ("context.drugs",),
}
"""Weights that are 0 without a part."""
CHOSEN_ON_2017 = Path(__file__).with_name("query-plans") / "chosen-on-2017.toml"


def main() -> None:
    """Measure, and print the line of JSON."""
    command_line = parser(__doc__ or "")
    command_line.add_argument("--parts", nargs="*", choices=PARTS, default=list(PARTS))
    arguments = command_line.parse_args()
    folder = require(arguments.data / "trec-pm")
    if missing := [name for name in KNOWLEDGE if name not in installed()]:
        leave_out(f"knowledge bases are missing: {', '.join(missing)} (see platform kb list)")
    plans = {"2017": {}, "2018": _weights(read_plan(CHOSEN_ON_2017))}
    detail = {
        year: _table(folder / f"{year}.toml", plan, arguments.parts) for year, plan in plans.items()
    }
    value, peer = (detail["2017"][line]["nDCG@20"] for line in ("all", "plain BM25"))
    report("query_parts", value, peer, "nDCG@20", higher_is_better=True, **detail)


def _table(
    collection: Path, plan: Mapping[str, object], names: Sequence[str]
) -> dict[str, dict[str, float]]:
    """The scores of each line; the parts are added and left out by name."""
    lines = {
        "plain BM25": {},
        "disease and gene parsed": _expanded(plan, names),
        **{f"+ {name}": _expanded(plan, names[n:]) for n, name in enumerate(names, 1)},
        **{f"all without {name}": _expanded(plan, [name]) for name in names},
        "all": _expanded(plan, []),
    }
    scores = {}
    for line, settings in lines.items():
        scores[line] = _scores(collection, settings)
        print(collection.stem, line, scores[line], file=sys.stderr)
    return scores


def _expanded(plan: Mapping[str, object], without: Sequence[str]) -> dict[str, object]:
    """Settings of a plan, some of its parts left out."""
    left_out = {f"bm25.plan.{weight}": 0 for part in without for weight in PARTS[part]}
    return {"bm25.expand": list(KNOWLEDGE), **plan, **left_out}


def _scores(collection: Path, settings: Mapping[str, object]) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        run_settings = RunSettings(
            str(collection), measures=MEASURES, settings=settings, run_dir=Path(folder)
        )
        scores = run(run_settings).systems[-1].measures
    return {measure: round(scores[measure], 4) for measure in MEASURES}


def _weights(plan: Mapping[str, object], prefix: str = "bm25.plan.") -> dict[str, object]:
    """A plan as settings, without the folds of the topics that it was chosen on."""
    flat: dict[str, object] = {}
    for name, value in plan.items():
        if isinstance(value, dict):
            flat |= _weights(value, f"{prefix}{name}.")
        elif name != "folds":
            flat[prefix + name] = value
    return flat


if __name__ == "__main__":
    main()
