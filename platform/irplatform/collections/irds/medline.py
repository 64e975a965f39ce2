"""MEDLINE of 2017 from ir_datasets' downloads, read by our own parser.

ir_datasets takes of an article the title and the first section of the abstract, each up to the
first italics; of a structured abstract that is the background alone, and MeSH headings are left
out. The files that it downloads have everything. They are read here with all cores.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform import storage
from irplatform.collections.archives import read_tar
from irplatform.collections.collection import Corpus
from irplatform.collections.irds import records
from irplatform.collections.irds.announce import reading
from irplatform.collections.irds.downloads import is_stored
from irplatform.collections.pubmed.baseline import DEFAULT_FIELDS, FORMAT, latest
from irplatform.collections.pubmed.packing import Member

if TYPE_CHECKING:
    from collections.abc import Iterator

    from irplatform.plugin import Document

DATASET = "medline/2017"
_PARTS = ("2017/part1", "2017/part2", "2017/part3", "2017/part4", "2017/part5")
_EXTRA = "2017/aacr_asco_extra"


class MedlineCorpus(Corpus):
    """MEDLINE's baseline of 2017 and the conference abstracts that TREC PM added to it."""

    name = DATASET.replace("/", "-")
    fields = DEFAULT_FIELDS

    @property
    def fingerprint(self) -> str:
        """Of the dataset's id: its files do not change under it."""
        return storage.fingerprint(
            {"ir_datasets": DATASET, "pubmed": FORMAT, "fields": [*self.fields]}
        )

    def __iter__(self) -> Iterator[Document]:
        """Stream the conference abstracts, then the articles.

        Raises:
            InputError: a file is damaged, or many gigabytes would have to be downloaded.
            PlatformError: a file could not be had, and what to do.
        """
        from ir_datasets.datasets.medline import AacrAscoDocs

        with reading(DATASET, "docs"):
            downloads = _downloads()
            yield from map(records.document, AacrAscoDocs(downloads[_EXTRA]).docs_iter())
            # The baseline is sorted by number: versions of an article lie in the same file, where
            # the highest is taken, so that the files' own order serves.
            members = (member for part in _PARTS for member in _members(downloads[part].path()))
            yield from latest(members, self.fields)

    def size_hint(self) -> int | None:
        """The number of records; there are a few articles less, since some have versions."""
        return _records()


def hint(dataset_id: str) -> dict[str, str]:
    """For the metadata of a dataset with these documents: how many there are, roughly."""
    return {"documents": f"about {_records():,}"} if dataset_id.startswith(f"{DATASET}/") else {}


def _records() -> int:
    import ir_datasets

    return int(ir_datasets.load(DATASET).docs_count())


def has_files() -> bool:
    """Whether the articles should be read from the downloaded files.

    Not where they were removed after ir_datasets had made its own copy of them.
    """
    import ir_datasets

    downloads = _downloads()
    files = (Path(downloads[part].path(force=False)) for part in (*_PARTS, _EXTRA))
    return not is_stored(ir_datasets.load(DATASET)) or all(file.exists() for file in files)


def _downloads() -> Any:
    from ir_datasets.util import DownloadConfig, home_path

    return DownloadConfig.context("medline", home_path() / "medline")


def _members(path: str) -> Iterator[Member]:
    for name, content in read_tar(Path(path), lambda name: name.endswith(".gz")):
        yield Member(f"{path}/{name}", content)
