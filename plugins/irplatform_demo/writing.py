"""Writes titles and abstracts from the package's phrases.

A phrase is a sentence with choices, `[many|few]`, and places for names and numbers, `{disease}`; a
place that begins with a capital begins a sentence.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from irplatform_demo.facts import Relation, read_table

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from random import Random

    from irplatform_demo.naming import Names

_CHOICE = re.compile(r"\[([^\]]*)\]")
_PLACE = re.compile(r"\{(\w+)\}")

_ONCE: Mapping[str, Callable[[Random], str]] = {
    "age": lambda rng: str(rng.randint(24, 83)),
    "dose": lambda rng: str(rng.choice((20, 40, 60, 80, 100, 150, 200, 250, 300, 400, 600))),
    "n": lambda rng: str(rng.randint(24, 640)),
}
"""Numbers that stay the same throughout an article."""
_NUMBERS: Mapping[str, Callable[[Random], str]] = {
    "hazard": lambda rng: f"0.{rng.randint(38, 89)}",
    "months": lambda rng: f"{rng.randint(4, 31)}.{rng.randint(1, 9)}",
    "months2": lambda rng: f"{rng.randint(4, 31)}.{rng.randint(1, 9)}",
    "n2": lambda rng: str(rng.randint(2, 21)),
    "percent": lambda rng: str(rng.randint(35, 96)),
    "percent2": lambda rng: str(rng.randint(2, 34)),
}


@cache
def phrases() -> Mapping[tuple[str, str], tuple[str, ...]]:
    """The phrases of each kind of article and part of it."""
    by_place: dict[tuple[str, str], list[str]] = {}
    for row in read_table("phrases.tsv"):
        by_place.setdefault((row["kind"], row["part"]), []).append(row["text"])
    return {place: tuple(texts) for place, texts in by_place.items()}


def write_article(kind: str, relation: Relation, names: Names, rng: Random) -> tuple[str, str]:
    """Write an article of five to nine sentences.

    Returns:
        Title and abstract.
    """
    values = _values(relation, rng)
    values.update(gene=names.gene, finding=names.finding)
    title = _fill(rng.choice(phrases()[kind, "title"]), {**values, "disease": names.disease}, rng)
    if names.disease != names.first_disease:
        full_name = names.first_disease.rpartition(" (")[0]
        title = title.replace(names.disease, full_name)
    texts = [
        *_some("background", "any", rng.choice((0, 1, 1, 1, 2)), rng),
        *_some(kind, "aim", rng.choice((1, 1, 2)), rng),
        *_some(kind, "methods", rng.choice((1, 1, 2)), rng),
        *_some(kind, "result", rng.choice((2, 2, 3)), rng),
        *_some(kind, "conclusion", 1, rng),
    ]
    sentences: list[str] = []
    disease = names.first_disease
    for text in texts:
        sentences.append(_fill(text, {**values, "disease": disease}, rng))
        if "isease}" in text:
            disease = names.disease
    return title, " ".join(sentences)


def _some(kind: str, part: str, number: int, rng: Random) -> Sequence[str]:
    return rng.sample(phrases()[kind, part], number)


def _values(relation: Relation, rng: Random) -> dict[str, str]:
    drug = rng.choice(relation.drugs)
    others = [other for other in relation.drugs if other != drug] or [drug]
    second = rng.choice(others)
    numbers = {place: draw(rng) for place, draw in _ONCE.items()}
    return numbers | {
        "class": drug.drug_class,
        "class0": rng.choice(("standard", "platinum-based", "conventional")),
        "drug": drug.name,
        "drug2": second.name if second != drug else "chemotherapy",
        "site": relation.disease.site,
        "trade": drug.trade,
    }


def _fill(phrase: str, values: Mapping[str, str], rng: Random) -> str:
    chosen = _CHOICE.sub(lambda match: rng.choice(match[1].split("|")), phrase)

    def value(match: re.Match[str]) -> str:
        place = match[1].lower()
        text = _NUMBERS[place](rng) if place in _NUMBERS else values[place]
        return text[0].upper() + text[1:] if match[1][0].isupper() else text

    filled = _PLACE.sub(value, chosen)
    return filled[0].upper() + filled[1:]
