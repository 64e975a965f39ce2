"""`vanilla-bert`: documents a second that a core of the CPU learns from.

A transformer of six layers of 384 dimensions, as all-MiniLM-L6-v2, with random weights, and steps
of 48 documents whose lengths are drawn as those of abstracts on cancer are spread (mean 290 tokens,
standard deviation 120, cut at 256 or 470). Ours reads them in parts of similar length, the peer all
at once, padded to the longest; without dropout both must score alike to 1e-4. The detail has 470
tokens, too. Arithmetic is native; `--precision bfloat16` is the quickest on processors with
AVX512_BF16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from _common import alternate, parser, rate, report
from irplatform.training.linear_layers import multiply_by_numpy
from irplatform_crossencoder.model import Model
from irplatform_crossencoder.options import VanillaBertOptions
from irplatform_crossencoder.reading import Reader

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS, DOCUMENTS = 30_000, 48
LENGTHS = (256, 470)
TOLERANCE = 1e-4


def reader(longest: int, precision: str) -> Reader:
    """A transformer with random weights, as it is fed."""
    from tokenizers import Tokenizer, models
    from transformers import BertConfig, BertForSequenceClassification, PreTrainedTokenizerFast

    words = {"[PAD]": 0, "[UNK]": 1}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="[UNK]")),
        pad_token="[PAD]",
    )
    torch.manual_seed(1)
    network = BertForSequenceClassification(
        BertConfig(
            vocab_size=WORDS,
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            num_labels=1,
        )
    )
    multiply_by_numpy(network, "cpu")
    options = VanillaBertOptions.model_validate({"max_length": longest, "precision": precision})
    return Reader(Model(tokenizer, network, 1, 512), options, "cpu")


def documents(longest: int) -> list[dict[str, list[int]]]:
    """A step's documents, as token ids."""
    rng = np.random.default_rng(7)
    lengths = np.clip(rng.normal(290, 120, DOCUMENTS), 20, longest).astype(int)
    return [
        {"input_ids": rng.integers(2, WORDS, n).tolist(), "attention_mask": [1] * int(n)}
        for n in lengths
    ]


def sides(longest: int, precision: str) -> dict[str, Callable[[], None]]:
    """A step of each side, without the optimizer's, after a look at their scores."""
    fed = reader(longest, precision)
    step, network = documents(longest), fed.model.network
    ways = {"ours": fed.forward_to_train, "padded": fed.forward}
    if precision == "float32":
        network.eval()
        with torch.inference_mode():
            scores = [way(step) for way in ways.values()]
        if (difference := float((scores[0] - scores[1]).abs().max())) > TOLERANCE:
            raise SystemExit(f"the sides disagree: scores differ by up to {difference:.2g}")
    network.train()

    def learn(way: Callable[[Any], torch.Tensor]) -> None:
        way(step).sum().backward()
        network.zero_grad()

    return {name: lambda way=way: learn(way) for name, way in ways.items()}


def main() -> None:
    """Measure, and print a line of JSON."""
    command_line = parser(__doc__.split("\n")[0])
    command_line.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    arguments = command_line.parse_args()
    torch.set_num_threads(1)
    speed = {}
    for longest in LENGTHS:
        seconds = alternate(sides(longest, arguments.precision), arguments.rounds)
        speed[f"{longest} tokens"] = {
            name: round(rate(DOCUMENTS, taken), 2) for name, taken in seconds.items()
        }
    usual = speed["256 tokens"]
    report(
        "fine_tuning",
        usual["ours"],
        usual["padded"],
        "documents/s",
        higher_is_better=True,
        precision=arguments.precision,
        documents_per_second=speed,
    )


if __name__ == "__main__":
    main()
