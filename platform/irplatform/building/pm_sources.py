"""The sources of a year of TREC Precision Medicine: topics, judgments, conference abstracts.

Topics and qrels are ir_datasets' downloads, sampled judgments are NIST's, and the AACR and ASCO
abstracts, which PubMed does not have, are in the track's archive; or the user gives files. An
abstract is a text file named after its id: a line "Meeting: …", then "Title: …" down to the first
blank line, then the abstract. They are read in place, from a tar or a folder.
"""

from __future__ import annotations

import os
import re
import tempfile
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from irplatform.collections.irds import SAMPLED_QRELS, sampled_place
from irplatform.collections.irds_downloads import fetch_file, missing_file
from irplatform.data import Document
from irplatform.errors import InputError, PlatformError
from irplatform.files.reading import open_bytes, read_tar
from irplatform.files.writing import atomic_write
from irplatform.spelling import option
from irplatform.system.console import notice
from irplatform.system.web import check_url, request, with_retries

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Mapping

    from irplatform.data import Qrels
    from irplatform.evaluation.sampled import SampledQrels

YEARS = (2017, 2018)
QUERY = "{disease} {gene}"
JUDGED: Mapping[int, int] = {2017: 18_729, 2018: 16_510}
"""Judged documents of each year; 2,098 of them are the same."""
_FAMILY = "medline"
_ARCHIVE = "2017/aacr_asco_extra"
_ID = re.compile(r"(?:AACR|ASCO)_\S+")
_LARGEST = 1 << 20
"""Bytes of an abstract's file; the longest of the track has a hundredth of that."""
_FORMAT = "It needs a line 'Meeting: …', a line 'Title: …', a blank line, and the abstract."


@dataclass(frozen=True)
class TrackFiles:
    """Files of the user, in the track's formats, instead of downloads."""

    topics: Path | None = None
    qrels: Path | None = None
    sampled: Path | None = None

    def __bool__(self) -> bool:
        return any((self.topics, self.qrels, self.sampled))


@dataclass(frozen=True)
class Year:
    """The files of a year, relative to a collection's folder, and its judgments."""

    year: int
    topics: str
    qrels: str
    sampled: str | None
    judged: Qrels


def pool_name(year: int) -> str:
    """Name of a year's collection."""
    return f"trec-pm-pool-{year}"


def needed(year: int, paths: TrackFiles) -> list[str]:
    """The downloads of `gather` for a year, with sizes if known."""
    downloads = [
        missing_file(_FAMILY, f"trec-pm-{year}/{part}")
        for part, file in (("queries", paths.topics), ("qrels", paths.qrels))
        if file is None
    ]
    files = [str(download) for download in downloads if download]
    if not (paths.sampled or paths.qrels) and not sampled_place(_dataset(year)).exists():
        files.append(f"{_sampled_url(year)} (about 1 MB)")
    return files


def local_qrels(year: int, paths: TrackFiles) -> Qrels | None:
    """The judgments of a year, if they need no download."""
    from irplatform.evaluation.qrels import read_qrels

    if paths.qrels:
        return read_qrels(paths.qrels)
    name = f"trec-pm-{year}/qrels"
    if missing_file(_FAMILY, name):
        return None
    return read_qrels(fetch_file(_FAMILY, name, instead=""))


def gather(year: int, paths: TrackFiles, folder: Path) -> Year:
    """Bring the files of a year into a folder, and check that they are of one year.

    Raises:
        InputError: a file is wrong, or the files contradict each other.
        PlatformError: a file could not be downloaded.
    """
    from irplatform.collections.topic_formats import read_topics
    from irplatform.evaluation.qrels import read_qrels
    from irplatform.evaluation.sampled import read_sampled_qrels

    topics, qrels = f"topics/topics{year}.xml", f"qrels/qrels-treceval-abstracts.{year}.txt"
    sample = f"qrels/qrels-sample-abstracts.{year}.txt"
    source = paths.topics or _fetch(year, "queries", option("topics", "FILE"))
    read_topics(source, "trec-pm", QUERY)
    _copy(source, folder / topics)
    source = paths.qrels or _fetch(year, "qrels", option("qrels", "FILE"))
    judged = read_qrels(source)
    _copy(source, folder / qrels)
    if paths.qrels and not paths.sampled:  # judgments that could be others'
        return Year(year, topics, qrels, None, judged)
    source = paths.sampled or _sampled(year)
    _check_sample(read_sampled_qrels(source), judged, source)
    _copy(source, folder / sample)
    return Year(year, topics, qrels, sample, judged)


