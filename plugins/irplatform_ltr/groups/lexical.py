"""The 18 lexical match features of Delta, over words or over stems."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from irplatform.plugin import Documents, FeatureGroup, Field, Options, Resources, Topic
from irplatform.text import ALL18, lexical_features

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from irplatform.text import ForwardIndex
    from irplatform_ltr.stemmed import StemmedIndex


class LexicalOptions(Options):
    """Options of the lexical features."""

    features: tuple[str, ...] = Field(ALL18, description="which of the 18, by name or number")


class LexicalMatches(FeatureGroup):
    """The 18 lexical match features: overlap of query and title, abstract, text, and BM25."""

    Options = LexicalOptions
    needs = ("gensim",)
    citation: ClassVar[str] = "Mohan et al., WWW 2018, section 4.2.2"
    options: LexicalOptions
    _index: ForwardIndex | StemmedIndex

    def prepare(self, resources: Resources) -> None:
        """Take the forward index."""
        self._index = resources.forward_index()

    def names(self) -> tuple[str, ...]:
        """Names of the chosen features."""
        return self.options.features

    def compute(self, topic: Topic, documents: Documents) -> npt.NDArray[np.float32]:
        """The features."""
        query, rows = self._index.query_ids(topic.query), self._index.rows(documents.ids)
        return lexical_features(self._index, query, rows, self.options.features)  # type: ignore[arg-type]


class StemmedMatches(LexicalMatches):
    """The same over Porter stems, so that "mutations" is met by "mutation"."""

    def prepare(self, resources: Resources) -> None:
        """Take the stemmed view of the forward index."""
        from irplatform_ltr.stemmed import StemmedIndex

        self._index = StemmedIndex.of(resources)
