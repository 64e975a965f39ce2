"""Resources with a concept graph: the planted task, whose words are concepts of a small base."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

from concept_data import Articles
from feature_resources import FeatureResources
from planted import SUBJECTS, planted_resources, subject_words

from irplatform.concepts import ConceptOptions
from irplatform.concepts.build import open_graph
from irplatform.knowledge import add
from irplatform_ltr.groups.words import EmbeddingSimilarities, LexicalMatches

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.concepts.graph import ConceptGraph


_LONG = "substance"


@dataclass
class GraphResources(FeatureResources):
    """The harness's resources, a concept graph included; `told` holds the notices."""

    graph: ConceptGraph | None = None

    def concepts(self, options=None):
        return self.graph


def graph_resources(folder: Path) -> GraphResources:
    """The planted task: every third word of a subject is a drug, related to its subject.

    Words of three letters are no names in articles, so the graph's articles have longer ones.

    `IRPLATFORM_HOME` must be a folder of the test's own: the knowledge base is installed there.
    """
    base = planted_resources(folder / "planted", titled=True)
    lines = ["id\tname\tkind\tsynonyms\tparents\txrefs"]
    for number in range(SUBJECTS):
        lines.append(f"P:{number}\tsubject {number}\tdrug\t\t\t")
        lines += [
            f"P:{number}{word}\t{_LONG}{word}\tdrug\t{word}\tP:{number}\t"
            for word in subject_words(number)[::3]
        ]
    (folder / "planted.tsv").write_text("\n".join(lines) + "\n")
    add("planted", [folder / "planted.tsv"])
    articles = Articles(
        [
            (doc_id, "", " ".join(f"{_LONG}{word}" for word in text.split()))
            for doc_id, text in base.texts.items()
        ]
    )
    graph = open_graph(articles, ConceptOptions(knowledge=("planted",)), workers=1)
    groups = {"lexical": LexicalMatches, "embedding": EmbeddingSimilarities}
    values = {field.name: getattr(base, field.name) for field in fields(base)}
    return GraphResources(**values, groups=groups, graph=graph)
