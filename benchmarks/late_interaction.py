"""Late interaction against sentence-transformers: encoding documents, and MaxSim of candidates.

`--what documents` encodes articles on both sides, with the same weights. `--what candidates` scores
one query's candidates, whose vectors are stored: here in a file that is mapped, compressed in each
way, there as float32 tensors in memory. The detail has bytes a document and the errors of scores of
each compression, against float32.

The model is all-MiniLM-L6-v2 (`--model minilm`) with a random projection to 128 numbers on top: it
ranks badly, but has a real one's size and vectors of real words. That of `--model random` has
random weights. Seconds are the processor's. Arithmetic is portable, unless
`IRPLATFORM_ARITHMETIC=native` is set.
"""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.system.arithmetic import choose_device  # first: it sets numpy's arithmetic
from irplatform.workers.distribution import available_cores

import numpy as np  # isort: skip

from _common import alternate, leave_out, parser, rate, report
from _models import MINILM, packaged_model
from encoding import BATCH, save_models
from irplatform_demo.collection import demo
from irplatform_encoders.multi_vector.maxsim import maxsim
from irplatform_encoders.multi_vector.model import TokenEncoder
from irplatform_encoders.multi_vector.options import MultiVectorOptions
from irplatform_encoders.multi_vector.vectors import packed, unpacked
from irplatform_encoders.records import RecordBlock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from irplatform.kit import Float32
    from irplatform_encoders.multi_vector.vectors import PartsOfDocuments

WIDTH = 128
KINDS = ("float32", "float16", "int8")
LENGTHS = {"query_expansion": {"strategy": "fixed", "attend": False, "length": 32}}


def save_model(folder: Path, name: str) -> Path:
    """A model of late interaction: a transformer with a random projection."""
    import torch
    from sentence_transformers import MultiVectorEncoder
    from sentence_transformers.base.modules import Dense, Normalize, Transformer
    from sentence_transformers.multi_vector_encoder.modules import MultiVectorMask

    if name == "minilm":
        base, lengths = packaged_model(MINILM), {**LENGTHS, "document_length": 300}
    else:
        save_models(folder, "minilm")
        base, lengths = folder / "transformer", {}
    transformer = Transformer(str(base), max_seq_length=512, **lengths)
    torch.manual_seed(1)
    token: dict[str, Any] = {"module_input_name": "token_embeddings"}
    width = transformer.get_embedding_dimension()
    top = Dense(width, WIDTH, bias=False, activation_function=torch.nn.Identity(), **token)
    modules = [transformer, top, MultiVectorMask(list(".,;:()")), Normalize(**token)]
    MultiVectorEncoder(modules=modules, device="cpu").save_pretrained(str(folder / "model"))
    return folder / "model"


