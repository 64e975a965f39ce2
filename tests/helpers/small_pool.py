"""A small closed pool: what PubMed, the track's archive and NIST have of it."""

from __future__ import annotations

import io
import tarfile
from typing import TYPE_CHECKING

from irplatform.plugin import Document

if TYPE_CHECKING:
    from pathlib import Path

TOPICS = """\
<topics task="{year} TREC Precision Medicine">
  <topic number="1"><disease>Melanoma</disease><gene>BRAF (V600E)</gene></topic>
  <topic number="2"><disease>Liposarcoma</disease><gene>CDK4</gene></topic>
</topics>
"""
ABSTRACTS = {"AACR_2012-1": "Meeting talk one", "ASCO_7-199": "Meeting talk two"}


def articles(count: int) -> list[Document]:
    """Articles 1, 2, … with text of their own."""
    return [
        Document(
            str(number),
            f"Melanoma case {number} <i>",
            f"BRAF was seen in patient {number}. " * (1 + number % 3),
            {"mesh": ("Humans", f"Term {number % 5}")} if number % 4 else {},
        )
        for number in range(1, count + 1)
    ]


def write_year(folder: Path, year: int, judged: list[str]) -> dict[str, Path]:
    """Topics, qrels and sampled qrels in which every third document is relevant."""
    files = {
        "topics": folder / f"topics{year}.xml",
        "qrels": folder / f"qrels{year}.txt",
        "sampled-qrels": folder / f"sampled{year}.txt",
    }
    folder.mkdir(parents=True, exist_ok=True)
    lines = [(1 + i % 2, name, (i % 3 == 0) + (i % 6 == 0)) for i, name in enumerate(judged)]
    files["topics"].write_text(TOPICS.format(year=year))
    files["qrels"].write_text("".join(f"{topic} 0 {d} {grade}\n" for topic, d, grade in lines))
    sample = "".join(f"{topic} 0 {d} 1 {grade}\n" for topic, d, grade in lines)
    files["sampled-qrels"].write_text(sample + "1 0 99999999 2 -1\n")
    return files


def write_archive(path: Path) -> Path:
    """The conference abstracts, as the track packs them."""
    with tarfile.open(path, "w:gz") as archive:
        for name, text in ABSTRACTS.items():
            content = f"Meeting: {name[:4]} Annual Meeting\nTitle: {text}\n\nAbout {text}.\n"
            entry = tarfile.TarInfo(f"extra_abstracts/{name}.txt")
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content.encode()))
    return path


def arguments(files: dict[str, Path], partner: dict[str, Path] | None = None) -> list[str]:
    """The options that name these files."""
    pairs = [(f"--{option}", path) for option, path in files.items()]
    pairs += [(f"--partner-{option}", path) for option, path in (partner or {}).items()]
    return [str(part) for pair in pairs for part in pair]


def contents(folder: Path) -> dict[str, bytes]:
    """Every file under a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
