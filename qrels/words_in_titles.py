"""Prints how many judged documents have all words of their topic's query in the title.

    python qrels/words_in_titles.py COLLECTION

This is table 1 of Mohan et al. (BioNLP 2017, WWW 2018) for any judged collection. Words are
Delta's. Judged documents without a text do not count.
"""

import argparse
from collections import Counter, defaultdict

from irplatform.errors import InputError
from irplatform.registry.loading import registry
from irplatform.text.tokenizer import tokenize


def words_in_titles(name: str) -> Counter[tuple[bool, bool]]:
    """Judged documents by whether they are relevant, and whether the title has all words."""
    collection = registry().collection(name)
    words = {topic.id: frozenset(tokenize(topic.query)) for topic in collection.load_topics()}
    judged: defaultdict[str, list[tuple[str, float]]] = defaultdict(list)
    for topic, grades in collection.qrels.items():
        for document, grade in grades.items():
            judged[document].append((topic, grade))
    counts: Counter[tuple[bool, bool]] = Counter()
    for document in collection.corpus:
        if of_document := judged.get(document.id):
            title = frozenset(tokenize(document.title))
            counts.update((grade > 0, words[topic] <= title) for topic, grade in of_document)
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("collection")
    try:
        counts = words_in_titles(parser.parse_args().collection)
    except InputError as error:
        parser.error(str(error))
    relevant, others = (counts[kind, True] + counts[kind, False] for kind in (True, False))
    print(f"{counts[True, False]} of {relevant} relevant documents lack a word")
    print(f"{counts[False, True]} of {others} others have all words")
