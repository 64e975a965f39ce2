"""Names that programs give to the columns of runs and judgments.

They are those of PyTerrier, ranx, ir_measures, Pyserini, Anserini, MS MARCO, trectools, BEIR, mteb,
Elasticsearch and biomedical tables, in lower case without punctuation. The first that a file has
counts: PyTerrier's `docno` is the id of a document, and its `docid` a number of its index.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

TOPIC = (
    *("queryid", "qid", "topicid", "questionid", "topicno", "topicnumber", "topicnum", "qno"),
    *("queryno", "querynumber", "searchid", "requestid", "topic", "q", "query", "question"),
)
DOCUMENT = (
    *("docno", "corpusid", "cid", "docid", "documentid", "passageid", "pid", "did", "pmid"),
    *("pubmedid", "nctid", "nctno", "nctnumber", "trialid", "articleid", "paperid", "corduid"),
    *("entityid", "itemid", "segid", "segmentid", "chunkid", "documentno", "docname", "doc"),
    *("document", "passage", "item", "trial", "article", "pmcid", "doi"),
)
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "topic": TOPIC,
    "document": (*DOCUMENT, "id"),
    "rank": ("rank", "ranking", "position", "pos", "place", "rk", "rankno", "docrank"),
    "score": (
        *("score", "scores", "sim", "similarity", "relevancescore", "rsv", "docscore"),
        *("finalscore", "probability", "prob", "logprob", "relevance", "weight", "value"),
    ),
    "tag": (
        *("runid", "runname", "runtag", "tag", "run", "systemid", "systemname", "system"),
        *("method", "model", "name"),
    ),
    "second": ("q0", "iteration", "iter", "unused"),
}
"""A column of a run → its names."""
LISTS = (
    *("hits", "results", "candidates", "ranking", "rankings", "documents", "docs", "docids"),
    *("docnos", "documentids", "pmids", "passages", "contexts", "ctxs", "retrieved", "predictions"),
    *("children", "data", "response", "responses", "root"),
)
"""Names of a topic's documents, best first."""
_PUNCTUATION = re.compile(r"[\W_]")


def plain(name: str) -> str:
    """Return a name in lower case without punctuation."""
    return _PUNCTUATION.sub("", name.lower())


def place_of(usual: Sequence[str], names: Sequence[str]) -> int:
    """Return the position of the first usual name among plain names; -1 if there is none."""
    return next((names.index(name) for name in usual if name in names), -1)


def places(names: Sequence[str]) -> dict[str, int]:
    """Return the positions of a run's columns among names as a file has them.

    >>> places(["", "qid", "docid", "docno", "Rank"])
    {'topic': 1, 'document': 3, 'rank': 4}
    """
    read = [plain(name) for name in names]
    positions = {column: place_of(usual, read) for column, usual in COLUMNS.items()}
    return {column: place for column, place in positions.items() if place >= 0}


def identifier(value: Any, place: str, path: Path, line: int | None) -> str:
    """Return an id in JSON as text; InputError if it is neither text nor a whole number."""
    if type(value) is int:  # True is an instance of int
        return str(value)
    if not isinstance(value, str) or not value.strip():
        raise InputError(
            f"the id {place} is {value!r}. Write it as text, or as a whole number.",
            path=path,
            line=line,
        )
    return value
