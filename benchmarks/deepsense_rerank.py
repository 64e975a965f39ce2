"""DeepSenSe: milliseconds to score 100 documents of 200 words for one sentence.

Random words, untrained weights and random vectors, which cost what trained ones cost. Two forms
with the same weights are timed in turns: ours (tables of F and G over the vocabulary, words
compared once per distinct one, texts in batches of similar length), and the peer: the network as
one would write it with padded sequences, every title to 100 words and every abstract to 1,000,
which is what the paper says (Lo et al., "Model training"). Both are handed the rows of all
words, so that networks are compared and not tokenizers, and must give the same scores to 1e-4.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from _common import alternate, parser, report
from irplatform_deepsense.encoding import Encoded, Texts
from irplatform_deepsense.network import DeepSenSeNetwork, Sizes
from irplatform_deepsense.options import PRESETS, DeepSenSeOptions
from irplatform_deepsense.task import score

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

DIMENSIONS = 300
VOCABULARY = 50_000
QUERY_WORDS = 20
TITLE_WORDS = 15
ABSTRACT_WORDS = 185
FEATURES = 18
LONGEST = (100, 100, 1000)
"""Words of a sentence, a title and an abstract that the paper pads to."""
TOLERANCE = 1e-4


class DirectDeepSenSe(nn.Module):
    """Decomposable attention with padded sequences, written down as the equations stand.

    Args:
        network: whose weights it uses.
        vectors: float32 [words, V].
        idf: float32 [words].
    """

    def __init__(self, network: DeepSenSeNetwork, vectors: Tensor, idf: Tensor) -> None:
        super().__init__()
        self.network = network
        self.embedding = nn.Embedding.from_pretrained(functional.pad(vectors, (0, 0, 0, 1)))
        self.idf = functional.pad(idf * 0.1, (0, 1))
        self.padding = len(vectors)

    def forward(self, query: Tensor, title: Tensor, abstract: Tensor, features: Tensor) -> Tensor:
        """Scores [n] of padded rows of words: [n, 100], [n, 100], [n, 1000]."""
        parts = [*self._match(query, title), *self._match(query, abstract)]
        return self.network.classify(torch.cat(parts, dim=1), features)

    def _match(self, query: Tensor, text: Tensor) -> tuple[Tensor, Tensor]:
        query_present, text_present = query != self.padding, text != self.padding
        q, t = self.embedding(query), self.embedding(text)
        projected = [functional.elu(self.network.project(words)) for words in (q, t)]
        weights = projected[0] @ projected[1].transpose(1, 2)
        lengths = [words.norm(dim=2, keepdim=True).clamp(min=1e-12) for words in (q, t)]
        cosine = (q / lengths[0]) @ (t / lengths[1]).transpose(1, 2)
        return (
            self._compare(query, q, t, weights, cosine, query_present, text_present),
            self._compare(
                text,
                t,
                q,
                weights.transpose(1, 2),
                cosine.transpose(1, 2),
                text_present,
                query_present,
            ),
        )

    def _compare(
        self,
        rows: Tensor,
        words: Tensor,
        others: Tensor,
        weights: Tensor,
        cosine: Tensor,
        present: Tensor,
        others_present: Tensor,
    ) -> Tensor:
        attention = weights.masked_fill(~others_present[:, None], -1e30).softmax(dim=2)
        counterpart = attention @ others
        parts = [words, counterpart, words - counterpart]
        if self.network.sizes.signals:
            largest = cosine.masked_fill(~others_present[:, None], -1).amax(dim=2)
            idf = self.idf[rows]
            mean = (attention * cosine).sum(dim=2)
            parts.append(torch.stack([mean, largest, idf, idf * largest], dim=2))
        compared = functional.elu(self.network.compare(torch.cat(parts, dim=2)))
        total = (compared * present[:, :, None]).sum(dim=1)
        if self.network.sizes.pooling == "mean":
            total = total / present.sum(dim=1, keepdim=True).clamp(min=1)
        return total


def build(preset: str | None) -> tuple[DeepSenSeNetwork, Tensor, Tensor]:
    """An untrained network with random vectors."""
    options = DeepSenSeOptions.model_validate(PRESETS[preset] if preset else {})
    names = set(Sizes.__dataclass_fields__) - {"dimensions", "features"}
    sizes = Sizes(DIMENSIONS, FEATURES, **{name: getattr(options, name) for name in names})
    torch.manual_seed(1)
    vectors = torch.randn(VOCABULARY, DIMENSIONS) * 0.15
    return DeepSenSeNetwork(sizes, options.dropout).eval(), vectors, torch.rand(VOCABULARY) * 10


def draw(count: int) -> tuple[Encoded, tuple[Tensor, Tensor, Tensor]]:
    """The same documents as we read them and as the peer does; words as frequent as Zipf has it."""
    random = np.random.default_rng(1)
    share = 1 / np.arange(10, VOCABULARY + 10)
    share /= share.sum()

    def words(*shape: int) -> npt.NDArray[np.int64]:
        return random.choice(VOCABULARY, shape, p=share)

    query = words(QUERY_WORDS)
    titles, abstracts = words(count, TITLE_WORDS), words(count, ABSTRACT_WORDS)
    text_words = np.concatenate([titles.ravel(), abstracts.ravel()])
    distinct, places = np.unique(text_words, return_inverse=True)

    def texts(places: npt.NDArray[np.int64], length: int) -> Texts:
        return Texts(torch.from_numpy(places), torch.arange(0, len(places), length))

    encoded = Encoded(
        torch.from_numpy(query),
        torch.from_numpy(distinct),
        texts(places[: titles.size], TITLE_WORDS),
        texts(places[titles.size :], ABSTRACT_WORDS),
        torch.from_numpy(random.normal(size=(count, FEATURES)).astype(np.float32)),
    )
    queries = np.broadcast_to(query, (count, QUERY_WORDS))
    padded = [
        functional.pad(
            torch.from_numpy(rows.copy()), (0, longest - rows.shape[1]), value=VOCABULARY
        )
        for rows, longest in zip((queries, titles, abstracts), LONGEST, strict=True)
    ]
    return encoded, (padded[0], padded[1], padded[2])


def main() -> None:
    command_line = parser(__doc__ or "")
    command_line.add_argument(
        "--preset", choices=["paper"], help="the paper's sizes instead of ours"
    )
    command_line.add_argument("--documents", type=int, default=100, help="how many are scored")
    arguments = command_line.parse_args()
    torch.set_num_threads(1)
    network, vectors, idf = build(arguments.preset)
    encoded, padded = draw(arguments.documents)
    peer = DirectDeepSenSe(network, vectors, idf)
    with torch.inference_mode():
        tables = network.tabulate(vectors, idf)
        sides: dict[str, Callable[[], list[float]]] = {
            "ours": lambda: score(network, tables, encoded).tolist(),
            "peer": lambda: peer(*padded, encoded.features).tolist(),
        }
        scores = {name: np.array(side()) for name, side in sides.items()}
        worst = max(float(np.abs(scores["ours"] - scores[name]).max()) for name in sides)
        if worst > TOLERANCE:
            sys.exit(f"the forms differ by {worst:.1e}")
        seconds = alternate(sides, arguments.rounds)
    best = {name: 1000 * min(values) for name, values in seconds.items()}
    report(
        "deepsense_rerank",
        best["ours"],
        best["peer"],
        "ms",
        higher_is_better=False,
        largest_difference=worst,
        documents=arguments.documents,
        words=TITLE_WORDS + ABSTRACT_WORDS,
        padded_to=sum(LONGEST[1:]),
    )


if __name__ == "__main__":
    main()
