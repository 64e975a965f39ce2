"""Chooses between Lucene and copied postings, which answer many topics faster (`impact`).

Measured on 40,385 abstracts, in processor time: opening the postings and the compiled search takes
half a second; copying and compiling them the first time takes ten. Lucene needs 3 to 8 milliseconds
for a citing sentence, the postings 0.2; with feedback 20 and 0.5. So `auto` takes the postings

- for 200 topics or more if they exist, for 2,000 or more if they have to be made, and with feedback
  for a fifth of that; searches of a few topics each, such as those of features, add up,
- for fewer if they have to be made of a small collection: of NFCorpus's 3,633 abstracts in two
  seconds, so for 634 topics,
- if numba is installed, and if new postings fit into memory.

Rankings are the same to the bit, so no cached result depends on the engine.
"""

from __future__ import annotations

import os
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, get_args

from irplatform.errors import InputError, did_you_mean
from irplatform.files.cache import MANIFEST, artifact, is_built, kept_json
from irplatform.lucene.java import java_class
from irplatform.lucene.queries import BM25, RM3, Similarity
from irplatform.lucene.transfer import CONTENTS
from irplatform.workers.distribution import memory

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform.lucene.impact import ImpactIndex

Engine = Literal["auto", "lucene", "impact"]
ENGINE_VARIABLE = "IRPLATFORM_ENGINE"
WORTH_OPENING = 200
"""Topics of words for which postings that were copied before are used."""
WORTH_COPYING = 2_000
"""Topics for which postings are copied."""
_WORTH_COMPILING = 500
"""Topics for which they are copied of a collection of hardly any documents."""
_COPIED = 27
"""Documents that are copied while Lucene searches for a topic more."""
_OF_FEEDBACK = 5
"""Topics that cost Lucene as much as one with feedback."""
LARGEST_STRUCTURED = 2_000_000
"""Documents of an index whose postings are searched for structured queries, which hold all
documents of their parts in memory."""
_LARGEST_K1 = 1_000
"""A much larger k1 makes scores 0 in 32 bits. Lucene finds such documents, the postings do not."""
_BYTES = 8
"""Of memory for a posting; a search reads 6."""
_SHARE = 0.5
"""Of the free memory that postings may take."""


class ManyTopics:
    """The copied postings of an index, if they pay."""

    def __init__(self, path: Path, reader: Any) -> None:
        self._path = path
        self._reader = reader
        self.opened: ImpactIndex | None = None
        self.topic_count = 0
        """Topics of words so far, in searches of several."""

    def postings_for(
        self,
        topics: int,
        similarity: Similarity,
        feedback: RM3 | None = None,
        engine: Engine | None = None,
    ) -> ImpactIndex | None:
        """The postings to search for a number of topics; None to search with Lucene.

        Without an `engine`, that of `IRPLATFORM_ENGINE` is taken where it can do the search.

        Raises:
            InputError: there is no such engine, or "impact" cannot do the search.
        """
        choice = engine or chosen_engine()
        if choice == "lucene":
            return None
        if reason := self._hindrance(similarity, feedback):
            if engine == "impact":
                raise InputError(f"the engine 'impact' {reason}. Take 'auto' or 'lucene'.")
            return None
        work = topics * (_OF_FEEDBACK if feedback else 1)
        if topics > 1:  # single ones come from a service, which has time
            work = self.topic_count = self.topic_count + work
        return self._open() if choice == "impact" or self._pays(work) else None

    def _hindrance(self, similarity: Similarity, feedback: RM3 | None) -> str:
        """The reason why the postings cannot do a search, to follow "the engine 'impact'"."""
        if not isinstance(similarity, BM25):
            return "ranks by BM25 only"
        if similarity.k1 > _LARGEST_K1:
            return f"takes k1 up to {_LARGEST_K1:,}"
        if feedback and not 0 < feedback.original_weight < 1:  # Lucene finds terms of weight 0
            return "mixes feedback with the topic's words: a share of more than 0 and less than 1"
        if not (self._path / MANIFEST).exists():
            return f"needs an index of the cache, and {self._path} is none"
        return ""

    def _pays(self, work: int) -> bool:
        if work < WORTH_OPENING:
            return False
        from irplatform.postings.search import has_numba

        if not has_numba():
            return False
        if self.opened is not None or is_built(**self._cache_key()):
            return True
        least = _WORTH_COMPILING + int(self._reader.numDocs()) // _COPIED
        return work >= min(least, WORTH_COPYING) and self._fits()

    def _fits(self) -> bool:
        terms = java_class("org.apache.lucene.index.MultiTerms").getTerms(self._reader, CONTENTS)
        postings = 0 if terms is None else int(terms.getSumDocFreq())
        capacity = memory()
        return capacity is not None and postings * _BYTES < _SHARE * capacity[1]

    def _open(self) -> ImpactIndex:
        from irplatform.lucene.impact import ImpactIndex
        from irplatform.lucene.postings import write_postings

        if self.opened is None:
            entry = artifact(**self._cache_key(), build=partial(write_postings, self._reader))
            self.opened = ImpactIndex(entry.path)
        return self.opened

    def _cache_key(self) -> dict[str, Any]:
        """Kind, label and dependencies in the cache."""
        from irplatform.lucene.postings import POSTINGS_FORMAT

        manifest = kept_json(self._path / MANIFEST)
        depends_on = {"index": manifest["fingerprint"], "format": POSTINGS_FORMAT}
        return {"kind": "postings", "label": manifest["label"], "depends_on": depends_on}


def chosen_engine() -> Engine:
    """The engine that `IRPLATFORM_ENGINE` names; InputError if there is no such engine."""
    name = os.environ.get(ENGINE_VARIABLE) or "auto"
    for engine in get_args(Engine):
        if name == engine:
            return engine  # type: ignore[no-any-return]
    guess = did_you_mean(name, get_args(Engine))
    raise InputError(
        f"{ENGINE_VARIABLE} is '{name}'. {guess}{' ' if guess else ''}"
        f"Take {', '.join(get_args(Engine))}."
    )
