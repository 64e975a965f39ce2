"""Small files in the formats of PubMed, of the TREC PM track, and of ir_datasets' MEDLINE 2017."""

from __future__ import annotations

import gzip
import io
import itertools
import tarfile
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

DOCTYPE = (
    '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2024//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_240101.dtd">\n'
)


def citation(
    pmid: object, title: str = "", abstract: str = "", mesh: tuple[str, ...] = (), version: int = 1
) -> str:
    """A MedlineCitation; `abstract` is text, or XML of its sections."""
    if abstract and "<AbstractText" not in abstract:
        abstract = f"<AbstractText>{abstract}</AbstractText>"
    headings = "".join(
        f'<MeshHeading><DescriptorName UI="D0" MajorTopicYN="N">{name}</DescriptorName>'
        "</MeshHeading>"
        for name in mesh
    )
    return f"""<MedlineCitation Status="MEDLINE" Owner="NLM">
<PMID Version="{version}">{pmid}</PMID>
<Article PubModel="Print"><Journal><JournalIssue CitedMedium="Print"><PubDate><Year>2016</Year>
</PubDate></JournalIssue></Journal><ArticleTitle>{title}</ArticleTitle>
{f"<Abstract>{abstract}</Abstract>" if abstract else ""}<Language>eng</Language></Article>
{f"<MeshHeadingList>{headings}</MeshHeadingList>" if mesh else ""}</MedlineCitation>
"""


def article(*arguments: object, **keywords: object) -> str:
    """A PubmedArticle."""
    record = citation(*arguments, **keywords)  # type: ignore[arg-type]
    return f"<PubmedArticle>{record}<PubmedData></PubmedData></PubmedArticle>\n"


def deletion(*pmids: object) -> str:
    """A DeleteCitation."""
    lines = "".join(f'<PMID Version="1">{pmid}</PMID>\n' for pmid in pmids)
    return f"<DeleteCitation>{lines}</DeleteCitation>\n"


def article_set(*entries: str, root: str = "PubmedArticleSet", doctype: str = DOCTYPE) -> bytes:
    """A whole file, unpacked."""
    return (
        f'<?xml version="1.0" encoding="utf-8"?>\n{doctype}<{root}>\n{"".join(entries)}</{root}>\n'
    ).encode()


def write_gz(path: Path, content: bytes) -> Path:
    """Write a gzipped file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(content, mtime=0))
    return path


def write_tar(path: Path, members: dict[str, bytes]) -> Path:
    """Write a tar.gz file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


DISEASES = ("Melanoma", "Glioma", "Lymphoma", "Sarcoma", "Leukemia", "Myeloma")
GENES = ("BRAF", "EGFR", "KRAS", "NRAS", "KIT")
WANTED = "therapy of patients in a trial with response and survival"
UNWANTED = "mouse assay of plasmid culture in cells"


def medline_home(home: Path) -> Path:
    """A folder of ir_datasets with MEDLINE 2017 and both years of TREC PM, in their formats.

    Every disease with every gene is two articles, one about patients (relevant) and one about
    mice, spread over five parts; the three extra conference abstracts are about nothing.
    """
    folder = home / "medline"
    pairs = list(itertools.product(DISEASES, GENES))
    parts: list[list[str]] = [[] for _ in range(5)]
    for number, (disease, gene) in enumerate(pairs):
        for kind, words in enumerate((WANTED, UNWANTED)):
            entry = article(
                1000 + 2 * number + kind,
                f"<i>{gene}</i> in {disease.lower()}.",
                f'<AbstractText Label="BACKGROUND">{disease} with {gene}.</AbstractText>'
                f'<AbstractText Label="RESULTS">{words}.</AbstractText>',
                mesh=(disease, "Humans"),
            )
            parts[number % 5].append(entry)
    parts[0].append(article(9, "First version", "old", version=1))
    parts[0].append(article(9, "Second version", "new", version=2))
    for number, entries in enumerate(parts, start=1):
        content = gzip.compress(article_set(*entries, doctype=""), mtime=0)
        write_tar(
            folder / f"2017/part{number}.tar.gz",
            {f"medline17n{number:04}.xml.gz": content, "README.txt": b"none of the articles"},
        )
    write_tar(
        folder / "2017/extra_abstracts.tar.gz",
        {
            f"extra/AACR_2015-{n}.txt": f"Meeting: M\nTitle: Talk {n}\n\nAbstract {n}.\n".encode()
            for n in range(3)
        },
    )
    _year(folder / "trec-pm-2017", pairs[::3], "<other>none</other>", pairs)
    _year(folder / "trec-pm-2018", [p for p in pairs if p not in pairs[::3]], "", pairs)
    return home


def _year(
    folder: Path, topics: list[tuple[str, str]], other: str, pairs: list[tuple[str, str]]
) -> None:
    folder.mkdir(parents=True)
    with (folder / "queries.xml").open("w") as file:
        file.write(f'<topics task="{folder.name}">\n')
        for number, (disease, gene) in enumerate(topics, start=1):
            file.write(
                f'  <topic number="{number}">\n    <disease>{disease}</disease>\n'
                f"    <gene>{gene} (V600E)</gene>\n"
                f"    <demographic>64-year-old\n male</demographic>\n    {other}\n  </topic>\n"
            )
        file.write("</topics>\n")
    with (folder / "qrels").open("w") as file:
        for number, topic in enumerate(topics, start=1):
            for place, (disease, gene) in enumerate(pairs):
                if disease == topic[0]:
                    grade = 2 if gene == topic[1] else 1
                    file.write(f"{number} 0 {1000 + 2 * place} {grade}\n")
                    file.write(f"{number} 0 {1001 + 2 * place} 0\n")
