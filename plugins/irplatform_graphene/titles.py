"""L_graph: how well the titles of some of a step's documents are written (section 3.2.3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from irplatform_graphene.batch import BatchDocuments
from irplatform_graphene.network import TitleDecoder, TitleVocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from irplatform_graphene.model import Model


class Titles:
    """The title decoder in training."""

    def __init__(self, model: Model, seed: int) -> None:
        self._model = model
        settings = model.options.decoder
        self._vocabulary = TitleVocabulary(model.reader.index, settings.vocabulary)
        self._vectors = model.reader.word_vectors(self._vocabulary.words)
        torch.manual_seed(seed)
        sizes = model.network.sizes
        self.decoder = TitleDecoder(
            sizes.vector, sizes.projection, settings.hidden, len(self._vectors)
        ).to(model.device)

    def loss(self, rows: npt.NDArray[np.int64], random: np.random.Generator) -> Tensor:
        """The loss over titles of a share of the documents, of those that have an abstract."""
        settings = self._model.options.decoder
        reader, network = self._model.reader, self._model.network
        lengths = reader.index.lengths("abstract")[rows], reader.index.lengths("title")[rows]
        usable = rows[(lengths[0] > 0) & (lengths[1] > 0)]
        if not len(usable):
            return self.decoder.bias.sum() * 0
        count = max(1, round(settings.share * len(usable)))
        chosen = np.sort(random.choice(usable, count, replace=False))
        encoded = network.encode(reader.abstracts(chosen))
        documents = BatchDocuments(self._model, chosen, encoded)
        symbols = self._vocabulary.symbols(reader.titles(chosen, settings.title_words))
        return self.decoder.loss(
            documents.plain_vectors(np.arange(count)),
            network.project(self._vectors),
            torch.from_numpy(symbols).to(encoded.device),
        )
