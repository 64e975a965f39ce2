"""BibTeX of what a run used: its systems, collections and tools.

Systems cite their papers in `citation`, as text or as BibTeX. In a text, papers that
`references.bib` holds are recognized by their titles; any other text becomes an entry of its own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from irplatform.errors import InputError, PlatformError, unknown
from irplatform.experiment.arguments import as_paths
from irplatform.registry.loading import registry
from irplatform.run_folder.listed import described_runs, gone_told, listed_runs, runs_in
from irplatform.run_folder.metadata_files import known_metadata
from irplatform.runs.fusion import fusion_methods
from irplatform.runs.fusion.ranks import Ranks
from irplatform.system.console import notice
from irplatform.system.packages import absent
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from irplatform.experiment.arguments import Paths
    from irplatform.run_folder.metadata_model import RunMetadata

_ENTRY = re.compile(r"^\s*@(\w+)\s*\{\s*([^,\s]+)\s*,", re.MULTILINE)
_ALIASES = re.compile(r",\s*aliases\s*=\s*\{[^{}]*\}")
_TEXT = re.compile(
    r"(?P<author>[^.]+?(?: [A-Z]\.[^.]+?)*)\. (?P<title>[^.]+[.?]) "
    r"(?P<where>.*?\b(?P<year>(19|20)\d\d)\b.*)",
    re.DOTALL,
)
"""A citation in words: Authors. Title. Where, year."""
_FEWEST_WORDS = 4
_SHOWN = ("author", "title", "year")
_COLLECTIONS = {
    r"trec-pm.*2017": ("roberts2017trecpm",),
    r"trec-pm.*2018": ("roberts2018trecpm",),
    r"nfcorpus": ("boteva2016nfcorpus",),
    r"bioasq": ("tsatsaronis2015bioasq",),
}
"""Patterns in a collection's id → keys in `references.bib`."""


@dataclass(frozen=True)
class Reference:
    """An entry of a bibliography.

    Attributes:
        key: its key in BibTeX.
        entry: the entry.
        used_for: what it is cited for, such as "reranker delta".
    """

    key: str
    entry: str
    used_for: tuple[str, ...] = ()


def cite(names: Paths) -> list[Reference]:
    """Return the bibliography of runs, systems and collections.

    Args:
        names: run files with their metadata, folders of them or reports of `run`, and names of
            retrievers, rerankers, feature groups and collections.

    Raises:
        InputError: a name is none of these, or a run has no metadata.

    Examples:
        >>> import irplatform as ir
        >>> [reference.key for reference in ir.cite(["bm25"])]
        ['robertson2009bm25']
    """
    return _merged(
        reference for path in as_paths(names, "names") for reference in _of_name(str(path))
    )


def as_bibtex(references: Iterable[Reference]) -> str:
    """Return a bibliography as the content of a .bib file, each entry with what it is cited for."""
    entries = (
        f"% {'; '.join(reference.used_for)}\n{reference.entry}\n" for reference in references
    )
    return "\n".join(entries)


def references_of(citation: str, name: str) -> list[Reference]:
    """Return the entries that a system's `citation` stands for.

    Args:
        citation: BibTeX, text, or text followed by BibTeX.
        name: the system, for the key of a text that no known paper matches.

    >>> references_of("Ada Lovelace. Notes. London 1943", "notes")[0].entry.splitlines()[0]
    '@misc{notes,'
    """
    text, bibtex = split_citation(citation)
    if bibtex:
        return [Reference(match[2], entry) for match, entry in _entries(bibtex)]
    words = _words(text)
    pairs = [
        (min(place for mark in marks if (place := words.find(mark)) >= 0), Reference(key, entry))
        for key, (entry, marks) in _bibliography().items()
        if any(mark in words for mark in marks)
    ]
    if pairs:
        return [reference for _, reference in sorted(pairs, key=lambda pair: pair[0])]
    return [Reference(_key(name), _misc(text, name))] if text else []


def split_citation(citation: str) -> tuple[str, str]:
    """Return the text of a citation, and the BibTeX that follows it.

    Without a text, the entries' authors, titles and years stand in for it.
    """
    begin = next(iter(_ENTRY.finditer(citation)), None)
    text = citation[: begin.start()] if begin else citation
    bibtex = citation[begin.start() :].strip() if begin else ""
    if bibtex and not text.strip():
        fields = (map(entry_field(entry), _SHOWN) for _, entry in _entries(bibtex))
        text = "; ".join(". ".join(f.rstrip(".") for f in values if f) for values in fields)
    return " ".join(text.split()), bibtex


