"""Plain words for a pair of systems: what the data support, and what not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.comparison.results import verdict_of
from irplatform.errors import counted, enumeration

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.comparison.ranking import Rank
    from irplatform.comparison.results import Comparison, Pair

_SMALLEST = 0.0001
"""Smaller p-values are named as below this."""
_TOGETHER = 3
"""Of more systems that share a sentence, each has its figures in brackets behind its name."""


def sentence(pair: Pair) -> str:
    """Return what the data support about a pair and what not, in one to three sentences."""
    if pair.verdict == "same":
        return f"{pair.system} and {pair.baseline} have the same {pair.measure} on every topic."
    if pair.p is None:
        return f"One topic does not show whether {pair.system} is better than {pair.baseline}."
    parts = [_unclear(pair)] if pair.verdict == "unclear" else [_clear(pair)]
    parts += [_hanging(pair, reason) for reason in pair.depends_on]
    return " ".join(parts)


def sentences(comparison: Comparison, measure: str) -> list[str]:
    """Return what the data support about all pairs by a measure, and the ranks of the systems.

    Pairs with the same baseline that differ unclearly share a sentence.
    """
    pairs = comparison.tested(measure)
    unclear: dict[str, list[Pair]] = {}
    for pair in pairs:
        if pair.verdict == "unclear" and pair.power is not None:
            unclear.setdefault(pair.baseline, []).append(pair)
    texts = []
    for pair in pairs:
        alike = unclear.get(pair.baseline, [])
        if pair not in alike or len(alike) == 1:
            texts.append(pair.sentence)
        elif pair is alike[0]:
            texts.append(_unclear_together(alike))
    ranks = {s.name: r for s in comparison.systems if (r := s.scores[measure].rank) is not None}
    if len(comparison.systems) > 2 and len(ranks) > 1:
        texts.append(_ranks(ranks))
    return texts


def _unclear_together(pairs: Sequence[Pair]) -> str:
    """One sentence or two for several systems that are not shown to differ from a baseline."""
    powers = [pair.power for pair in pairs if pair.power is not None]
    least, most = (f"{end(p.detectable for p in powers):.3f}" for end in (min, max))
    span = least if least == most else f"{least} to {most}"
    numbers = [rounded(p.topics) if p.topics else 0 for p in powers]
    many = len(pairs) > _TOGETHER
    names = [pair.system for pair in pairs]
    if many:
        entries = zip(pairs, numbers, strict=True)
        names = [
            f"{pair.system} ({_signed(pair)}{f', about {n:,} topics' if n else ''})"
            for pair, n in entries
        ]
    text = f"{enumeration(names)} are not shown to differ from {pairs[0].baseline} by "
    text += pairs[0].measure
    if not many:
        text += f": {enumeration([_signed(pair) for pair in pairs])} may be chance"
    text += (
        f". With {pairs[0].test.n} topics differences of {span} or more are found four times in "
        "five"
    )
    if many and any(numbers):
        text += "; in brackets the topics that the observed ones would need"
    elif all(numbers):
        needed = (
            f"{numbers[0]:,}" if len({*numbers}) == 1 else enumeration([f"{n:,}" for n in numbers])
        )
        text += f"; those observed would need about {needed}"
    text += "."
    for reason, cause in (
        ("unjudged", "Unjudged documents could decide it for"),
        ("ties", "The order of ties could decide it for"),
    ):
        if open_ones := [pair.system for pair in pairs if reason in pair.depends_on]:
            text += f" {cause} {enumeration(open_ones)}."
    return text + _by_people(pairs)


def _by_people(pairs: Sequence[Pair]) -> str:
    """What people's judgments alone say of systems that are not shown to differ with machines'."""
    decided, turned = [], []
    for pair in pairs:
        if pair.people is None or "machines" not in pair.depends_on:
            continue
        verdict, label = verdict_of(pair.people), f"{pair.system} ({pair.people.difference:+.4f})"
        if verdict == "unclear":
            turned.append(label)
        else:
            decided.append(f"{verdict} for {label}")
    text = f" By people's judgments alone it is {enumeration(decided)}." if decided else ""
    if turned:
        text += f" By people's alone the order is the other way for {enumeration(turned)}, "
        text += "which may be chance, too."
    return text


def _signed(pair: Pair) -> str:
    return f"{pair.difference:+.4f}"


def _ranks(ranks: Mapping[str, Rank]) -> str:
    """Return the systems' rank intervals in a sentence, best first."""
    ordered = sorted(ranks.items(), key=lambda item: item[1].rank)
    intervals = [f"{name} {rank_text(rank)}" for name, rank in ordered]
    return (
        f"Ranks that other topics like these would give, 95 of 100 times: {', '.join(intervals)}."
    )


