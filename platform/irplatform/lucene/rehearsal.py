"""What commands do with Java, in small: the classes that it loads go into the class archive.

`python -m irplatform.lucene.rehearsal` makes the archive in the cache, and with the name of a file,
there.
"""

from __future__ import annotations

import shutil
import sys
from contextlib import closing
from pathlib import Path

from irplatform.data import Document
from irplatform.lucene.build import Indexer
from irplatform.lucene.dates import YEAR
from irplatform.lucene.index import LuceneIndex
from irplatform.lucene.java import class_archive, java_map
from irplatform.lucene.queries import RM3
from irplatform.lucene.transfer import CONTENTS, to_record

_COUNT = 300
"""Documents: some classes are for what fills a block of Lucene's."""
_TEXTS = ("Melanoma", "Vemurafenib in BRAF-mutant melanoma", "Liposarcoma: a review of 12 cases")


def rehearse(folder: Path) -> None:
    """Index documents in a folder, search them with words, feedback and phrases, and read some.

    The folder is gone afterwards.
    """
    texts = [_TEXTS[n % len(_TEXTS)] for n in range(_COUNT)]
    records = [to_record(Document(f"{n}", text, text)) for n, text in enumerate(texts)]
    indexer = Indexer(folder, "a rehearsal", [YEAR], "-storeRaw")
    java_map(indexer.add, [records], 1)
    indexer.close()
    with closing(LuceneIndex.open(folder)) as index:
        query = "vemurafenib for melanoma"
        phrases = index.heading_queries(CONTENTS, ["vemurafenib in braf"])
        rankings = index.search({"words": query, "phrase": phrases[0]}, 10)
        index.search({"words": query}, 10, feedback=RM3())
        index.documents(rankings["words"].doc_ids)
        index.missing(["1"])
        index.stats()
    shutil.rmtree(folder)


if __name__ == "__main__":
    class_archive.make(rehearse, *map(Path, sys.argv[1:]))
