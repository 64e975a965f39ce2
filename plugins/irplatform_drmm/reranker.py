"""DRMM as a reranker: training, scores and weight files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from irplatform.kit import NeuralReranker
from irplatform_drmm.options import PAPER, DrmmOptions

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.kit import DeviceCandidates, Float32
    from irplatform.plugin import Documents, Resources, Topic, TrainingData
    from irplatform_drmm.network import (
        DeviceMatcher,
        DrmmNetwork,
        DrmmTask,
        Matcher,
        Matches,
        Stems,
    )

_FORMAT = 1


class Drmm(NeuralReranker):
    """DRMM: histograms of word similarities per query term, weighed by a gate over the terms.

    The cosines of a query term with a document's words are counted in bins. The logarithms of the
    counts go through a small network, and the terms' results are summed with softmax weights
    learned from their IDF (or vectors). Trained with a pairwise hinge loss.
    """

    model = "drmm"
    Options = DrmmOptions
    citation: ClassVar[str] = (
        "Jiafeng Guo, Yixing Fan, Qingyao Ai, W. Bruce Croft. A Deep Relevance Matching Model for "
        "Ad-hoc Retrieval. CIKM 2016, sections 4 and 5; as in Mohan et al., WWW 2018, section "
        "4.3.4."
    )
    presets: ClassVar[Mapping[str, Mapping[str, object]]] = {"paper": PAPER}
    options: DrmmOptions

    network: DrmmNetwork
    matcher: Matcher
    _vectors: Float32
    _device_matcher: DeviceMatcher | None = None

    def prepare(self, resources: Resources) -> None:
        from irplatform_drmm.network import DrmmNetwork, Matcher, Stems

        options = self.options
        stems = Stems.of(resources, options.stemmer)
        self._vectors = self._stem_vectors(resources, stems)
        self.matcher = Matcher(resources.forward_index(), stems, self._vectors, options)
        width = self._vectors.shape[1]
        self.start(
            resources, lambda: DrmmNetwork(options.bins, options.hidden, options.gate, width)
        )

    def describe_model(self) -> dict[str, Any]:
        return {
            "bins": self.options.bins,
            "hidden": self.options.hidden,
            "gate": self.options.gate,
            "dimensions": len(self.network.gate),
            "stemmer": self.options.stemmer,
        }

    def _stem_vectors(self, resources: Resources, stems: Stems) -> Float32:
        import numpy as np

        from irplatform_drmm.network import stem_vectors

        index = resources.forward_index()
        vectors = resources.vectors(self.options.vectors)

        def build(folder: Path) -> None:
            np.save(folder / "vectors.npy", stem_vectors(index, stems, vectors))

        depends_on = {
            "format": _FORMAT,
            "stemmer": self.options.stemmer,
            "vectors": vectors.digest(),
        }
        folder = resources.artifact("drmm-vectors", depends_on, build)
        matrix: Float32 = np.load(folder / "vectors.npy", mmap_mode="r", allow_pickle=False)
        return matrix

    def task(self, data: TrainingData, advance: Callable[[int], None]) -> DrmmTask:
        from irplatform_drmm.network import DrmmTask

        return DrmmTask(
            self.network,
            self.matcher,
            self._score,
            self._gate_inputs,
            self.options,
            data,
            self.resources.seed,
            self.resources.device,
            advance,
        )

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        from irplatform.kit import Reading, on_device

        documents = on_device(self.resources.forward_index(), self.resources.device)
        reading = Reading(lambda topic: self.matcher.terms(topic.query))
        return documents.score(batch, reading, self._scores)

    def _scores(self, candidates: DeviceCandidates) -> Tensor:
        import torch

        device, topic = self.resources.device, candidates.topic
        documents = candidates.matrix(self.options.document_words)
        if candidates.one_by_one:
            terms = candidates.query[0].cpu().numpy()
            matches = self.matcher.compare(terms, documents.cpu().numpy())
            return torch.tensor(self._score(matches))
        if self._device_matcher is None:
            self._device_matcher = self.matcher.on_device(device)
        counts = self._device_matcher.counts(candidates.query, topic, documents)
        terms_there = candidates.query.clamp(min=0)
        idf = self.options.gate == "idf"
        gate = (
            self._device_matcher.idf[terms_there, None]
            if idf
            else self._device_matcher.vectors[terms_there]
        )
        present = candidates.query >= 0
        scores: Tensor = self.network(counts, gate[topic], present[topic])
        return scores

    def _gate_inputs(self, matches: Matches) -> Float32:
        return matches.idf[:, None] if self.options.gate == "idf" else self._vectors[matches.terms]

    def _score(self, matches: Matches) -> Sequence[float]:
        import numpy as np
        import torch

        documents, terms = matches.counts.shape[:2]
        if not terms:
            return [0.0] * documents
        device = self.resources.device
        gate = torch.from_numpy(np.ascontiguousarray(self._gate_inputs(matches))).to(device)
        counts = torch.from_numpy(matches.counts.astype(np.float32)).to(device)
        with torch.inference_mode():
            scores = self.network(
                counts,
                gate.expand(documents, -1, -1),
                torch.ones(documents, terms, dtype=torch.bool, device=device),
            )
            values: list[float] = scores.tolist()
        return values
