"""Folders in BEIR layout: `corpus.jsonl`, `queries.jsonl`, `qrels/<split>.tsv`, gzipped or not.

Thakur, Reimers, Rücklé, Srivastava, Gurevych (NeurIPS 2021); mteb has `qrels/<split>.jsonl`. A
split is a collection. `train` trains rerankers for the others, `dev` validates that training, and
`unjudged` has the topics without judgments. A folder may have documents alone, or a `corpus.toml`
(`collection = "beir/nfcorpus/test"`) that names the collection whose documents its topics search.
`measures.txt` names the default measures, one a line.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import IO, TYPE_CHECKING

import orjson

from irplatform.collections.topic_formats import read_topics
from irplatform.data import Collection, Qrels
from irplatform.documents.jsonlines import BEIR, JsonLinesCorpus, pack
from irplatform.errors import InputError, unknown
from irplatform.files.formats import read_toml
from irplatform.files.reading import numbered_lines
from irplatform.spelling import command

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Self

    from irplatform.data import Corpus, Document, Topic

MEASURES_FILE = "measures.txt"
QRELS_HEADER = b"query-id\tcorpus-id\tscore\n"
LEVELS_HEADER = b"query-id\tcorpus-id\tlevel\n"
"""For judgments that may have decimals, see `read_qrels`."""
CORPUS_REFERENCE = "corpus.toml"
_HINT = 'It needs one line: collection = "a name, a path or an ir_datasets id".'
Find = Callable[[str], Collection]
"""Finds the collection of a name, a path or an id, of which only the documents are needed."""
DEFAULT_SPLIT = "test"
TRAINING_SPLIT = "train"
VALIDATION_SPLIT = "dev"
UNJUDGED = "unjudged"
"""The split of topics that no judgments name; a real split of that name takes precedence."""
_PARTS = ("learn", "train", "dev", "test")
"""Folders that are parts of another, and are called after it."""
_SUFFIXES = ("", ".gz")
_QRELS = (".tsv", ".tsv.gz", ".jsonl", ".jsonl.gz")


class NoSplitError(InputError):
    """A folder has several splits, and the user named none."""


class NoTopicsError(InputError):
    """A folder has documents alone, but topics are needed."""


def open_beir(path: Path, split: str | None = None, find: Find | None = None) -> Collection:
    """A split of a folder in BEIR layout, as a collection.

    The default split is `test`, or `unjudged` in a folder without judgments. `find` finds the
    collection that a `corpus.toml` names.

    Raises:
        InputError: a file or the split is missing (the splits that exist are named).
    """
    folder = BeirFolder.at(path)
    if split is None:
        split = DEFAULT_SPLIT if folder.splits else UNJUDGED
        if folder.splits and split not in folder.splits:
            choices = ", ".join(f"{path}:{name}" for name in folder.splits)
            raise NoSplitError(
                f"there is no split '{split}'. Choose one: {choices}, or {path}:{UNJUDGED} for the "
                "topics that none of these judges.",
                path=path,
            )
    if split not in folder.splits and split != UNJUDGED:
        hint = f"(Judgments are read from {path}/qrels.)"
        raise unknown("split", split, [*folder.splits, UNJUDGED], hint=hint)
    return _collection(folder, folder.open_corpus(find), split, evaluated=split)


def is_beir(path: Path) -> bool:
    """Return whether a folder holds a BEIR corpus or refers to one."""
    names = (*(f"corpus.jsonl{suffix}" for suffix in _SUFFIXES), CORPUS_REFERENCE)
    return any((path / name).is_file() for name in names)


@dataclass(frozen=True)
class BeirFolder:
    """The files of a folder in BEIR layout; `corpus` may name a collection of documents.

    Topics and judgments are read once for all splits.
    """

    path: Path
    corpus: Path
    queries: Path | None
    splits: dict[str, Path]
    _judgments: dict[str, Qrels] = field(default_factory=dict)

    @classmethod
    def at(cls, path: Path) -> BeirFolder:
        """Find the files of a folder that has documents."""
        qrels = path / "qrels"
        splits: dict[str, Path] = {}
        for ending in _QRELS:  # a plain file goes before a packed one
            for file in sorted(qrels.glob(f"[!.]*{ending}")):
                splits.setdefault(file.name.removesuffix(ending), file)
        reference = path / CORPUS_REFERENCE
        corpus = reference if reference.is_file() else _file(path, "corpus.jsonl")
        if corpus is None:
            raise InputError("there is no corpus.jsonl or corpus.jsonl.gz here.", path=path)
        return cls(path, corpus, _file(path, "queries.jsonl"), splits)

    @property
    def name(self) -> str:
        """The folder's name; for a part, such as `halves/test`, after that of its parent."""
        path = self.path.resolve()
        around = as_text(path.parent.name) if path.name in _PARTS else ""
        return f"{around}-{path.name}" if around else as_text(path.name)

    def id_of(self, split: str) -> str:
        """The id of a split; the split test of `halves/test` does not repeat its name."""
        is_named = split in _PARTS and self.path.resolve().name == split
        if self.queries is None and not self.splits:
            return self.name
        return self.name if is_named else f"{self.name}-{split}"

    def qrels(self, split: str) -> Qrels:
        """The judgments of a split."""
        from irplatform.evaluation.qrels import read_qrels

        if split not in self._judgments:
            self._judgments[split] = read_qrels(self.splits[split])
        return self._judgments[split]

    @cached_property
    def all_topics(self) -> Sequence[Topic]:
        """The topics of all splits."""
        assert self.queries is not None
        return read_topics(self.queries, "beir")

    def open_corpus(self, find: Find | None) -> Corpus:
        """The documents; `find` finds those of another collection."""
        if find is not None and self.corpus.name == CORPUS_REFERENCE:
            return referenced_corpus(self.corpus, find)
        return JsonLinesCorpus(self.name, [self.corpus], BEIR)


