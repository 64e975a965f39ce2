"""The table of `platform agree`: scores and ranks of systems per source, then correlations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from irplatform.evaluation.agreement.of_systems import comparable_means
from irplatform.reports.columns import aligned
from irplatform.reports.table import figure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from irplatform.evaluation.agreement.of_systems import Agreement, Correlation, Source


_SMALLEST = 0.001


def render(agreed: Agreement) -> str:
    """Render an agreement as plain text."""
    names = [source.name.removesuffix(f" {source.measure}") for source in agreed.sources]
    scores = [["system", *names]]
    scores.append(["", *(source.measure for source in agreed.sources)])
    ranks = [_ranks(source, agreed.systems) for source in agreed.sources]
    for system in agreed.systems:
        cells = [
            f"{figure(source.measure, source.means[system])} ({rank[system]})"
            for source, rank in zip(agreed.sources, ranks, strict=True)
        ]
        scores.append([system, *cells])
    taus = [["sources", "tau-b", "95 % interval", "p"]]
    taus += [_row(correlation) for correlation in agreed.correlations]
    note = (
        f"Kendall's tau-b over {len(agreed.systems)} systems; intervals over topics, from "
        f"{agreed.samples:,} draws; p: chance of a correlation as strong between independent orders"
    )
    return "\n".join([*aligned(scores, head=2), "", *aligned(taus), note])


def as_json(agreed: Agreement) -> dict[str, Any]:
    """Return the JSON object of `platform agree`."""
    return {
        "systems": list(agreed.systems),
        "sources": [
            {
                "name": source.name,
                "collection": source.collection,
                "measure": source.measure,
                "topics": len({t for name in agreed.systems for t in source.per_topic[name]}),
                "scores": {name: source.means[name] for name in agreed.systems},
                "ranks": _ranks(source, agreed.systems),
            }
            for source in agreed.sources
        ],
        "correlations": [
            {
                "sources": [c.first, c.second],
                "tau_b": c.tau,
                "low": c.low,
                "high": c.high,
                "p_value": c.p_value,
            }
            for c in agreed.correlations
        ],
        "samples": agreed.samples,
        "seed": agreed.seed,
    }


def _ranks(source: Source, systems: Sequence[str]) -> dict[str, int]:
    """Ranks from 1; systems with equal scores share the best of their ranks."""
    means = comparable_means(source, systems).tolist()
    return {
        name: 1 + sum(other > mean for other in means)
        for name, mean in zip(systems, means, strict=True)
    }


def _row(correlation: Correlation) -> list[str]:
    pair = f"{correlation.first} × {correlation.second}"
    if correlation.tau is None or correlation.low is None or correlation.high is None:
        return [pair, "-", "one gives all systems the same score", "-"]
    interval = f"[{correlation.low:.2f}, {correlation.high:.2f}]"
    p_value = correlation.p_value or 0.0
    chance = f"{p_value:.3f}" if p_value >= _SMALLEST else f"<{_SMALLEST}"
    return [pair, f"{correlation.tau:.2f}", interval, chance]