def entry_field(entry: str) -> Callable[[str], str]:
    """Return a function from a field's name to its text in an entry, without braces."""

    def value(name: str) -> str:
        match = re.search(rf"\b{name}\s*=\s*", entry)
        return _value(entry, match.end()) if match else ""

    return value


def _value(entry: str, start: int) -> str:
    """The text of a field whose value begins somewhere: in braces, in quotes or bare."""
    depth, end = 0, start
    quoted = entry[start] == '"'
    for end in range(start, len(entry)):
        letter = entry[end]
        depth += (letter == "{") - (letter == "}")
        if (quoted and letter == '"' and end > start) or (depth <= 0 and letter in ",}"):
            break
    return " ".join(re.sub(r'[{}"]', "", entry[start:end]).split())


def _entries(bibtex: str) -> Iterator[tuple[re.Match[str], str]]:
    matches = list(_ENTRY.finditer(bibtex))
    for match, after in zip(matches, [*matches[1:], None], strict=True):
        lines = bibtex[match.start() : after.start() if after else None].strip().splitlines()
        entry = "\n".join(line for line in lines if not line.startswith("%")).strip()
        yield match, _ALIASES.sub("", entry)


@cache
def _bibliography() -> dict[str, tuple[str, tuple[str, ...]]]:
    """Key → entry, and the words by which texts that cite it are recognized."""
    text = (files("irplatform.analysis") / "references.bib").read_text(encoding="utf-8")
    entries = {}
    matches = list(_ENTRY.finditer(text))
    ends = [match.start() for match in matches[1:]] + [len(text)]
    for (match, entry), end in zip(_entries(text), ends, strict=True):
        value = entry_field(text[match.start() : end])
        title = value("title")
        before_colon = title.partition(":")[0]
        marks = [title, *value("aliases").split("|")]
        if len(before_colon.split()) >= _FEWEST_WORDS:
            marks.append(before_colon)
        entries[match[2]] = entry, tuple(words for mark in marks if (words := _words(mark)))
    return entries