def _collection(folder: BeirFolder, corpus: Corpus, split: str, *, evaluated: str) -> Collection:
    open_split = partial(_collection, folder, corpus)
    is_training = split == TRAINING_SPLIT
    trains = TRAINING_SPLIT in folder.splits and not is_training
    validates = is_training and VALIDATION_SPLIT in folder.splits and evaluated != VALIDATION_SPLIT
    return Collection(
        id=folder.id_of(split),
        title=f"{folder.name}, split {split} (BEIR layout)"
        if folder.queries
        else f"{folder.name}, documents without topics (BEIR layout)",
        corpus=corpus,
        load_topics=partial(_topics, folder, split),
        load_qrels=partial(folder.qrels, split) if split in folder.splits else None,
        measures=_measures(folder.path / MEASURES_FILE),
        training=partial(open_split, TRAINING_SPLIT, evaluated=evaluated) if trains else None,
        validation=partial(open_split, VALIDATION_SPLIT, evaluated=evaluated)
        if validates
        else None,
        metadata={"folder": str(folder.path), "split": split, "splits": ", ".join(folder.splits)},
    )


def _measures(path: Path) -> tuple[str, ...]:
    if not path.is_file():
        return Collection.measures
    names = tuple(line.decode(errors="replace").strip() for _, line in numbered_lines(path))
    return names or Collection.measures


def _topics(folder: BeirFolder, split: str) -> list[Topic]:
    if folder.queries is None:
        raise NoTopicsError(
            "there are no topics here: neither queries.jsonl nor queries.jsonl.gz. Documents alone "
            f"can be searched with {command('search', query=None)}.",
            path=folder.path,
        )
    has_split = split in folder.splits
    judged = {
        topic_id
        for name in ([split] if has_split else folder.splits)
        for topic_id in folder.qrels(name)
    }
    topics = [topic for topic in folder.all_topics if (topic.id in judged) == has_split]
    if not topics:
        problem = "no topic is judged here" if has_split else "all topics are judged"
        raise InputError(f"{problem}: the split '{split}' has none.", path=folder.queries)
    return topics


def _file(folder: Path, name: str) -> Path | None:
    files = (folder / f"{name}{suffix}" for suffix in _SUFFIXES)
    return next((path for path in files if path.is_file()), None)


def referenced_corpus(path: Path, find: Find) -> Corpus:
    """The documents of the collection that a file names.

    A name with a first dot is a path relative to the file's real folder (links are followed).
    """
    try:
        content = read_toml(path)
    except InputError as error:
        raise InputError(f"{error.message} {_HINT}", path=path, line=error.line) from error
    name = content.get("collection")
    if not isinstance(name, str) or len(content) != 1:
        raise InputError(f"this does not name a collection. {_HINT}", path=path)
    target = os.path.normpath(path.parent.resolve() / name) if name.startswith(".") else name
    try:
        return find(target).corpus
    except InputError as error:
        raise InputError(f"the collection '{name}': {error}", path=path) from error


def as_text(name: str) -> str:
    """A file's name, with U+FFFD for bytes that are not UTF-8."""
    return os.fsencode(name).decode(errors="replace")


class BeirWriter:
    """Writes `queries.jsonl` and `qrels/<split>.tsv`, within a `with` block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._open = ExitStack()
        self._qrels: dict[str, IO[bytes]] = {}

    def __enter__(self) -> Self:
        (self.folder / "qrels").mkdir(parents=True, exist_ok=True)
        self._queries = self._open.enter_context((self.folder / "queries.jsonl").open("wb"))
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def query(self, query_id: str, text: str, metadata: Mapping[str, object] | None = None) -> None:
        """Write a query; metadata become fields of the topic."""
        query = {"_id": query_id, "text": text}
        record = query if metadata is None else {**query, "metadata": dict(metadata)}
        self._queries.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))

    def judge(self, split: str, query_id: str, grades: Mapping[str, float]) -> None:
        """Write the judgments of a query: document id to grade, or to level, which is a float."""
        levels = any(isinstance(grade, float) for grade in grades.values())
        self.qrels(split, levels=levels).writelines(
            f"{query_id}\t{doc_id}\t{grade:.12g}\n".encode() for doc_id, grade in grades.items()
        )

    def qrels(self, split: str, *, levels: bool = False) -> IO[bytes]:
        """A split's file, for callers that write the columns."""
        if split not in self._qrels:
            self._qrels[split] = self._open.enter_context(qrels_path(self.folder, split).open("wb"))
            self._qrels[split].write(LEVELS_HEADER if levels else QRELS_HEADER)
        return self._qrels[split]


def qrels_path(folder: Path, split: str) -> Path:
    """The file of a split's judgments."""
    return folder / "qrels" / f"{split}.tsv"


def write_measures(folder: Path, measures: Iterable[str]) -> None:
    """Write the names of the measures that are reported by default."""
    text = "".join(f"{measure}\n" for measure in measures)
    (folder / MEASURES_FILE).write_text(text, encoding="utf-8")


@contextmanager
def corpus_writer(folder: Path, *, fields: bool = True) -> Iterator[Callable[[Document], None]]:
    """Write `corpus.jsonl.gz`."""

    def write(document: Document) -> None:
        texts = {"_id": document.id, "title": document.title, "text": document.abstract}
        record = {**texts, "metadata": dict(document.fields)} if fields else texts
        file.write(orjson.dumps(record, option=orjson.OPT_APPEND_NEWLINE))

    with (folder / "corpus.jsonl.gz").open("wb") as raw, pack(raw) as file:
        yield write
