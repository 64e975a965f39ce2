"""Rerankers that learn the weights of one network, and vectors of documents that networks compute.

A model that sees a document without the query computes it once for the whole collection. These
vectors are an artifact named by the model's weights, read row by row through a memory map.
Importing this module loads no torch.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import numpy.typing as npt

from irplatform.files.code_digests import module_of
from irplatform.plugin.declarations import Traits
from irplatform.plugin.rerankers import TrainableReranker
from irplatform.system.console import QUICK, progress
from irplatform.text.arrays import Float32, new_matrix
from irplatform.training.linear import learn_standardization
from irplatform.training.loop import run_loop
from irplatform.training.weights import WeightFile

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from contextlib import AbstractContextManager
    from pathlib import Path

    from torch import Tensor, nn

    from irplatform.data import TrainingData
    from irplatform.plugin.resources import Resources
    from irplatform.training.loop import LoopSettings, Task


class NeuralReranker(TrainableReranker):
    """A reranker whose weights are those of one network, in the file `<model>.safetensors`.

    Define `score`; `prepare`, which takes what the network reads and calls `start`; and `task`, or
    `fit`, which makes a task of the data and calls `train`. `start` sets the network, in
    evaluation mode unless it is being trained, and the resources. `learn_standardization` writes
    mean and deviation of training features to two tensors.
    """

    model: ClassVar[str]
    learn_standardization = staticmethod(learn_standardization)

    network: Any
    resources: Resources
    options: Any

    def traits(self) -> Traits:
        """The packages of a network that reads word vectors."""
        return Traits(packages=("torch", "gensim", "safetensors"))

    def start(self, resources: Resources, make: Callable[[], nn.Module]) -> None:
        """Make the untrained network, from the seed and on the device of the resources."""
        import torch

        self.resources = resources
        torch.manual_seed(resources.seed)
        self.network = make().to(resources.device).eval()
        self._with_model(self.describe_model())  # fails now where something is missing

    def describe_model(self) -> Mapping[str, Any]:
        """Return what weights must have been saved with, as JSON: by default the sizes."""
        return asdict(self.network.sizes)

    def task(self, data: TrainingData, advance: Callable[[int], None]) -> Task:
        """Return the network in training, and `advance` by 1 for each topic that is read."""
        raise NotImplementedError(f"{type(self).__name__} does not define task() or fit()")

    def fit(self, data: TrainingData) -> None:
        """Train the network by the option `loop`."""
        with self.encoding(data) as advance:
            task = self.task(data, advance)
        self.train(task, self.options.loop, data)

    def weights_changed(self) -> None:
        """Renew what depends on the weights, after training and loading."""

    def encoding(self, data: TrainingData) -> AbstractContextManager[Callable[[int], None]]:
        """Return a display to `advance` by 1 for each topic that a task reads."""
        topics = len(data.training) + len(data.validation)
        return progress("encoding training topics", topics, "topics", part=QUICK)

    def train(self, task: Task, loop: LoopSettings, data: TrainingData) -> None:
        """Train the network with a display of the epochs; PlatformError if training diverges."""
        seed, workspace = self.resources.seed, data.workspace
        run_loop(task, loop, seed=seed, workspace=workspace, shown=True)
        self.weights_changed()

    def save(self, folder: Path) -> None:
        """Write the weights."""
        description = self._with_model(self.describe_model())
        WeightFile(folder / self._file).save(self.network.state_dict(), description)

    def load(self, folder: Path) -> None:
        """Read the weights; InputError if they are missing, damaged, or of another identity."""
        tensors = self.saved_weights(folder, self.describe_model())
        WeightFile(folder / self._file).load_into(self.network, tensors)
        self.weights_changed()

    def saved_weights(self, folder: Path, description: Mapping[str, Any]) -> dict[str, Tensor]:
        """Return weights that were saved in a folder with this identity."""
        return WeightFile(folder / self._file).load(self._with_model(description))

    @property
    def _file(self) -> str:
        return f"{self.model}.safetensors"

    def _with_model(self, description: Mapping[str, Any]) -> dict[str, Any]:
        return {"model": self.model, **description}


_FILE = "documents.npy"
_BLOCK = 512
"""Documents that are computed at once."""


def stored_documents(
    resources: Resources,
    kind: str,
    depends_on: Mapping[str, object],
    compute: Callable[[npt.NDArray[np.int64]], Float32],
    width: int,
) -> Float32:
    """Return vectors of all documents, float32 [documents, width], memory-mapped, from the cache.

    `kind` is unique to the plugin. For what they depend on besides the documents see
    `WeightFile.digest`. `compute` makes vectors [n, width] of the documents in some rows of the
    forward index.
    """
    count = resources.forward_index().count

    def build(folder: Path) -> None:
        vectors = new_matrix(folder / _FILE, (count, width))
        with resources.progress("computing document vectors", count, "documents") as advance:
            for start in range(0, count, _BLOCK):
                rows = np.arange(start, min(start + _BLOCK, count))
                vectors[rows] = compute(rows)
                advance(len(rows))
        vectors.flush()

    build.__module__ = module_of(compute)  # whose code makes the vectors, and is named with them
    folder = resources.artifact(kind, {**depends_on, "width": width}, build)
    vectors: Float32 = np.load(folder / _FILE, mmap_mode="r", allow_pickle=False)
    return vectors
