"""Documents and pairs a second that transformers read, against sentence-transformers.

A bi-encoder (`documents`) and a cross-encoder (`pairs`) of MiniLM's shape (6 layers of 384
dimensions) or BERT-base's (12 of 768), with random weights, the same on both sides, on the same
device, in the same precision and number of threads. Lengths are spread as those of abstracts on
cancer are (mean 290 words, standard deviation 120; documents are cut at 256 tokens, pairs at 512)
or, with `--texts titles`, as those of titles (15, 5). The detail has the largest difference of
cosines or logits between the sides, and of each side from float32. Arithmetic is portable, unless
`IRPLATFORM_ARITHMETIC=native` is set.
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.system.arithmetic import choose_device  # first: it sets numpy's arithmetic
from irplatform.workers.distribution import available_cores

import numpy as np  # isort: skip

from _common import alternate, parser, rate, report
from irplatform_encoders.biencoder_model import Encoder
from irplatform_encoders.crossencoder_model import open_classifier
from irplatform_encoders.crossencoder_reading import Reader, round_weights
from irplatform_encoders.on_cpu import multiply_by_numpy
from irplatform_encoders.options import BiEncoderOptions, CrossEncoderOptions

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

WORDS = 30_000
SHAPES = {"minilm": (6, 384, 12), "bert-base": (12, 768, 12)}
LENGTHS = {"abstracts": (290, 120, 20, 600), "titles": (15, 5, 3, 40)}
"""Words of a text: mean, standard deviation, fewest, most."""
BATCH = 32


def word_tokenizer(longest: int) -> Any:
    """A tokenizer of texts of random words: one token a word."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    words = {w: n for n, w in enumerate([*special, *map(str, range(WORDS - len(special)))])}
    tokenizer = Tokenizer(models.WordPiece(words, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        model_max_length=longest,
    )


def save_models(folder: Path, shape: str) -> tuple[Path, Path]:
    """Save a bi-encoder and a cross-encoder with random weights, one token a word."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer
    from transformers import BertConfig, BertForSequenceClassification, BertModel

    layers, width, heads = SHAPES[shape]
    config = BertConfig(
        vocab_size=WORDS,
        hidden_size=width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * width,
        num_labels=1,
    )
    torch.manual_seed(1)
    for kind, network, longest in (
        ("transformer", BertModel(config), 256),
        ("cross-encoder", BertForSequenceClassification(config), 512),
    ):
        network.save_pretrained(folder / kind)
        word_tokenizer(longest).save_pretrained(folder / kind)
    parts = [Transformer(str(folder / "transformer")), Pooling(width, pooling_mode="mean")]
    SentenceTransformer(modules=parts, device="cpu").save_pretrained(str(folder / "bi-encoder"))
    return folder / "bi-encoder", folder / "cross-encoder"


def random_words(count: int, kind: str) -> list[str]:
    """Texts of random words."""
    rng = np.random.default_rng(7)
    mean, spread, fewest, most = LENGTHS[kind]
    lengths = np.clip(rng.normal(mean, spread, count), fewest, most).astype(int)
    return [" ".join(map(str, rng.integers(0, WORDS - 4, n))) for n in lengths]


def of_documents(
    model: Path, read: list[str], device: str, cores: int, precision: str
) -> dict[str, Callable[[], npt.NDArray[np.float32]]]:
    """Vectors of documents from both sides."""
    import torch
    from sentence_transformers import SentenceTransformer

    options: Any = {"model": str(model), "precision": precision, "similarity": "cosine"}
    encoder = Encoder(BiEncoderOptions(**options), device, cores)
    dtype = getattr(torch, precision)
    peer_encoder = SentenceTransformer(str(model), device=device, model_kwargs={"dtype": dtype})

    def platform() -> npt.NDArray[np.float32]:
        choose_device(device, 1)
        return encoder.documents(read)

    def peer() -> npt.NDArray[np.float32]:
        choose_device(device, cores)
        vectors = peer_encoder.encode(read, batch_size=BATCH, normalize_embeddings=True)
        return np.asarray(vectors, np.float32)

    return {"ours": platform, "sentence-transformers": peer}


def of_pairs(
    model: Path, read: list[str], device: str, cores: int, precision: str
) -> dict[str, Callable[[], npt.NDArray[np.float32]]]:
    """Logits of pairs from both sides."""
    import torch
    from sentence_transformers import CrossEncoder

    queries = random_words(max(1, len(read) // 50), "titles")
    pairs = [(queries[number // 50 % len(queries)], text) for number, text in enumerate(read)]
    options: Any = {"model": str(model), "precision": precision}
    opened = open_classifier(model)
    multiply_by_numpy(opened.network.to(device), device)
    reader = Reader(opened, CrossEncoderOptions(**options), device, cores)
    if reader.short_numbers:
        round_weights(opened.network)
    dtype = getattr(torch, precision)
    peer_encoder = CrossEncoder(str(model), device=device, model_kwargs={"dtype": dtype})

    def platform() -> npt.NDArray[np.float32]:
        choose_device(device, 1)
        return reader.score_pairs(pairs).numpy()

    def peer() -> npt.NDArray[np.float32]:
        choose_device(device, cores)
        identity = torch.nn.Identity()
        return peer_encoder.predict(pairs, batch_size=BATCH, activation_fn=identity)

    return {"ours": platform, "sentence-transformers": peer}


def main() -> None:
    """Measure, and print a line of JSON."""
    command_line = parser(__doc__.split("\n")[0])
    command_line.add_argument("--shape", choices=SHAPES, default="minilm")
    command_line.add_argument("--read", choices=["documents", "pairs"], default="documents")
    command_line.add_argument("--texts", choices=LENGTHS, default="abstracts")
    command_line.add_argument("--precision", choices=["float32", "bfloat16"], default="float32")
    command_line.add_argument("--device", default="cpu")
    command_line.add_argument("--count", type=int, default=128, help="documents or pairs")
    command_line.add_argument("--threads", type=int, default=available_cores())
    arguments = command_line.parse_args()
    device = choose_device(arguments.device, arguments.threads)
    read = random_words(arguments.count, arguments.texts)
    make = of_documents if arguments.read == "documents" else of_pairs
    with tempfile.TemporaryDirectory() as folder:
        models = save_models(Path(folder), arguments.shape)
        model = models[arguments.read == "pairs"]
        ways = make(model, read, device, arguments.threads, arguments.precision)
        exact = make(model, read[:BATCH], device, arguments.threads, "float32")["ours"]()
    results = {name: side() for name, side in ways.items()}
    seconds = alternate(ways, arguments.rounds)
    speed = {name: round(rate(arguments.count, times), 2) for name, times in seconds.items()}
    report(
        "encoding",
        speed["ours"],
        speed["sentence-transformers"],
        f"{arguments.read}/s",
        higher_is_better=True,
        shape=arguments.shape,
        texts=arguments.texts,
        precision=arguments.precision,
        device=device,
        threads=arguments.threads,
        difference=_largest(results["ours"], results["sentence-transformers"]),
        difference_from_float32={name: _largest(r[:BATCH], exact) for name, r in results.items()},
    )


def _largest(left: npt.NDArray[np.float32], right: npt.NDArray[np.float32]) -> float:
    """The largest difference of logits; of vectors, of their cosines with each other."""
    if left.ndim == 2:
        left, right = (vectors @ right.T for vectors in (left, right))
    return float(f"{np.abs(left - right).max():.1e}")


if __name__ == "__main__":
    main()
