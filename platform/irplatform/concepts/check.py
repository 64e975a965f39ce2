"""Checks linked concepts against the MeSH headings that indexers gave the articles.

Precision is the share of an article's linked MeSH concepts that are among its headings; recall is
the share of its headings that are linked. Headings name the main subjects of the full text, and
concepts occur in the abstract, so neither can reach 1.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.concepts import ConceptOptions
from irplatform.concepts.document_links import pipeline_of
from irplatform.concepts.pipeline import article_text
from irplatform.data import main_headings
from irplatform.errors import InputError
from irplatform.files.digests import number_of
from irplatform.knowledge import open_knowledge
from irplatform.spelling import option
from irplatform.system.console import progress

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from irplatform.concepts.graph import ConceptGraph
    from irplatform.data import Corpus, Document


CHECK_TAGS = frozenset(
    """
    Adolescent; Adult; Aged; Aged, 80 and over; Animals; Cats; Cattle; Chick Embryo; Child;
    Child, Preschool; Cricetinae; Dogs; Female; Guinea Pigs; Humans; Infant; Infant, Newborn; Male;
    Mice; Middle Aged; Pregnancy; Rabbits; Rats; Swine; Young Adult
    """.replace("\n   ", "")
    .strip()
    .split("; ")
)
"""Headings that indexers check for every article, even if its abstract does not mention them."""

_AROUND = 40
"""Characters around a mention that are shown."""


def check(
    graph: ConceptGraph, corpus: Corpus, heading_field: str = "mesh", examples: int = 20
) -> dict[str, Any]:
    """Compare the links of a corpus's graph with the headings in a field of its articles.

    Returns:
        `documents` with headings; figures for `all` headings, those `without_check_tags`, and per
        kind; `unknown_headings`; `misses` and `false_links`.

    Raises:
        InputError: MeSH is not in the graph, or no document has headings.
    """
    require_mesh(graph.facts["knowledge"])
    ids = {concept.name: concept.id for concept in open_knowledge(["mesh"]).bases[0].concepts()}
    numbers = {name: graph.concept_of(concept_id) for name, concept_id in ids.items()}
    headings = {name: number for name, number in numbers.items() if number is not None}
    mesh = set(headings.values())
    tags = {headings[name] for name in CHECK_TAGS if name in headings}
    of_kind: dict[str, set[int]] = {
        kind: {concept for concept in mesh if graph.KINDS[graph.kinds[concept]] == kind}
        for kind in graph.KINDS
    }
    groups = {"all": mesh, "without_check_tags": mesh - tags, **of_kind}
    tallies: dict[str, Counter[str]] = {name: Counter() for name in groups}

    @cache
    def around(concept: int) -> frozenset[int]:
        edges = graph.neighbours(concept)
        return frozenset({concept, *(o for o, source, _ in edges if source.relation == "is-a")})

    misses, false_links = _Examples(examples), _Examples(examples)
    unknown = documents = 0
    with progress("checking concepts", graph.document_count, "documents") as advance:
        for row, document in enumerate(corpus):
            advance(1)
            names = main_headings(document.fields.get(heading_field))
            if not names:
                continue
            documents += 1
            unknown += sum(name not in headings for name in names)
            gold = {headings[name] for name in names if name in headings}
            concepts, _, _ = graph.concepts_of(np.array([row]))
            linked = mesh.intersection(concepts.tolist())
            right = gold & linked
            gold_near = {concept for concept in gold if around(concept) & linked}
            linked_near = {concept for concept in linked if around(concept) & gold}
            for name, group in groups.items():
                counts = tallies[name]
                counts["headings"] += len(gold & group)
                counts["links"] += len(linked & group)
                counts["right"] += len(right & group)
                counts["headings_near"] += len(gold_near & group)
                counts["links_near"] += len(linked_near & group)
            for concept in gold - linked - tags:
                misses.offer(document, concept)
            for concept in linked - gold - tags:
                false_links.offer(document, concept)
    if not documents:
        raise InputError(
            f"no document has headings in a field '{heading_field}', so links cannot be checked. "
            f"Fields of the documents: {', '.join(corpus.fields) or 'none'}."
        )
    return {
        "documents": documents,
        **{name: _figures(counts) for name, counts in tallies.items()},
        "unknown_headings": unknown,
        "misses": [
            {"document": document.id, "title": document.title, "heading": graph.names[concept]}
            for document, concept in misses
        ],
        "false_links": [_false_link(graph, document, concept) for document, concept in false_links],
    }


def require_mesh(knowledge: Collection[str]) -> None:
    """Refuse the knowledge bases of a graph if MeSH is not among them."""
    if "mesh" not in knowledge:
        raise InputError(
            "links are checked against MeSH headings, but mesh is not among the knowledge bases of "
            f"the graph ({', '.join(knowledge) or 'none'}). Add it with `{option('kb', 'mesh')}`."
        )


def _figures(counts: Counter[str]) -> dict[str, float | int | None]:
    """Precision and recall, exact and within one is-a; None if nothing can be judged."""
    headings, links = counts["headings"], counts["links"]
    return {
        "headings": headings,
        "links": links,
        "precision": _share(counts["right"], links),
        "recall": _share(counts["right"], headings),
        "precision_near": _share(counts["links_near"], links),
        "recall_near": _share(counts["headings_near"], headings),
    }


@dataclass
class _Examples:
    """At most `size` examples, chosen by a hash: the same graph shows the same ones."""

    size: int
    entries: list[tuple[int, str, int, Document]] = field(default_factory=list)

    def offer(self, document: Document, concept: int) -> None:
        candidate = (-number_of(f"{document.id} {concept}"), document.id, concept, document)
        if len(self.entries) < self.size:
            heapq.heappush(self.entries, candidate)
        else:
            heapq.heappushpop(self.entries, candidate)

    def __iter__(self) -> Iterator[tuple[Document, int]]:
        entries = sorted(self.entries, key=lambda entry: entry[:3], reverse=True)
        return ((document, concept) for _, _, concept, document in entries)


def _share(part: int, total: int) -> float | None:
    return round(part / total, 4) if total else None


def _false_link(graph: ConceptGraph, document: Document, concept: int) -> dict[str, str]:
    options = ConceptOptions(**{**graph.facts["options"], "linker": "names"})
    pipeline = pipeline_of(graph.table.folder, None, options.model_dump_json())
    (mentions,) = pipeline.mentions([(document.title, document.abstract)])
    text = article_text(document.title, document.abstract)
    excerpt = next(
        (
            f"… {text[max(0, m.start - _AROUND) : m.start]}[{m.text}]"
            f"{text[m.end : m.end + _AROUND]} …"
            for m in mentions
            if m.concept == concept
        ),
        "",
    )
    return {
        "document": document.id,
        "linked": graph.names[concept],
        "text": " ".join(excerpt.split()),
    }
