"""`bi-encoder`: documents a second that all cores of the CPU encode, each thread another document.

A transformer of six layers of 384 dimensions, as all-MiniLM-L6-v2, with random weights (`--model`
takes a real one), and texts whose lengths are spread as those of abstracts on cancer are (mean 290
words, standard deviation 120, cut at 256). The peer gives all cores to torch and to the products of
matrices of one document after the other. All sides have the same vectors to the byte. The detail
has one thread. Arithmetic is portable, unless `IRPLATFORM_ARITHMETIC` says otherwise.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from irplatform.system.arithmetic import (
    choose_device,  # before numpy and torch: sets their arithmetic
)
from irplatform.system.workers import available_cores

import numpy as np  # isort: skip

from _common import alternate, parser, rate, report
from irplatform_encoders.biencoder_model import Encoder
from irplatform_encoders.options import BiEncoderOptions

if TYPE_CHECKING:
    from collections.abc import Callable

WORDS = 30_000


def save_model(folder: Path) -> Path:
    """A sentence encoder with random weights, one token a word."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

    words = {word: n for n, word in enumerate(["[PAD]", "[UNK]", *map(str, range(WORDS - 2))])}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    bare = folder / "transformer"
    PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, pad_token="[PAD]", unk_token="[UNK]", model_max_length=256
    ).save_pretrained(bare)
    torch.manual_seed(1)
    BertModel(
        BertConfig(
            vocab_size=WORDS,
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
        )
    ).save_pretrained(bare)
    parts = [Transformer(str(bare)), Pooling(384, pooling_mode="mean")]
    SentenceTransformer(modules=parts, device="cpu").save_pretrained(str(folder / "encoder"))
    return folder / "encoder"


def texts(count: int) -> list[str]:
    """Texts of random words."""
    rng = np.random.default_rng(7)
    lengths = np.clip(rng.normal(290, 120, count), 20, 600).astype(int)
    return [" ".join(map(str, rng.integers(0, WORDS - 2, n))) for n in lengths]


def sides(model: Path, read: list[str], cores: int) -> dict[str, Callable[[], object]]:
    """Each side, after a look at their vectors."""
    options = BiEncoderOptions(model=str(model))

    def side(threads: int, of_torch: int) -> Callable[[], object]:
        encoder = Encoder(options, "cpu", threads)

        def encode() -> object:
            choose_device("cpu", of_torch)
            return encoder.documents(read)

        return encode

    made = {"ours": side(cores, 1), "torch's threads": side(1, cores), "one thread": side(1, 1)}
    first, *others = (encode() for encode in made.values())
    if not all(np.array_equal(first, other) for other in others):
        raise SystemExit("the sides disagree: their vectors are not the same.")
    return made


def main() -> None:
    """Measure, and print a line of JSON."""
    command_line = parser(__doc__.split("\n")[0])
    command_line.add_argument("--model", type=Path, help="a folder; default: random weights")
    command_line.add_argument("--documents", type=int, default=128)
    command_line.add_argument("--threads", type=int, default=available_cores())
    arguments = command_line.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        model = arguments.model or save_model(Path(folder))
        ways = sides(model, texts(arguments.documents), arguments.threads)
        seconds = alternate(ways, arguments.rounds)
    speed = {name: round(rate(arguments.documents, taken), 2) for name, taken in seconds.items()}
    report(
        "encoding",
        speed["ours"],
        speed["torch's threads"],
        "documents/s",
        higher_is_better=True,
        threads=arguments.threads,
        documents_per_second=speed,
    )


if __name__ == "__main__":
    main()
