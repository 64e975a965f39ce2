"""An encoder that learned from pairs of texts; kept in the cache, and shared by all who ask."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from irplatform.errors import InputError
from irplatform.storage import file_digest, fingerprint
from irplatform.training import load_into, load_weights, run_loop, save_weights
from irplatform.training.stored_documents import vectors_digest
from irplatform_dual.encoder import FORMAT, Encoder
from irplatform_dual.learned import Learned
from irplatform_dual.pairs import describe, read_pairs
from irplatform_dual.pairs_task import PairsTask

if TYPE_CHECKING:
    from irplatform.plugin import Resources
    from irplatform.training.text_pairs import PairsOfTopics
    from irplatform_dual.options import EncoderOptions
    from irplatform_dual.pairs import Fold

_WEIGHTS = "dual-pairs.safetensors"


def pretrained(
    resources: Resources, options: EncoderOptions, without: PairsOfTopics | Fold
) -> tuple[Encoder, Learned]:
    """An encoder after training on `options.pairs`, and what it learned from."""
    pairs = options.pairs
    if pairs.file is not None and not pairs.file.is_file():
        raise InputError("there is no such file of pairs.", path=pairs.file)
    file = None if pairs.file is None else file_digest(pairs.file)
    encoder = Encoder(resources, options, pairs.seed)

    def build(folder: Path) -> None:
        training_pairs = read_pairs(pairs, encoder.reader, without)
        resources.notice(f"dual-encoder: learning from {len(training_pairs):,} pairs of texts")
        task = PairsTask(encoder.network, training_pairs, pairs)
        with (
            resources.progress(
                "learning from pairs", task.steps * pairs.loop.epochs, "steps"
            ) as advance,
            TemporaryDirectory(dir=folder) as workspace,
        ):
            task.advance = advance
            run_loop(task, pairs.loop, seed=pairs.seed, workspace=Path(workspace))
        save_weights(folder / _WEIGHTS, encoder.network.state_dict(), encoder.sizes())
        training_pairs.learned.save(folder)

    depends_on = {
        "format": FORMAT,
        "file": file,
        "pairs": pairs.model_dump(mode="json", exclude={"file"}),
        "sizes": encoder.sizes(),
        "vectors": vectors_digest(resources.vectors(options.vectors)),
        "without": fingerprint(describe(without)),
        "device": resources.device,
        "model_threads": resources.model_threads,
    }
    folder = resources.artifact("dual-encoder-pairs", depends_on, build)
    path = folder / _WEIGHTS
    load_into(encoder.network, load_weights(path, encoder.sizes()), path)
    encoder.network.eval()
    return encoder, Learned.load(folder)