def _words(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _misc(text: str, name: str) -> str:
    """An entry of a text."""
    fields = {"note": text}
    if match := _TEXT.fullmatch(text):
        authors = re.split(r",? and |, | (?=et al)", match["author"])
        fields = {
            "author": " and ".join("others" if a == "et al" else a for a in authors if a),
            "title": match["title"].rstrip("."),
            "howpublished": match["where"].rstrip("."),
            "year": match["year"],
        }
    lines = (f"  {field} = {{{_escaped(value)}}}" for field, value in fields.items())
    return f"@misc{{{_key(name)},\n" + ",\n".join(lines) + "\n}"


def _escaped(text: str) -> str:
    return re.sub(r"([&%$#_])", r"\\\1", re.sub(r"[{}\\]", "", text))


def _key(name: str) -> str:
    return re.sub(r"[^\w-]+", "-", name).strip("-") or "reference"


def _merged(references: Iterable[Reference]) -> list[Reference]:
    """Each entry once, with all that it is cited for."""
    merged: dict[str, Reference] = {}
    for reference in references:
        uses = (
            (*merged[reference.key].used_for, *reference.used_for)
            if reference.key in merged
            else reference.used_for
        )
        merged[reference.key] = replace(
            merged.get(reference.key, reference), used_for=tuple(dict.fromkeys(uses))
        )
    return list(merged.values())


def _of_name(name: str) -> Iterator[Reference]:
    path = Path(name)
    if runs := _runs_of(path) if path.is_dir() else []:
        for run in runs:
            yield from _of_run(run)
    elif path.is_file() and path.suffix != ".toml":
        yield from _of_run(path)
    elif kinds := [kind for kind, table in _tables().items() if name in table]:
        for kind in kinds:
            yield from _of_system(kind, name)
    else:
        try:
            collection = registry().collection(name)
        except InputError as error:
            if "/" in name or path.exists():
                raise
            names = sorted({name for table in _tables().values() for name in table})
            raise unknown("name", name, names, of="a run, system or collection") from error
        yield from _of_collection(collection.id, collection.metadata)


def _runs_of(folder: Path) -> list[Path]:
    """The runs that are in a folder or a matrix, or whose metadata are; a warning of others."""
    runs = [*dict.fromkeys([*runs_in(folder), *described_runs(folder)])]
    if gone := [run for run in listed_runs(folder) if run not in runs]:
        notice(f"WARNING: {folder}: {gone_told(gone, folder)}: what it used is not cited.")
    return runs


def _tables() -> dict[str, Mapping[str, Any]]:
    """The systems that cite papers, by kind and name."""
    plugins = registry()
    return {
        "retriever": plugins.retrievers,
        "reranker": plugins.rerankers,
        "feature group": plugins.features,
    }


def _of_system(kind: str, name: str) -> list[Reference]:
    registration = _tables()[kind].get(name)
    if registration is None or registration.broken:
        return []
    references = references_of(registration.system.citation, name)
    return [replace(reference, used_for=(f"{kind} {name}",)) for reference in references]


def _of_fusion(name: str) -> list[Reference]:
    if (method := fusion_methods().get(name)) is None:
        return []
    return [replace(r, used_for=("fusion",)) for r in references_of(method.citation, name)]


def _of_run(path: Path) -> Iterator[Reference]:
    metadata = known_metadata(path)
    if name := metadata.data.test_collection.name:
        yield from _of_collection(name, _facts_of(metadata))
    if name := metadata.data.training_data.name:
        yield from _of_collection(name, {})
    for step in metadata.method.retrieval:
        for kind, system in (("retriever", step.retriever), ("reranker", step.reranker)):
            if system:
                yield from _of_system(kind, system)
        if step.name == "fuse":
            yield from _of_fusion(str(step.method))
    if sum(step.retriever is not None for step in metadata.method.retrieval) > 1:
        fusions = [step.fusion for step in metadata.method.retrieval if step.fusion]
        yield from _of_fusion(fusions[-1].get("method", Ranks.name) if fusions else Ranks.name)
    software = metadata.platform.software
    if "irplatform" in software.libraries.python:
        yield _platform()
    if software.lucene:
        yield _reference("yang2017anserini", "index and search")
    if metadata.research_goal.evaluation.reported_measures:
        yield _reference("macavaney2022irmeasures", "measures")
    if metadata.method.neural:
        yield _reference("paszke2019pytorch", "networks")


def _facts_of(metadata: RunMetadata) -> Mapping[str, str]:
    """What the collection itself says for `collections show`; nothing where it is not here."""
    name = metadata.implementation.call.settings.get("collection")
    if not name:
        return {}
    try:
        return registry().collection(name).metadata
    except PlatformError:
        return {}


def _of_collection(name: str, facts: Mapping[str, str]) -> list[Reference]:
    """The papers of a collection: its own citation, those of ir_datasets, and well-known ones."""
    used_for = (f"collection {name}",)
    if citation := facts.get("citation"):
        return [replace(r, used_for=used_for) for r in references_of(citation, name)]
    if dataset := facts.get("ir_datasets id"):
        papers = [Reference(_ENTRY.search(e)[2], e.strip(), used_for) for e in _of_irds(dataset)]  # type: ignore[index]
        return [*papers, _reference("macavaney2021irdatasets", f"data of {name}")]
    keys = (k for pattern, keys in _COLLECTIONS.items() if re.search(pattern, name) for k in keys)
    return [_reference(key, *used_for) for key in keys]


def _of_irds(dataset: str) -> list[str]:
    """The entries that ir_datasets has for a dataset."""
    if absent("ir_datasets"):
        return []
    import ir_datasets

    describe: Callable[[], dict[str, Any] | None] = ir_datasets.load(dataset).documentation
    keys = (describe() or {}).get("bibtex_ids", ())
    text = (files("ir_datasets") / "docs" / "bibliography.bib").read_text(encoding="utf-8")
    by_key = {match[2]: entry for match, entry in _entries(text)}
    return [by_key[key] for key in keys if key in by_key]


def _reference(key: str, used_for: str) -> Reference:
    return Reference(key, _bibliography()[key][0], (used_for,))


def _platform() -> Reference:
    entry = (
        "@software{irplatform,\n  author = {{The developers of irplatform}},\n"
        "  title = {irplatform: a plugin-based search-evaluation platform for biomedical "
        f"literature}},\n  version = {{{__version__}}}\n}}"
    )
    return Reference("irplatform", entry, ("platform",))