def _clear(pair: Pair) -> str:
    sign = 1 if pair.difference > 0 else -1
    ends = sorted(sign * end for end in pair.interval or (0.0, 0.0))
    topics = pair.wins if pair.verdict == "better" else pair.losses
    return (
        f"{pair.system} is {pair.verdict} than {pair.baseline}: by {abs(pair.difference):.4f} "
        f"{pair.measure}, most likely between {ends[0]:.4f} and {ends[1]:.4f}, and on {topics} of "
        f"{counted(pair.test.n, 'topic')}."
    )


def _unclear(pair: Pair) -> str:
    power = pair.power
    text = f"{pair.system} is not shown to differ from {pair.baseline} by {pair.measure}"
    if power is None:
        return f"{text}."
    text += f": {pair.difference:+.4f} may be chance (p {_p(pair.adjusted_p)}). "
    text += f"With {pair.test.n} topics a difference of {power.detectable:.3f} or more is found "
    text += "four times in five"
    if power.topics is None:
        return f"{text}."
    return f"{text}; the one observed would need about {rounded(power.topics):,}."


def _hanging(pair: Pair, reason: str) -> str:
    """A warning that unjudged documents, the order of ties or machines may decide the verdict."""
    if reason == "machines":
        assert pair.people is not None
        turned = "the order is the other way: " * (pair.difference * pair.people.difference < 0)
        chance = ", which may be chance" * (verdict_of(pair.people) == "unclear")
        return (
            f"This hangs on judgments of machines: by people's alone, on "
            f"{counted(pair.people.n, 'topic')}, {turned}the difference is "
            f"{pair.people.difference:+.4f}{chance}."
        )
    bounds = pair.unjudged if reason == "unjudged" else pair.ties
    assert bounds is not None
    cause = "Unjudged documents" if reason == "unjudged" else "The order of tied documents"
    if pair.verdict == "unclear":
        ends = f"anywhere from {bounds.low:+.4f} to {bounds.high:+.4f}"
        return f"{cause} could decide it: they can put the difference {ends}."
    better = pair.verdict == "better"
    worst, other = bounds.low if better else bounds.high, pair.baseline if better else pair.system
    chance = ", which may be chance" if worst * pair.difference > 0 else ""
    case = f"in the order that is best for {other}"
    if reason == "unjudged":
        case = f"if those that {other} ranks higher are relevant and no others"
    return f"{cause} could undo this: {case}, the difference is {worst:+.4f}{chance}."


def _p(p: float | None) -> str:
    """A p-value with two figures: "= 0.37", "< 0.0001"."""
    if p is None or p >= _SMALLEST:
        return f"= {p or 0.0:.2g}" if (p or 0) < 0.995 else "= 1"
    return f"< {_SMALLEST}"


def p_text(p: float | None) -> str:
    """Return a p-value in the figures of a sentence or table; "-" for None."""
    if p is None:
        return "-"
    return f"<{_SMALLEST}" if p < _SMALLEST else f"{p:.4f}"


def rank_text(rank: Rank | None) -> str:
    """Return a rank's interval; "-" for none."""
    if rank is None:
        return "-"
    return f"{rank.low}" if rank.low == rank.high else f"{rank.low}–{rank.high}"


def rounded(number: int) -> int:
    """Return a number with two figures: 84, 820, 1,300."""
    places = len(str(number)) - 2
    return round(number, -places) if places > 0 else number
