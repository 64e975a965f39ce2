"""`platform collections build headings`: a few MeSH headings as a query.

All articles that have these headings are relevant: the judgments are those of the indexers, who
read the articles. A query is as short as one that a person asks, and can ask in other words than
the headings', where a query of all headings (`collections.mesh`) is neither. The folder is
in BEIR layout and searches the documents of its source.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter, defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from irplatform.collections.beir_files import BeirWriter, write_measures
from irplatform.collections.corpus_reference_files import write_reference
from irplatform.collections.mesh import (
    FIELD,
    check_headings,
    counted_documents,
    hash_of,
    split_ids,
)
from irplatform.errors import InputError
from irplatform.knowledge import open_knowledge
from irplatform.knowledge.names import uninverted
from irplatform.registry import registry
from irplatform.storage import atomic_folder
from irplatform.text.headings import main_headings

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.collections.collection import Corpus
    from irplatform.knowledge import Knowledge
    from irplatform.plugin import Document

MEASURES = ("nDCG@20", "AP", "P@10")
COMMON = 0.05
"""Headings of more of the articles, such as *Humans*, say too little to be asked for."""
_FEWEST = 10
"""Fewer queries cannot be split."""
_OTHER_NAMES = ("preferred", "synonym")


@dataclass(frozen=True)
class Choice:
    """Which queries are made.

    Attributes:
        queries: how many articles give a query, at most.
        headings: most headings of a query.
        relevant: most articles that have them all; queries that more answer are left out.
        seed: of all choices.
    """

    queries: int = 20_000
    headings: int = 3
    relevant: int = 200
    seed: int = 42


@dataclass(frozen=True)
class Made:
    """What was made.

    Attributes:
        folder: where it is.
        source: the collection's id.
        queries: split to its number of queries.
        relevant: relevant articles of all queries.
        left_out: queries that too many articles answer.
        renamed: headings that are asked for by another name, over all queries.
    """

    folder: Path
    source: str
    queries: Mapping[str, int]
    relevant: int
    left_out: int
    renamed: int


def build_headings(
    source: str, out: Path, choice: Choice, knowledge_bases: Sequence[str] = ()
) -> Made:
    """Make a folder of heading queries, with the splits train, dev and test (8:1:1).

    Args:
        source: a collection whose documents have headings, as the user names it.
        out: the folder to make; nothing is left of it where this fails.
        choice: which queries.
        knowledge_bases: names of installed ones that know other names of headings.

    Raises:
        InputError: the folder exists, the documents have no headings, a knowledge base is not
            installed, or too few queries could be made.
    """
    with atomic_folder(out) as folder:
        collection = registry().collection(source)
        knowledge = open_knowledge(knowledge_bases) if knowledge_bases else None
        check_headings(collection.corpus)
        asked = _asked(collection.corpus, choice)
        if not asked:
            raise InputError(
                f"no document of '{collection.id}' has a heading that at most {COMMON:.0%} of the "
                "documents have."
            )
        answers = _answers(collection.corpus, asked, choice.relevant)
        kept = {name: ids for name, ids in answers.items() if len(ids) <= choice.relevant}
        if len(kept) < _FEWEST:
            raise InputError(
                f"only {len(kept)} queries could be made of '{collection.id}' (left out, since "
                f"more than {choice.relevant:,} articles answer them: {len(answers) - len(kept)}); "
                f"at least {_FEWEST} are needed."
            )
        parts = split_ids(list(kept), choice.seed)
        renamed = 0
        with BeirWriter(folder) as files:
            for name in kept:
                names = [_name(each, name, choice.seed, knowledge) for each in asked[name]]
                renamed += sum(a != uninverted(b) for a, b in zip(names, asked[name], strict=True))
                files.query(name, " ".join(names), {FIELD: asked[name]})
            for part, ids in parts.items():
                for name in ids:
                    files.judge(part, name, dict.fromkeys(kept[name], 1))
        write_reference(source, folder, seen_from=out)
        write_measures(folder, MEASURES)
    return Made(
        out,
        collection.id,
        {part: len(ids) for part, ids in parts.items()},
        sum(map(len, kept.values())),
        len(answers) - len(kept),
        renamed,
    )


def _asked(corpus: Corpus, choice: Choice) -> dict[str, list[str]]:
    """Queries: the article that gave each to the headings that it asks for, none twice."""
    frequency: Counter[str] = Counter()
    documents = 0

    def articles() -> Iterator[tuple[int, str, list[str]]]:
        nonlocal documents
        for document in counted_documents(corpus, "counting headings"):
            documents += 1
            if headings := _headings(document):
                frequency.update(headings)
                yield hash_of(document.id, choice.seed, "draw"), document.id, headings

    drawn = sorted(heapq.nsmallest(choice.queries, articles()), key=lambda article: article[1])
    weights = {
        heading: math.log(documents / number)
        for heading, number in frequency.items()
        if number <= COMMON * documents
    }
    asked: dict[frozenset[str], tuple[str, list[str]]] = {}
    for _, name, headings in drawn:
        telling = {heading: weights[heading] for heading in headings if heading in weights}
        if telling:
            chosen = _chosen(name, telling, choice)
            asked.setdefault(frozenset(chosen), (name, chosen))
    return dict(asked.values())


def _chosen(name: str, weights: Mapping[str, float], choice: Choice) -> list[str]:
    """One to so many headings of an article, the rarer the likelier, in alphabetical order.

    Drawn without replacement by the smallest of exponential variables (Efraimidis and Spirakis,
    2006).
    """
    number = 1 + hash_of(name, choice.seed, "number") % choice.headings

    def arrival(heading: str) -> float:
        share = (hash_of(f"{name}\0{heading}", choice.seed, "heading") + 1) / 2**64
        return -math.log(share) / weights[heading]

    return sorted(heapq.nsmallest(number, weights, key=arrival))


def _answers(corpus: Corpus, asked: Mapping[str, Sequence[str]], most: int) -> dict[str, list[str]]:
    """Queries to the articles that have all their headings, as many as are needed to know."""
    having: defaultdict[str, list[tuple[str, frozenset[str]]]] = defaultdict(list)
    frequency = Counter(heading for headings in asked.values() for heading in headings)
    for name, headings in asked.items():
        having[min(headings, key=frequency.__getitem__)].append((name, frozenset(headings)))
    answers: dict[str, list[str]] = {name: [] for name in asked}
    for document in counted_documents(corpus, "looking for articles with these headings"):
        found = set(_headings(document))
        for heading in found:
            for name, wanted in having.get(heading, ()):
                if len(answers[name]) <= most and wanted <= found:
                    answers[name].append(document.id)
    return answers


def _headings(document: Document) -> list[str]:
    return main_headings(document.fields.get(FIELD))


def _name(heading: str, query: str, seed: int, knowledge: Knowledge | None) -> str:
    """One of the names of a heading's concept, its own among them, as it would be said."""
    names = [uninverted(heading)]
    if knowledge is not None:
        for concept in knowledge.find(heading):
            if concept.name == heading:
                names += [
                    name.text
                    for name in concept.names
                    if name.kind in _OTHER_NAMES and ", " not in name.text
                ]
    distinct = sorted(set(names))
    return distinct[hash_of(f"{query}\0{heading}", seed, "name") % len(distinct)]
