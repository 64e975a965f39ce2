"""`vanilla-bert`: documents a second that a core of the CPU, or a GPU, learns from.

A transformer with random weights, of six layers of 384 dimensions, as all-MiniLM-L6-v2 (`--base`:
twelve of 768, as all-mpnet-base-v2), and steps of 48 documents (`--documents`) whose lengths are
drawn as those of abstracts on cancer are spread (mean 290 tokens, standard deviation 120, cut at
256 or 470). Ours reads them in parts of similar length, the peer all at once, padded to the
longest, as ours does on a GPU; without dropout both must score alike to 1e-4. The detail has 470
tokens, too. Arithmetic is native; `--precision bfloat16` is the quickest on GPUs and on processors
with AVX512_BF16.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import torch

from _common import alternate, parser, rate, report
from irplatform_encoders.crossencoder_model import Model
from irplatform_encoders.crossencoder_reading import Reader
from irplatform_encoders.on_cpu import multiply_by_numpy
from irplatform_encoders.options import VanillaBertOptions

if TYPE_CHECKING:
    import argparse
    from collections.abc import Callable

    import numpy.typing as npt

WORDS = 30_000
LENGTHS = (256, 470)
TOLERANCE = 1e-4


def reader(longest: int, arguments: argparse.Namespace) -> Reader:
    """A transformer with random weights, as it is fed."""
    from tokenizers import Tokenizer, models
    from transformers import (
        BertConfig,
        BertForSequenceClassification,
        MPNetConfig,
        MPNetForSequenceClassification,
        PreTrainedTokenizerFast,
    )

    words = {"[PAD]": 0, "[UNK]": 1}
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer(models.WordLevel(words, unk_token="[UNK]")), pad_token="[PAD]"
    )
    torch.manual_seed(1)
    shared = {"vocab_size": WORDS, "num_attention_heads": 12, "num_labels": 1, "pad_token_id": 0}
    network: torch.nn.Module = (
        MPNetForSequenceClassification(MPNetConfig(max_position_embeddings=514, **shared))
        if arguments.base
        else BertForSequenceClassification(
            BertConfig(hidden_size=384, num_hidden_layers=6, intermediate_size=1536, **shared)
        )
    )
    network.to(arguments.device)
    multiply_by_numpy(network, arguments.device)
    options = VanillaBertOptions(max_length=longest, precision=arguments.precision)
    return Reader(Model(tokenizer, network, 1, 512), options, arguments.device)


def documents(longest: int, count: int) -> list[dict[str, npt.NDArray[np.int32]]]:
    """A step's documents, as token ids."""
    rng = np.random.default_rng(7)
    lengths = np.clip(rng.normal(290, 120, count), 20, longest).astype(int)
    return [
        {
            "input_ids": rng.integers(2, WORDS, n, dtype=np.int32),
            "attention_mask": np.ones(n, np.int32),
        }
        for n in lengths
    ]


def sides(longest: int, arguments: argparse.Namespace) -> dict[str, Callable[[], None]]:
    """A step of each side, without the optimizer's, after a look at their scores."""
    fed = reader(longest, arguments)
    read, network = documents(longest, arguments.documents), fed.model.network
    ways = {
        "ours": lambda: fed.forward_to_train(fed.step(read)),
        "padded": lambda: fed.forward(fed.padded(read)),
    }
    if arguments.precision == "float32":
        network.eval()
        with torch.inference_mode():
            scores = [way() for way in ways.values()]
        if (difference := float((scores[0] - scores[1]).abs().max())) > TOLERANCE:
            raise SystemExit(f"the sides disagree: scores differ by up to {difference:.2g}")
    network.train()

    def learn(way: Callable[[], torch.Tensor]) -> None:
        for _ in range(arguments.steps):
            way().sum().backward()
            network.zero_grad()
        if arguments.device != "cpu":
            torch.cuda.synchronize()

    return {name: lambda way=way: learn(way) for name, way in ways.items()}


def main() -> None:
    """Measure, and print a line of JSON."""
    command_line = parser(__doc__.split("\n")[0])
    command_line.add_argument("--precision", choices=("float32", "bfloat16"), default="float32")
    command_line.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    command_line.add_argument("--base", action="store_true", help="the larger transformer")
    command_line.add_argument("--documents", type=int, default=48, help="of a step")
    command_line.add_argument("--steps", type=int, default=1, help="measured at once")
    arguments = command_line.parse_args()
    torch.set_num_threads(1)
    speed = {}
    for longest in LENGTHS:
        seconds = alternate(sides(longest, arguments), arguments.rounds)
        learned = arguments.steps * arguments.documents
        speed[f"{longest} tokens"] = {
            name: round(rate(learned, times), 2) for name, times in seconds.items()
        }
    usual = speed["256 tokens"]
    report(
        "fine_tuning",
        usual["ours"],
        usual["padded"],
        "documents/s",
        higher_is_better=True,
        precision=arguments.precision,
        device=arguments.device,
        documents_per_second=speed,
    )


if __name__ == "__main__":
    main()
