"""`platform collections build treatments`: from judged topics to topics with a treatment.

The folder is in BEIR layout and searches the documents of its source. Its topics are those of the
split that a folder's name alone means, so that `--train-on FOLDER` learns from them.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.collections.beir import DEFAULT_SPLIT
from irplatform.collections.beir_files import BeirWriter, write_measures
from irplatform.collections.corpus_reference_files import write_reference
from irplatform.concepts.build import concept_table
from irplatform.concepts.table import ConceptTable
from irplatform.errors import InputError
from irplatform.judgments.treatments.choice import FIELD, MOST, Choice, Treated, choose
from irplatform.judgments.treatments.drugs import related_drugs, treatments
from irplatform.judgments.treatments.linking import DRUG, find_drugs
from irplatform.judgments.treatments.report import Report
from irplatform.knowledge import open_knowledge
from irplatform.registry import registry
from irplatform.storage import atomic_folder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from irplatform.collections import Collection
    from irplatform.collections.collection import Qrels
    from irplatform.plugin import Topic

_NOT_OF_AN_ID = re.compile(r"[^a-z0-9]+")


def build_treatments(
    source: str, out: Path, choice: Choice, knowledge_bases: Sequence[str]
) -> Report:
    """Make a folder of topics with a treatment.

    Args:
        source: a judged collection, as the user names it.
        out: the folder to make; nothing is left of it where this fails.
        choice: how many treatments a topic may get.
        knowledge_bases: names of installed ones that know drugs; the first takes precedence.

    Raises:
        InputError: the folder exists, the collection has no judgments or names treatments already,
            a knowledge base is not installed, none knows a drug or relates one to anything, or no
            topic could be made.
    """
    with atomic_folder(out) as folder:
        collection = registry().collection(source)
        topics, qrels = _judged(collection)
        knowledge = open_knowledge(knowledge_bases)
        table = ConceptTable(concept_table(tuple(knowledge_bases)))
        if DRUG not in table.kinds:
            raise InputError(f"no drug is in the knowledge bases ({', '.join(knowledge_bases)}).")
        related = related_drugs(table, knowledge)
        relevant = {a for t in topics for a, grade in qrels[t.id].items() if grade > 0}
        mentions = find_drugs(collection.corpus, relevant, table)
        drugs = treatments(mentions, related, table, knowledge)
        treated = list(choose(topics, qrels, drugs, choice))
        if not treated:
            distinct = len(frozenset().union(*drugs.of.values()))
            raise InputError(
                f"no topic could be made. Drugs in the {len(drugs.of):,} relevant articles of "
                f"'{collection.id}' that are there: {drugs.found:,}; treatments among these: "
                f"{distinct:,}; in {choice.at_least} or more relevant articles of a topic, and in "
                f"at most {float(MOST):.0%} of them: none."
            )
        _write(treated, folder)
        write_reference(source, folder, seen_from=out)
        write_measures(folder, collection.measures)
    return Report(out, collection.id, len(topics), treated)


def _judged(collection: Collection) -> tuple[list[Topic], Qrels]:
    """The topics that have a relevant document, and the judgments."""
    if collection.load_qrels is None:
        raise InputError(f"'{collection.id}' has no judgments.")
    qrels = collection.load_qrels()
    topics = [
        topic
        for topic in collection.load_topics()
        if any(grade > 0 for grade in qrels.get(topic.id, {}).values())
    ]
    if not topics:
        raise InputError(f"no topic of '{collection.id}' has a relevant document.")
    if any(topic.fields.get(FIELD) for topic in topics):
        raise InputError(f"topics of '{collection.id}' have the field '{FIELD}' already.")
    return topics, qrels


def _write(treated: Sequence[Treated], folder: Path) -> None:
    taken: set[str] = set()
    with BeirWriter(folder) as files:
        for each in treated:
            name = _unique(each, taken)
            topic = each.source
            fields = {k: v for k, v in topic.fields.items() if k != "text"}  # the query's own name
            files.query(name, f"{topic.query} {each.drug}", {**fields, FIELD: each.drug})
            files.judge(DEFAULT_SPLIT, name, each.grades)


def _unique(each: Treated, taken: set[str]) -> str:
    """An id that no topic has yet: that of the source and the drug's name."""
    name = f"{each.source.id}-{_NOT_OF_AN_ID.sub('-', each.drug.lower()).strip('-')}"
    number = 1
    while (candidate := name if number == 1 else f"{name}-{number}") in taken:
        number += 1
    taken.add(candidate)
    return candidate
