"""Prints the topics with misleading titles: the papers' rule Neg20+ for any judged collection.

    python qrels/misleading_titles.py COLLECTION [--least N]

Such a topic has at least N (20) documents that are judged not relevant and have all words of its
query in the title (Mohan et al., BioNLP 2017, section 5.2). Words are Delta's.
"""

import argparse

from irplatform.building.clicks import with_matching_negatives
from irplatform.errors import InputError
from irplatform.registry.loading import registry


def misleading_titles(name: str, least: int = 20) -> frozenset[str]:
    """The ids of the topics of a collection."""
    collection = registry().collection(name)
    queries = {topic.id: topic.query for topic in collection.load_topics()}
    negatives = (
        (topic, document)
        for topic, grades in collection.qrels.items()
        for document, grade in grades.items()
        if grade <= 0 and topic in queries
    )
    return with_matching_negatives(queries, negatives, lambda: collection.corpus, least=least)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("collection")
    parser.add_argument("--least", type=int, default=20, help="documents a topic (20)")
    options = parser.parse_args()
    try:
        topics = misleading_titles(options.collection, options.least)
    except InputError as error:
        parser.error(str(error))
    print(*sorted(topics, key=lambda topic: (len(topic), topic)))