def texts(data: Path, count: int) -> tuple[list[str], list[str]]:
    """Articles and queries: of NFCorpus, or of the demo where that is missing."""
    path = data / "nfcorpus" / "corpus.jsonl.gz"
    if not path.exists():
        collection = demo()
        articles = [document.text for document in collection.corpus][:count]
        return articles, [topic.query for topic in collection.topics]
    read = []
    for name in ("corpus", "queries"):
        with gzip.open(data / "nfcorpus" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            read.append([json.loads(line) for line in file])
    articles = [f"{article['title']} {article['text']}" for article in read[0]]
    return articles[:count], [query["text"] for query in read[1]][:: max(1, len(read[1]) // 50)]


def stored(parts: Sequence[Sequence[Float32]], kind: str, path: Path) -> PartsOfDocuments:
    """Vectors of documents in a file, as the cache has them."""
    records = [packed(vectors, np.dtype(kind)) for vectors in parts]
    sizes = np.array([len(record) for record in records])
    path.write_bytes(b"".join(records))
    block = RecordBlock(
        np.arange(len(sizes)), np.memmap(path, np.uint8, "r"), sizes.cumsum() - sizes, sizes
    )
    return unpacked(block, np.dtype(kind), WIDTH)


def of_documents(
    model: Path, read: list[str], device: str, cores: int
) -> dict[str, Callable[[], list[Float32]]]:
    """Vectors of documents' tokens from both sides."""
    from sentence_transformers import MultiVectorEncoder

    encoder = TokenEncoder(MultiVectorOptions(model=str(model), long="cut"), device, cores)
    peer_encoder = MultiVectorEncoder(str(model), device=device, local_files_only=True)

    def platform() -> list[Float32]:
        choose_device(device, 1)
        return [parts[0] for parts in encoder.documents(read)]

    def peer() -> list[Float32]:
        choose_device(device, cores)
        return peer_encoder.encode_document(
            read, batch_size=BATCH, convert_to_numpy=True, show_progress_bar=False
        )

    return {"ours": platform, "sentence-transformers": peer}


def documents(model: Path, read: list[str], device: str, cores: int, rounds: int) -> None:
    """Measure encoding, and print a line of JSON."""
    ways = of_documents(model, read, device, cores)
    matrices, peer_matrices = (side() for side in ways.values())
    largest = max(float(np.abs(a - b).max()) for a, b in zip(matrices, peer_matrices, strict=True))
    speed = {
        name: rate(len(read), times)
        for name, times in alternate(ways, rounds, time.process_time).items()
    }
    report(
        "late_interaction",
        speed["ours"],
        speed["sentence-transformers"],
        "documents/s of processor time",
        higher_is_better=True,
        device=device,
        threads=cores,
        tokens=round(float(np.mean([len(vectors) for vectors in matrices])), 1),
        difference=float(f"{largest:.1e}"),
    )


def candidates(
    model: Path, read: list[str], queries: list[str], device: str, cores: int, rounds: int
) -> None:
    """Measure MaxSim of all texts for each query, and print a line of JSON."""
    import torch
    from sentence_transformers.util.similarity import maxsim as peer_maxsim

    encoder = TokenEncoder(MultiVectorOptions(model=str(model)), device, cores)
    parts, query_vectors = encoder.documents(read), encoder.queries(queries)
    rows = [torch.from_numpy(part).to(device) for matrices in parts for part in matrices]
    tensors = [torch.from_numpy(query).to(device) for query in query_vectors]
    ways: dict[str, Callable[[], list[npt.NDArray[np.float64]]]] = {}
    size = {}
    with tempfile.TemporaryDirectory() as folder:
        for kind in KINDS:
            vectors = stored(parts, kind, Path(folder) / kind).vectors
            size[kind] = (Path(folder) / kind).stat().st_size / len(read)
            ways[kind] = lambda vectors=vectors: [
                maxsim(query, vectors, device, cores) for query in query_vectors
            ]

        def peer() -> list[npt.NDArray[np.float64]]:
            choose_device(device, cores)
            return [peer_maxsim([query], rows)[0].double().cpu().numpy() for query in tensors]

        ways["sentence-transformers"] = peer
        scores = {name: np.array(side()) for name, side in ways.items()}
        choose_device(device, 1)
        seconds = alternate(ways, rounds, time.process_time)
    exact = scores["float32"]
    best = np.argsort(-exact, axis=1)[:, :10]
    first = {name: np.argsort(-s, axis=1)[:, :10] for name, s in scores.items()}
    milliseconds = {name: 1e3 / rate(len(queries), times) for name, times in seconds.items()}
    report(
        "late_interaction",
        milliseconds["float16"],
        milliseconds["sentence-transformers"],
        f"ms of processor time for {len(rows):,} texts",
        higher_is_better=False,
        device=device,
        threads=cores,
        milliseconds={name: round(value, 1) for name, value in milliseconds.items()},
        bytes_a_document={name: round(value) for name, value in size.items()},
        largest_error={n: float(f"{np.abs(s - exact).max():.1e}") for n, s in scores.items()},
        mean_error={n: float(f"{np.abs(s - exact).mean():.1e}") for n, s in scores.items()},
        deviation_of_scores=round(float(exact.std(axis=1).mean()), 3),
        mean_score=round(float(exact.mean()), 2),
        same_first_ten={
            name: round(
                float(np.mean([len({*a} & {*b}) / len(a) for a, b in zip(f, best, strict=True)])), 4
            )
            for name, f in first.items()
        },
    )


def main() -> None:
    """Measure, and print a line of JSON."""
    command_line = parser(__doc__.split("\n")[0])
    command_line.add_argument("--what", choices=["documents", "candidates"], default="candidates")
    command_line.add_argument("--model", choices=["minilm", "random"], default="minilm")
    command_line.add_argument("--device", default="cpu")
    command_line.add_argument("--count", type=int, default=1000, help="documents")
    command_line.add_argument("--queries", type=int, default=20)
    command_line.add_argument("--threads", type=int, default=available_cores())
    arguments = command_line.parse_args()
    if find_spec("sentence_transformers.multi_vector_encoder") is None:
        leave_out("sentence-transformers has multi-vector models since 6.0.")
    device = choose_device(arguments.device, arguments.threads)
    read, queries = texts(arguments.data, arguments.count)
    with tempfile.TemporaryDirectory() as folder:
        model = save_model(Path(folder), arguments.model)
        if arguments.what == "documents":
            documents(model, read, device, arguments.threads, arguments.rounds)
        else:
            sample = queries[: arguments.queries]
            candidates(model, read, sample, device, arguments.threads, arguments.rounds)


if __name__ == "__main__":
    main()
