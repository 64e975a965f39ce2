"""Checkpoints: the folders of trained rerankers, which can be moved.

    checkpoint.json   the reranker, its options, its training topics, its weight of
        interpolation
    member-0/ …       what each member saved
    vectors/KEY/ …    the word vectors that they were trained with, by `VectorSource.key`
    words/ …          the statistics of the collection's words that they read, to score texts

A checkpoint knows its training topics: its scores of these show what it remembers.
"""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, counted
from irplatform.files.cache import damaged_file
from irplatform.files.digests import digests
from irplatform.files.formats import read_own_json
from irplatform.files.writing import home
from irplatform.plugin.rerankers import TrainableReranker
from irplatform.spelling import option
from irplatform.training.topic_identity import query_mark, topic_marks
from irplatform.training.weights import WeightFile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from irplatform.data import Topic
    from irplatform.plugin.rerankers import Reranker
    from irplatform.registry.registration import Registration

KIND = "checkpoint"
"""The folder of the cache that holds them."""
FORMAT = 2
_DESCRIPTION = "checkpoint.json"
_VECTORS = "vectors"
_QUERIES = "queries"
_WORDS = "words"
STATISTICS = "forward-index"
"""Names what a forward index knows of words."""


@dataclass(frozen=True)
class Checkpoint:
    """A checkpoint whose description has been read and checked.

    `weight` is the first stage's share in interpolation. `queries` has marks of all queries that it
    learned from: of training, pre-training, validation, pairs of texts, and checkpoints whose
    scores it reads.
    """

    folder: Path
    reranker: str
    options: Mapping[str, object]
    members: int
    weight: float
    queries: frozenset[str]
    description: Mapping[str, Any]

    @classmethod
    def read(cls, folder: Path, *, of: str | None = None) -> Checkpoint:
        """Read the description of a checkpoint `of` a reranker, or of any.

        Raises:
            InputError: it is not a checkpoint, or one of another format or reranker.
        """
        if folder.is_file():
            raise InputError(
                "a checkpoint is the folder that `platform train` writes, not a file. Pickled "
                "models (.pt, .pkl) are not read, since they can run code.",
                path=folder,
            )
        try:
            description = read_own_json(folder / _DESCRIPTION)
            if (form := description["format"]) != FORMAT:
                raise InputError(
                    f"this checkpoint has format {form}; this version reads format {FORMAT}. "
                    "Train it again.",
                    path=folder,
                )
            checkpoint = cls(
                folder=folder,
                reranker=str(description["reranker"]),
                options=dict(description["options"]),
                members=int(description["members"]),
                weight=float(description["interpolation"]["weight"]),
                queries=frozenset(description[_QUERIES]),
                description=description,
            )
            if checkpoint.members < 1 or not 0 <= checkpoint.weight <= 1:
                raise ValueError("no members, or a weight that is none")
        except FileNotFoundError as error:
            raise InputError(
                f"there is no checkpoint here: {_DESCRIPTION} is missing.", path=folder
            ) from error
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(
                "this is not a checkpoint's description.", path=folder / _DESCRIPTION
            ) from error
        if of not in (None, checkpoint.reranker):
            raise InputError(
                f"this is a checkpoint of '{checkpoint.reranker}', not of '{of}'. "
                f"Use {option('rerankers', checkpoint.reranker)}.",
                path=folder,
            )
        return checkpoint

    @property
    def vectors(self) -> dict[str, Path]:
        """The folders of the word vectors that it was trained with, by `VectorSource.key`."""
        folders = (self.folder / _VECTORS).glob("*")
        return {path.name: path for path in sorted(folders) if path.is_dir()}

    def learned(self, topics: Sequence[Topic]) -> list[Topic]:
        """Return the topics that it was trained on; see `topic_marks`."""
        return [topic for topic in topics if topic_marks(topic) & self.queries]

    @property
    def words(self) -> Path:
        """The folder of the statistics of words."""
        return self.folder / _WORDS

    def folders(self) -> list[Path]:
        """The folders of its members' files."""
        return [member_folder(self.folder, number) for number in range(self.members)]

    @property
    def weights(self) -> dict[str, str]:
        """Digests of its members' files: trainings with one description may differ in these."""
        files = sorted(
            path for folder in self.folders() for path in folder.rglob("*") if path.is_file()
        )
        names = [path.relative_to(self.folder).as_posix() for path in files]
        return dict(zip(names, digests(files), strict=True))

    def describe(self) -> dict[str, Any]:
        """The description without the marks of topics, which may be many thousands."""
        return {name: value for name, value in self.description.items() if name != _QUERIES}

    def check_members(self) -> None:
        """Check that every member's files are there and whole; InputError names file and tensor."""
        for number in range(self.members):
            folder = member_folder(self.folder, number)
            if not folder.is_dir() or not any(folder.iterdir()):
                raise InputError(
                    f"this checkpoint has {counted(self.members, 'member')}, and what member "
                    f"{number + 1} saved is missing. Was it copied whole?",
                    path=folder,
                )
        self.check_files()

    def check_files(self) -> None:
        """Check that no file is damaged; InputError names the file and tensor."""
        for weights in sorted(self.folder.rglob("*.safetensors")):
            WeightFile(weights).check()
        for folder in (self.folder, *self.vectors.values()):
            if (damaged := damaged_file(folder)) is not None:
                raise InputError(
                    "this file of a checkpoint is damaged: it is not what training wrote. Copy the "
                    "checkpoint again, or train again.",
                    path=damaged,
                )

    def load(
        self, registration: Registration[Reranker], create: Callable[[], Reranker]
    ) -> list[Reranker]:
        """Return its members, ready to score."""
        members: list[Reranker] = []
        for number in range(self.members):
            member = create()
            if not isinstance(member, TrainableReranker):
                raise InputError(
                    f"'{registration.name}' does not learn, so it has no checkpoints.",
                    path=self.folder,
                )
            with registration.plugin_call("loading a checkpoint"):
                member.load(member_folder(self.folder, number))
            members.append(member)
        return members


