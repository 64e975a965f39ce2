"""The dual encoder as a reranker, and as a retriever through an index of all documents."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from irplatform.kit import Checkpoint, NeuralReranker, TextPairs, digests, fingerprint
from irplatform.plugin import (
    Documents,
    InputError,
    Options,
    PairsFile,
    Ranking,
    Reads,
    Resources,
    Retriever,
    Run,
    Topic,
    TrainingData,
    Traits,
)
from irplatform_encoders.options import DualOptions, DualSearchOptions

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.kit import DeviceCandidates, Float32, StoredVectors, WordVectors
    from irplatform.plugin import TextPair
    from irplatform_encoders.dual_encoder import Encoder, Learned


_PACKAGES = ("torch", "gensim", "safetensors")


class DualEncoder(NeuralReranker):
    """A small dual encoder: cosine of a query's and a document's vector.

    Either is a weighted mean of word vectors, projected; learned by softmax over the documents of a
    batch, from pairs of texts and from training topics. Document vectors are stored.
    """

    model = "dual-encoder"
    Options = DualOptions
    citation: ClassVar[str] = (
        "The two towers and their training: Vladimir Karpukhin et al. Dense Passage Retrieval for "
        "Open-Domain Question Answering. EMNLP 2020, section 3. Learned averages of word vectors "
        "as encoders: John Wieting, Mohit Bansal, Kevin Gimpel, Karen Livescu. Towards Universal "
        "Paraphrastic Sentence Embeddings. ICLR 2016, section 3."
    )
    options: DualOptions

    encoder: Encoder
    learned: Learned

    _stored: StoredVectors | None = None
    _loaded = False

    def prepare(self, resources: Resources) -> None:
        from irplatform_encoders.dual_encoder import Encoder, Learned

        self.learned = Learned()
        self.encoder = Encoder(resources, self.options, resources.seed)
        self.start(resources, lambda: self.encoder.network)
        self._stored = None

    def reads(self) -> Reads:
        from irplatform_encoders.dual_training import pairs_of_file

        pairs = self.options.pairs

        def read(topics: Sequence[Topic]) -> Iterable[TextPair]:
            return pairs_of_file(pairs, TextPairs.OfTopics.of(topics, pairs.group))

        return Reads(pairs=PairsFile(pairs.file, read) if pairs.file else None, check=pairs.check)

    def fit(self, data: TrainingData) -> None:
        from irplatform_encoders.dual_encoder import Learned
        from irplatform_encoders.dual_training import TopicsTask, pretrained

        if self.options.pairs.has_source and not self._loaded:
            topics = [labelled.topic for labelled in (*data.training, *data.validation)]
            without = TextPairs.OfTopics.of([*topics, *data.unseen], self.options.pairs.group)
            encoder, learned = pretrained(self.resources, self.options, without)
            self.encoder.network.load_state_dict(encoder.network.state_dict())
            self.learned = Learned(self.learned | learned)
        task = TopicsTask(self.encoder, self.options, data, self.resources.seed)
        self.train(task, self.options.loop, data)
        topics = [labelled.topic for labelled in data.training]
        self.learned = Learned(self.learned | Learned.of(TextPairs.OfTopics.of(topics)))

    def save(self, folder: Path) -> None:
        super().save(folder)
        self.learned.save(folder)

    def load(self, folder: Path) -> None:
        from irplatform_encoders.dual_encoder import Learned

        super().load(folder)
        self.learned = Learned.load(folder)
        self._loaded = True

    def weights_changed(self) -> None:
        self._stored = None

    def score_batch(self, batch: Sequence[tuple[Topic, Documents]]) -> list[Sequence[float]]:
        from irplatform.kit import Reading, on_device

        documents = on_device(self.encoder.index, self.resources.device)
        return documents.score(batch, Reading(), self._scores)

    def _scores(self, candidates: DeviceCandidates) -> Tensor:
        import torch

        encoder = self.encoder
        queries = encoder.network.queries(encoder.reader.texts(t.query for t in candidates.topics))
        documents = self._documents(candidates)
        if candidates.one_by_one:
            # A matrix product's last digit depends on how many documents there are.
            pair = documents.cpu().numpy(), queries[0].cpu().numpy()
            return torch.from_numpy(np.einsum("nd,d->n", *pair))
        return (documents * queries[candidates.topic]).sum(dim=1)

    def _documents(self, candidates: DeviceCandidates) -> Tensor:
        from irplatform.kit import StoredVectors

        if (
            self.encoder.index.given_texts()
            or self.encoder.index.count > self.options.stored_documents
        ):
            return self.encoder.encode(candidates.rows)
        if self._stored is None:
            self._stored = StoredVectors(self.encoder.stored(), self.resources.device)
        return self._stored.of(candidates)


_TOPICS = 256  # topics that are searched for at once


class _Open(NamedTuple):
    """The models of a search with what they learned from, and their index.

    `mark` stands for what they depend on, `vectors` are the word vectors that they started from.
    """

    mark: str
    vectors: WordVectors | None
    members: list[tuple[Encoder, Learned]]
    index: Any


_opened: WeakKeyDictionary[Any, _Open] = WeakKeyDictionary()
"""Per forward index, what was searched with last: features ask for a few topics at a time."""


class DualEncoderSearch(Retriever):
    """Nearest documents by the dual encoder's vectors, through FAISS.

    The models are those of a checkpoint, or are trained on pairs of texts, each without a part of
    the sources. A topic is searched with the models that did not learn from it, since rerankers
    learn from what is found for training topics. Scores are means over these models.
    """

    Options = DualSearchOptions
    citation: ClassVar[str] = (
        f"{DualEncoder.citation} The index: Jeff Johnson, Matthijs Douze, Hervé Jégou. "
        "Billion-scale similarity search with GPUs. IEEE Transactions on Big Data 7, 2021."
    )
    options: DualSearchOptions

    def traits(self) -> Traits:
        return Traits(packages=(*_PACKAGES, "faiss"), on_device=True)

    def reads(self) -> Reads:
        folder, pairs = self.options.checkpoint, self.options.pairs.file
        if (folder is None) != self.options.pairs.has_source:
            trained = Options.spelled({"dual-encoder.checkpoint": "FOLDER"})
            of_file = Options.spelled({"dual-encoder.pairs.file": "FILE"})
            of_passages = Options.spelled({"dual-encoder.pairs.passages": 3})
            raise InputError(
                f"retriever 'dual-encoder' needs a trained model: {trained}, which "
                "`platform train --reranker dual-encoder --out FOLDER` writes, or "
                f"{of_file} or {of_passages} to train one on pairs of texts"
                + (", not both." if folder else ".")
            )
        if folder is None:
            self.options.pairs.check()
            return Reads(more={"pairs": digests([pairs])} if pairs else {})
        checkpoint = Checkpoint.read(folder)
        if (other := checkpoint.reranker) != "dual-encoder":
            raise InputError(
                f"this is a checkpoint of '{other}'; retriever 'dual-encoder' needs one of the "
                "reranker of its name.",
                path=folder,
            )
        checkpoint.check_files()
        return Reads(checkpoints=(folder,))

    def describe_run(self, topics: Sequence[Topic], resources: Resources) -> Mapping[str, object]:
        from irplatform_encoders.dual_encoder import Learned

        if (folder := self.options.checkpoint) is None:
            return {}
        group = self.options.pairs.group
        learned = [Learned.load(member) for member in Checkpoint.read(folder).folders()]
        flags = [[model.knows(topic, group) for model in learned] for topic in topics]
        if not (warning := _warning(flags)):
            return {}
        resources.notice(warning)
        return {"warning": warning}

    def retrieve(self, topics: Sequence[Topic], depth: int, resources: Resources) -> Run:
        from irplatform_encoders.nearest import nearest

        opened = self._open(resources)
        members, index = opened.members, opened.index
        encoders = [encoder for encoder, _ in members]
        shares = self._shares([learned for _, learned in members], topics, resources)
        texts = [topic.query for topic in topics]
        queries = np.hstack(
            [e.queries(texts) * share[:, None] for e, share in zip(encoders, shares.T, strict=True)]
        )
        doc_ids = encoders[0].index.doc_ids
        rankings: dict[str, Ranking] = {}
        with resources.progress("searching by dual encoder", len(topics), "topics") as advance:
            for start in range(0, len(topics), _TOPICS):
                part = slice(start, start + _TOPICS)
                part_rankings = nearest(index, queries[part], depth, resources.threads, doc_ids)
                for topic, ranking in zip(topics[part], part_rankings, strict=True):
                    rankings[topic.id] = ranking
                advance(len(part_rankings))
        return Run("dual-encoder", rankings)

    def _open(self, resources: Resources) -> _Open:
        from irplatform_encoders.nearest import indexed, open_index

        checkpoint, file = self.options.checkpoint, self.options.pairs.file
        mark = fingerprint(
            {
                "of": digests(_files(checkpoint) if checkpoint else [file] if file else []),
                "options": self.options.model_dump(mode="json"),
                "device": resources.device,
                "model_threads": resources.model_threads,
                "seed": resources.system_seed,
            }
        )
        vectors = None if checkpoint else resources.vectors(self.options.vectors)
        opened = _opened.get(resources.forward_index())
        if opened is None or opened.mark != mark or opened.vectors is not vectors:
            members = self._members(resources)
            encoders = [encoder for encoder, _ in members]
            folder = indexed(
                resources,
                "dual-encoder-index",
                {"encoders": [encoder.describe_model() for encoder in encoders]},
                count := encoders[0].index.count,
                sum(encoder.width for encoder in encoders),
                lambda rows: np.hstack([encoder.documents(rows) for encoder in encoders]),
                exact=self.options.compares_all(count),
            )
            opened = _Open(mark, vectors, members, open_index(folder, self.options.probes))
            _opened[resources.forward_index()] = opened
        return opened

    def _shares(
        self, learned: Sequence[Learned], topics: Sequence[Topic], resources: Resources
    ) -> Float32:
        group = self.options.pairs.group
        flags = [[model.knows(topic, group) for model in learned] for topic in topics]
        if self.options.checkpoint is None and (warning := _warning(flags)):
            resources.notice(warning)  # of a checkpoint, `describe_run` tells
        return shares_of(np.array(flags, dtype=np.bool_).reshape(len(topics), len(learned)))

    def _members(self, resources: Resources) -> list[tuple[Encoder, Learned]]:
        if self.options.checkpoint is None:
            from irplatform_encoders.dual_training import Fold, pretrained

            folds = self.options.folds if self.options.pairs.file else 1
            return [pretrained(resources, self.options, Fold(n, folds)) for n in range(folds)]
        # `reads` has seen that they are of this kind.
        members = resources.checkpoint(self.options.checkpoint)
        return [(m.encoder, m.learned) for m in members if isinstance(m, DualEncoder)]


def _warning(flags: Sequence[Sequence[bool]]) -> str:
    if not (count := sum(map(all, flags))):
        return ""
    return (
        f"WARNING: the dual encoder was trained on {count:,} of these {len(flags):,} topics: what "
        "it finds for them shows what it remembers."
    )


def shares_of(learned: npt.NDArray[np.bool_]) -> Float32:
    """The share of each model in a topic's scores: of those that it is new to, or of all."""
    use = ~learned | learned.all(axis=1, keepdims=True)
    shares: Float32 = (use / use.sum(axis=1, keepdims=True)).astype(np.float32)
    return shares


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.is_file())