def archive_needed() -> str:
    """The download of `archive`; "" if it is there."""
    return str(missing_file(_FAMILY, _ARCHIVE) or "")


def archive() -> Path:
    """The track's archive of conference abstracts, downloaded if it is not there."""
    instead = f"use {option('extra_abstracts', 'PATH')} or {option('extra_abstracts', False)}"
    return fetch_file(_FAMILY, _ARCHIVE, instead=instead)


def _fetch(year: int, part: str, setting: str) -> Path:
    return fetch_file(_FAMILY, f"trec-pm-{year}/{part}", instead=f"give the file with {setting}")


def _sampled_url(year: int) -> str:
    url = SAMPLED_QRELS[_dataset(year)]
    mirror = os.environ.get("IRPLATFORM_TREC_URL")
    if not mirror:
        return url
    return f"{check_url(mirror, 'IRPLATFORM_TREC_URL')}/{url.rpartition('/')[2]}"


def _sampled(year: int) -> Path:
    """The sampled judgments, saved where the full collection finds them, too."""
    path = sampled_place(_dataset(year))
    if not path.exists():
        url = _sampled_url(year)
        notice(f"downloading sampled judgments: {url} (about 1 MB) to {path}")
        _, body = with_retries(lambda: request("GET", url), url)
        _check_download(body, url)
        with atomic_write(path, "wb") as file:
            file.write(body)
    return path


def _check_download(body: bytes, url: str) -> None:
    """Refuse a web page in place of the file, as proxies send."""
    from irplatform.evaluation.sampled import read_sampled_qrels

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "answer"
        path.write_bytes(body)
        try:
            read_sampled_qrels(path)
        except InputError as error:
            raise PlatformError(f"{url} is not a file of sampled judgments ({error})") from error


def _dataset(year: int) -> str:
    return f"{_FAMILY}/2017/trec-pm-{year}"


def _copy(source: Path, target: Path) -> None:
    with open_bytes(source) as content, atomic_write(target, "wb") as file:
        file.write(content.read())


def _check_sample(sample: SampledQrels, judged: Qrels, path: Path) -> None:
    """Check that sampled and plain judgments are the same ones."""
    from irplatform.evaluation.sampled import judged_documents

    for topic, grades in judged_documents(sample).items():
        plain = judged.get(topic, {})
        for document, grade in grades.items():
            if plain.get(document) != grade:
                raise InputError(
                    f"topic '{topic}' judges document '{document}' as {grade} here, but the qrels "
                    f"say {plain.get(document, 'nothing')}. Both files must be of the same year.",
                    path=path,
                )


def is_extra(document_id: str) -> bool:
    """Return whether an id is that of a conference abstract."""
    return _ID.fullmatch(document_id) is not None


def read_extra_abstracts(path: Path, ids: Container[str]) -> dict[str, Document]:
    """Find conference abstracts in a tar or folder: by id, with the field `meeting`.

    Raises:
        InputError: it is neither, or damaged, or a wanted file has another format.
    """
    abstracts: dict[str, Document] = {}
    for name, content in _members(path, ids):
        abstracts.setdefault(name, _document(name, content, path))
    return abstracts


def _members(path: Path, ids: Container[str]) -> Iterator[tuple[str, bytes]]:
    if path.is_dir():
        for file in sorted(path.rglob("*.txt")):
            if (name := _id(file.name)) in ids:
                yield name, file.read_bytes()[:_LARGEST]
        return
    try:
        for name, content in read_tar(path, lambda name: _id(name) in ids, most=_LARGEST):
            yield _id(name), content
    except InputError as error:
        message = f"this cannot be read as a folder or tar of abstracts: {error.message}"
        raise InputError(message, path=path) from error


def _id(member: str) -> str:
    return PurePosixPath(member).name.partition(".")[0]


def _document(name: str, content: bytes, path: Path) -> Document:
    try:
        text = iter(content.decode("utf-8-sig").splitlines())
    except UnicodeDecodeError as error:
        raise InputError(f"the abstract {name} in it is not UTF-8.", path=path) from error
    meeting = next(text, "")
    title: list[str] = []
    for line in text:
        if line.strip():
            title.append(line)
        elif title:
            break
    heading = _joined(title)
    if not (meeting.startswith("Meeting:") and heading.startswith("Title:")):
        raise InputError(f"the abstract {name} in it has another format. {_FORMAT}", path=path)
    meeting = _joined([meeting.removeprefix("Meeting:")])
    fields = {"meeting": meeting} if meeting else {}
    return Document(name, heading.removeprefix("Title:").strip(), _joined(text), fields)


def _joined(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())
