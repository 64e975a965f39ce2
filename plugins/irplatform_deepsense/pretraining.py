"""Pre-trained F and G in the cache: taught once, and where every member of a system starts.

Articles that cite in the topics of training or validation are left out, so that validation tells of
articles never seen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from irplatform.digests import digest
from irplatform.errors import counted
from irplatform.storage import fingerprint
from irplatform.training import LoopSettings, load_weights, run_loop, save_weights
from irplatform.training.text_pairs import PairsOfTopics
from irplatform_deepsense.network import DeepSenSeNetwork
from irplatform_deepsense.pairs import ARTICLE, read_pairs
from irplatform_deepsense.pairs_task import PairNetwork, PairsTask

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from torch import Tensor

    from irplatform.plugin import Resources, Topic
    from irplatform_deepsense.encoding import Encoder
    from irplatform_deepsense.options import DeepSenSeOptions

FORMAT = 2
_WEIGHTS = "deepsense-pairs.safetensors"


def pretrained(
    resources: Resources,
    network: DeepSenSeNetwork,
    encoder: Encoder,
    options: DeepSenSeOptions,
    topics: Sequence[Topic],
) -> dict[str, Tensor]:
    """Weights of F and G after pre-training on `options.pairs.file`, or from the cache."""
    pairs = options.pairs
    if pairs.file is None:
        return {}
    path = pairs.file
    excluded = PairsOfTopics.of(topics, ARTICLE)

    def build(folder: Path) -> None:
        training_pairs = read_pairs(path, encoder, pairs.sentences, excluded)
        resources.notice(
            f"pre-training on {counted(len(training_pairs), 'sentence')} of {path.name}"
        )
        torch.manual_seed(pairs.seed)
        module = PairNetwork(DeepSenSeNetwork(network.sizes, options.dropout))
        task = PairsTask(module.to(resources.device), encoder, pairs, training_pairs)
        loop = LoopSettings(
            optimizer="adam", learning_rate=pairs.learning_rate, epochs=pairs.epochs
        )
        with resources.progress("pre-training", task.steps * pairs.epochs, "steps") as advance:
            task.advance = advance
            run_loop(task, loop, seed=pairs.seed, workspace=folder)
        for file in folder.iterdir():
            file.unlink()  # the loop's own state
        save_weights(folder / _WEIGHTS, module.network.shared_state(), {})

    depends_on = {
        "format": FORMAT,
        "file": digest(path),
        "options": options.model_dump(
            mode="json",
            include={"vectors", "dropout", "query_words", "title_words", "document_stop_words"},
        ),
        "pairs": pairs.model_dump(mode="json", exclude={"file"}),
        "weights": {name: list(w.shape) for name, w in network.shared_state().items()},
        "sizes": [network.sizes.compare_on, network.sizes.product, network.sizes.pooling],
        "left out": fingerprint(
            {"articles": sorted(excluded.sources), "sentences": sorted(excluded.queries)}
        ),
        "device": resources.device,
        "model_threads": resources.model_threads,
    }
    return load_weights(resources.artifact("deepsense-pairs", depends_on, build) / _WEIGHTS)
