"""Checks linked concepts against the MeSH headings that indexers gave the articles.

Precision is the share of an article's linked MeSH concepts that are among its headings; recall is
the share of its headings that are linked. Headings name the main subjects of the full text, and
concepts occur in the abstract, so neither can reach 1.
"""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from irplatform.concepts import ConceptOptions
from irplatform.concepts.linking import pipeline_of
from irplatform.concepts.pipeline import article_text
from irplatform.data import main_headings
from irplatform.errors import InputError
from irplatform.knowledge import open_knowledge
from irplatform.system.console import progress
from irplatform.system.digests import number_of

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

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
    headings = _mesh(graph)
    mesh = set(headings.values())
    tags = {headings[name] for name in CHECK_TAGS if name in headings}
    tallies = {name: _Tally() for name in ("all", "without_check_tags", *graph.KINDS)}
    related = lru_cache(maxsize=None)(lambda concept: _related(graph, concept))
    misses, false_links = _Examples(examples), _Examples(examples)
    unknown: Counter[str] = Counter()
    documents = 0
    with progress("checking concepts", graph.document_count, "documents") as advance:
        for row, document in enumerate(corpus):
            advance(1)
            names = main_headings(document.fields.get(heading_field))
            if not names:
                continue
            documents += 1
            unknown.update(name for name in names if name not in headings)
            gold = {headings[name] for name in names if name in headings}
            concepts, _, _ = graph.concepts_of(np.array([row]))
            linked = mesh.intersection(concepts.tolist())
            near = _near(gold, linked, related) | _near(linked, gold, related)
            for name, headings_of, links_of in _groups(graph, gold, linked, tags):
                tallies[name].add(headings_of, links_of, near)
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
        **{name: tally.figures() for name, tally in tallies.items()},
        "unknown_headings": sum(unknown.values()),
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
            f"the graph ({', '.join(knowledge) or 'none'}). Add it with `--kb mesh`."
        )


class _Tally:
    def __init__(self) -> None:
        self._counts: Counter[str] = Counter()

    def add(self, headings: set[int], links: set[int], near: set[int]) -> None:
        """Count a document's headings and links; `near` are those right within one is-a."""
        self._counts["headings"] += len(headings)
        self._counts["links"] += len(links)
        self._counts["right"] += len(headings & links)
        self._counts["headings_near"] += len(headings & near)
        self._counts["links_near"] += len(links & near)

    def figures(self) -> dict[str, float | int | None]:
        """Precision and recall, exact and within one is-a; None if nothing can be judged."""
        counts = self._counts
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
        for _, _, concept, document in sorted(
            self.entries, key=lambda entry: entry[:3], reverse=True
        ):
            yield document, concept


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 4) if whole else None


def _near(
    concepts: set[int], others: set[int], related: Callable[[int], frozenset[int]]
) -> set[int]:
    return {each for each in concepts if each in others or related(each) & others}


def _groups(
    graph: ConceptGraph, headings: set[int], links: set[int], tags: set[int]
) -> Iterator[tuple[str, set[int], set[int]]]:
    yield "all", headings, links
    yield "without_check_tags", headings - tags, links - tags
    for kind in graph.KINDS:
        yield kind, _of_kind(graph, headings, kind), _of_kind(graph, links, kind)


def _mesh(graph: ConceptGraph) -> dict[str, int]:
    require_mesh(graph.facts["knowledge"])
    concept_of = {}
    for concept in open_knowledge(["mesh"]).bases[0].concepts():
        number = graph.concept_of(concept.id)
        if number is not None:
            concept_of[concept.name] = number
    return concept_of


def _of_kind(graph: ConceptGraph, concepts: set[int], kind: str) -> set[int]:
    return {concept for concept in concepts if graph.KINDS[graph.kinds[concept]] == kind}


def _related(graph: ConceptGraph, concept: int) -> frozenset[int]:
    edges = graph.neighbours(concept)
    return frozenset(other for other, source, _ in edges if source.relation == "is-a")


def _false_link(graph: ConceptGraph, document: Document, concept: int) -> dict[str, str]:
    options = ConceptOptions(**{**graph.facts["options"], "linker": "names"})
    pipeline = pipeline_of(str(graph.table.folder), "", options.model_dump_json())
    (mentions,) = pipeline.mentions([(document.title, document.abstract)])
    text = article_text(document.title, document.abstract)
    shown = next(
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
        "text": " ".join(shown.split()),
    }