def member_folder(folder: Path, number: int) -> Path:
    """Return the folder of a member's files, counted from 0."""
    return folder / f"member-{number}"


def write_checkpoint(
    folder: Path,
    members: int,
    vectors: Mapping[str, Path],
    topics: Sequence[Topic],
    description: Mapping[str, Any],
    inner: Sequence[Path] = (),
    query_texts: Iterable[str] = (),
    words: Mapping[str, Path] = MappingProxyType({}),
) -> None:
    """Complete a checkpoint, whose members have written their folders.

    `description` has at least `reranker`, `options` and `interpolation` with its `weight`. Queries
    are those of the topics, of `inner` checkpoints that it was trained with, and those of
    `query_texts`. `words` are the folders of what it read of the collection's words, by kind.
    """
    shutil.rmtree(folder / _VECTORS, ignore_errors=True)
    for key, source in vectors.items():
        shutil.copytree(source, folder / _VECTORS / key, copy_function=_link_or_copy)
    from irplatform.text.forward_index import ForwardIndex, WordStatistics

    shutil.rmtree(folder / _WORDS, ignore_errors=True)
    for kind, source in words.items():
        if kind == STATISTICS:
            (folder / _WORDS).mkdir(exist_ok=True)
            WordStatistics.keep(ForwardIndex.open(source), folder / _WORDS / f"{kind}.npz")
        else:
            shutil.copytree(source, folder / _WORDS / kind, copy_function=_link_or_copy)
    queries = {mark for topic in topics for mark in topic_marks(topic)}
    queries.update(map(query_mark, query_texts))
    recorded = {
        "format": FORMAT,
        "members": members,
        **description,
        _QUERIES: sorted(queries.union(*(Checkpoint.read(other).queries for other in inner))),
    }
    text = json.dumps(recorded, indent=1)
    (folder / _DESCRIPTION).write_text(text + "\n", encoding="utf-8")


def cached_checkpoints() -> Iterator[Checkpoint]:
    """Yield the checkpoints in the cache that this version can read, by name."""
    for path in sorted((home() / KIND).glob(f"*/{_DESCRIPTION}")):
        try:
            yield Checkpoint.read(path.parent)
        except InputError:  # of another version
            continue


def _link_or_copy(source: str, target: str) -> None:
    """Share the bytes of large files that never change, if the file system can."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
