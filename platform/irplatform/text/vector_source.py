"""The source of word vectors: a file of published ones, a checkpoint, or training on a corpus."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError
from irplatform.files.cache import Artifact, artifact
from irplatform.files.costs import Work
from irplatform.files.digests import HashedFiles, digest, digests, fingerprint
from irplatform.text.extra_text import ending

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from irplatform.data import Corpus
    from irplatform.text import VectorOptions

_IMPORTED = "imported"


@dataclass(frozen=True)
class VectorSource:
    """The source of word vectors: a file of published ones, or training with extra text files.

    `ready` are folders of vectors from a checkpoint, by `key`. They take precedence: a model needs
    the vectors that it was trained with.
    """

    imported: Path | None = None
    extra_text: tuple[Path, ...] = ()
    ready: Mapping[str, Path] = field(default_factory=dict)
    files: Mapping[str, Any] | None = None
    """Digests of the user's files, known where these may be missing: on another machine."""

    def __post_init__(self) -> None:
        if self.files is not None:
            return
        for path in (*self.extra_text, *([self.imported] if self.imported else [])):
            if not path.is_file():
                raise InputError("there is no such file of text or word vectors.", path=path)

    def check(self) -> None:
        """Refuse the user's files if their beginnings show no vectors or no text."""
        from irplatform.text.extra_text import read_paragraphs
        from irplatform.text.vectors import recognize

        if self.imported is not None:
            recognize(self.imported)
        for path in self.extra_text:
            if next(read_paragraphs(path), None) is None:
                raise InputError("there is no text in this file.", path=path)

    def key(self, options: VectorOptions) -> str:
        """A key for the vectors that some options get: published vectors are the same for all."""
        of_options = fingerprint(options.model_dump())
        if of_options in self.ready:
            return of_options
        return _IMPORTED if _IMPORTED in self.ready or self.imported else of_options

    def describe(self) -> dict[str, Any]:
        """The source as part of a fingerprint."""
        ready = {key: digests(_files(folder)) for key, folder in sorted(self.ready.items())}
        return {**self._of_user, **({"ready": ready} if ready else {})}

    def for_another_machine(self) -> VectorSource:
        """The same, described without the user's files."""
        return replace(self, files=self._of_user)

    @property
    def _of_user(self) -> Mapping[str, Any]:
        if self.files is not None:
            return self.files
        return {
            "imported": digest(self.imported) if self.imported else None,
            "extra_text": [
                [mark, ending(path)]
                for path, mark in zip(self.extra_text, digests(self.extra_text), strict=True)
            ],
        }

    def open(self, corpus: Corpus, options: VectorOptions) -> Artifact:
        """The folder of the vectors, trained on the corpus if they are missing."""
        from irplatform.text import import_vectors, train_vectors
        from irplatform.text.vectors import IMPORTED_FORMAT, VECTORS_FORMAT

        if folder := self.ready.get(self.key(options)):
            mark = fingerprint({"files": digests(_files(folder))})
            return Artifact(folder, mark, built=False, seconds=0.0)
        paths = (*([self.imported] if self.imported else []), *self.extra_text)
        files = HashedFiles(paths if self.files is None else ())
        files.digests()
        made_from: dict[str, Any] = {"source": self._of_user, "format": VECTORS_FORMAT}
        label = corpus.name
        if self.imported:
            label = self.imported.name
            made_from["format"] = IMPORTED_FORMAT
        else:
            made_from |= {"corpus": corpus.fingerprint, "options": options.model_dump()}

        def build(folder: Path) -> None:
            if self.imported:
                import_vectors(self.imported, folder)
            else:
                total = corpus.size_hint()
                train_vectors(corpus, self.extra_text, options, folder, total=total)
            for path in paths:
                files.check(path)

        work = None if self.imported else Work("vectors", amount=corpus.size_hint() or 1)
        return artifact("vectors", label, made_from, build, work=work)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_file())
