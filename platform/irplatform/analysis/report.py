"""The report of runs: their comparison as a page, with rankings, titles, provenance and papers.

It trains nothing, builds no index and downloads nothing: what is not here is left out, and the page
says so.
"""

from __future__ import annotations

import shlex
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Unpack

from irplatform.analysis.cite import as_bibtex, cite
from irplatform.analysis.compare import compare_judged
from irplatform.analysis.evaluate import read_judged_runs
from irplatform.analysis.given_runs import given_runs
from irplatform.analysis.keywords import ReportOptions
from irplatform.analysis.settings import AnalysisSettings
from irplatform.comparison.curves import curves
from irplatform.errors import InputError, PlatformError, counted, enumeration, listing, one_line
from irplatform.expansion.plan import QueryPlan
from irplatform.expansion.query import Expander
from irplatform.experiment.arguments import as_path
from irplatform.experiment.calls import settings_from
from irplatform.experiment.resources import resources_for
from irplatform.experiment.run_settings import RunSettings
from irplatform.files.writing import atomic_write, writable_file
from irplatform.lucene import is_indexed
from irplatform.queries.explain import explanations_at_hand
from irplatform.reports.explanation import explanation_text
from irplatform.reports.html.made import RunOrigin, made_of
from irplatform.reports.html.page import GENERATOR, PAGES, render_page
from irplatform.reports.html.rankings import RankingSelection, Texts, browser_data
from irplatform.reports.plots import save_plots
from irplatform.run_folder.metadata_files import read_metadata
from irplatform.runs.names import names_of, system_of
from irplatform.settings import settings_given, with_keywords
from irplatform.spelling import command, option
from irplatform.system.console import notice, progress, waiting
from irplatform.system.packages import require
from irplatform.version import __version__

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from irplatform.analysis.given_runs import Runs
    from irplatform.collection_resources import CollectionResources
    from irplatform.data import Collection, Document, Topic
    from irplatform.experiment.arguments import AnyPath
    from irplatform.runs.run import Run

_MOST_STREAMED = 200_000
"""Documents of a corpus without an index that are read through for titles."""
_FIRST_BYTES = 600
_EXPLAINED = 5
"""Explained documents of each ranking."""
_MOST_EXPLAINED = 600
"""Explained documents of all rankings."""
_NAMES = 80
"""Names of a topic's concepts at most."""


@with_keywords(ReportOptions, AnalysisSettings)
def write_report(
    runs: Runs, html: AnyPath, *, command: Sequence[str] = (), **options: Unpack[ReportOptions]
) -> Path:
    """Compare runs, and write all about it to one HTML file that needs no network.

    Args:
        runs: TREC runs, folders or reports of `run`, of which the runs of their last table are
            taken, and runs in memory; a mapping names them.
        html: the file to write.
        command: how the report was asked for, to be told in it.
        options: as for `compare`, and of the page; see `AnalysisSettings`.

    Returns:
        The file.

    Raises:
        InputError: a package of the extra `report` is missing, the file is another one's, or see
            `compare`.

    Examples:
        >>> import irplatform as ir
        >>> report = ir.run("demo", ["bm25-text"], run_dir="runs/first")
        >>> ir.write_report("runs/first", "report.html")
        PosixPath('report.html')
    """
    require("a report", *PAGES)
    settings = settings_given(AnalysisSettings, "report", options)
    html = writable_file(as_path(html, "html"))
    _refuse_other_file(html, force=settings.force)
    inputs = given_runs(runs, settings.names)
    paths = [*inputs.names]
    for path in paths:
        if path not in inputs.ready and not path.exists():
            raise InputError("there is no such file.", path=path)
    if len(paths) < 2:
        raise InputError(f"a report compares at least two runs; {listing(map(str, paths))} is one.")
    if inputs.published.rows:
        raise InputError(
            "a report shows whole rankings, and the runs of published results are cut short. "
            "`platform compare` compares with them.",
            path=inputs.published.folder,
        )
    judged = read_judged_runs(inputs, settings, compared=True)
    is_file = isinstance(settings.qrels, Path | str | None)
    source = (settings.qrels or settings.sampled_qrels) if is_file else "given judgments"
    inputs = judged.inputs
    paths = [*inputs.names]
    comparison = compare_judged(judged, settings, title=Path(str(source)).name)
    by_name = {inputs.names[path]: run for path, run in judged.runs.items()}
    selection = RankingSelection.of(comparison, settings.depth)
    doc_ids = selection.doc_ids(by_name)
    texts = Texts(notes=("Documents have no titles here: without a collection ids are all.",))
    if judged.collection is not None:
        with waiting("reading titles"):
            texts = _texts(judged.collection, judged.collection_name, doc_ids, paths)
        if settings.explain:
            explained, unexplained = _explanations(inputs.names, selection, by_name)
            texts = replace(texts, explanations=explained, notes=[*texts.notes, *unexplained])
    texts = replace(texts, machine=judged.judgments.machine)
    grades = judged.judgments.qrels
    drawn = curves(grades, by_name)
    notes = [*comparison.notes, *texts.notes]
    for note in judged.notes:
        notice(note)
    if selection.left_out:
        count = counted(selection.left_out, "topic")
        notes.append(f"Rankings are shown of the topics that differ most; {count} have none here.")
    with waiting("writing the page"):
        page = render_page(
            comparison,
            browser=browser_data(comparison, by_name, grades, selection, texts),
            curves=drawn,
            made=[
                RunOrigin(name) if path in inputs.ready else made_of(name, path)
                for path, name in inputs.names.items()
            ],
            notes=notes,
            bibliography=_bibliography([path for path in paths if path not in inputs.ready]),
            title=settings.title,
            footer=_footer(command),
        )
        with atomic_write(html, "wb") as file:
            file.write(page.encode(errors="backslashreplace"))
        if settings.plots is not None:
            save_plots(comparison, drawn, as_path(settings.plots, "plots"))
    return html


def _refuse_other_file(path: Path, *, force: bool) -> None:
    if force or not path.exists():
        return
    with path.open("rb") as file:
        if GENERATOR.encode() in file.read(_FIRST_BYTES):
            return
    raise InputError(
        f"this file exists and is no report. Name another {option('html')}, or replace it with "
        f"{option('force', True)}.",
        path=path,
    )


def _texts(
    collection: Collection, name: str, doc_ids: Sequence[str], paths: Sequence[Path]
) -> Texts:
    """The documents as far as they are here, and names of topics' concepts."""
    resources = resources_for(RunSettings(name), collection)
    try:
        if is_indexed(collection.corpus):
            contains = resources.index().contains
            ids = [doc_id for doc_id in doc_ids if contains(doc_id)]
            documents = {document.id: document for document in resources.documents(ids)}
        else:
            documents = _streamed(collection, {*doc_ids})
    except PlatformError as error:
        return Texts(notes=(f"Documents have no titles here: {one_line(str(error))}",))
    notes = []
    if not documents:
        notes.append(
            "Documents have no titles here: the collection has no index on the machine that wrote "
            f"this ({command('index', collection=name)} builds it)."
        )
    elif missing := len(doc_ids) - len(documents):
        notes.append(f"{counted(missing, 'document')} of the runs are not in the collection.")
    names = _concept_names(collection, resources, paths)
    return Texts(documents, names, notes=notes)


def _streamed(collection: Collection, doc_ids: set[str]) -> dict[str, Document]:
    size = collection.corpus.size_hint()
    if "ir_datasets id" in collection.metadata or size is None or size > _MOST_STREAMED:
        return {}
    documents = {}
    with progress("looking for titles", size, "documents") as advance:
        for document in collection.corpus:
            if document.id in doc_ids:
                documents[document.id] = document
            advance(1)
    return documents


def _explanations(
    names: Mapping[Path, str], selection: RankingSelection, runs: Mapping[str, Run]
) -> tuple[dict[str, dict[str, dict[str, str]]], list[str]]:
    """Rerankers' explanations of their first documents, as far as the cache has what they need.

    Returns topic to system to document to text, and sentences about systems without any.
    """
    explanations: dict[str, dict[str, dict[str, str]]] = {}
    reasons: dict[str, list[str]] = {}
    topics = [topic.id for topic in selection.topics][:_MOST_EXPLAINED]
    depth = max(1, min(_EXPLAINED, _MOST_EXPLAINED // max(1, len(topics) * len(names))))
    requests = {
        path: {t: r.doc_ids[:depth] for t in topics if (r := runs[name].rankings.get(t))}
        for path, name in names.items()
        if any(step.reranker for step in read_metadata(path).method.retrieval)
    }
    total = sum(len(doc_ids) for by_topic in requests.values() for doc_ids in by_topic.values())
    title = f"explaining ({option('explain', False)} leaves it out)"
    with progress(title, total, "documents") as advance:
        for path, by_topic in requests.items():
            try:
                settings = settings_from(read_metadata(path).implementation.call.content())
                label = system_of(names_of([path])[path])
                at_hand = explanations_at_hand(settings, label, by_topic, advance)
                for topic, by_document in at_hand.items():
                    texts = {
                        d: explanation_text(explanation) for d, explanation in by_document.items()
                    }
                    explanations.setdefault(topic, {})[names[path]] = texts
            except PlatformError as error:
                reasons.setdefault(one_line(str(error)), []).append(names[path])
    return explanations, [
        f"{enumeration(systems)} explain{'s' * (len(systems) == 1)} no scores here: {reason}"
        for reason, systems in reasons.items()
    ]


def _concept_names(
    collection: Collection, resources: CollectionResources, paths: Sequence[Path]
) -> dict[str, list[str]]:
    """The names of topics' concepts, in the knowledge bases that the runs or the collection use."""
    bases = tuple(collection.expand) or next(filter(None, map(_expanded_with, paths)), ())
    if not bases or not is_indexed(collection.corpus):
        return {}
    try:
        expander = Expander(resources.index(), bases, QueryPlan())
        return {topic.id: _names(expander, topic) for topic in collection.topics}
    except PlatformError:  # a knowledge base is not installed here
        return {}


def _names(expander: Expander, topic: Topic) -> list[str]:
    parts = expander.parts(topic)
    things = [*filter(None, [parts.disease]), *parts.genes, *parts.treatments, *parts.phrases]
    synonyms = (name.text for thing in things for name in thing.synonyms)
    return list(dict.fromkeys([*synonyms, *parts.variants]))[:_NAMES]


def _expanded_with(path: Path) -> tuple[str, ...]:
    steps = read_metadata(path).method.retrieval
    expands = (step.options.get("expand", ()) for step in steps)
    return tuple(next(filter(None, expands), ()))


def _bibliography(paths: Sequence[Path]) -> str:
    """BibTeX of all runs whose metadata tell what they used."""
    runs = [path for path in paths if read_metadata(path).says("method")]
    return as_bibtex(cite(runs)) if runs else ""


def _footer(command: Sequence[str]) -> str:
    origin = f"Made with irplatform {__version__}, {datetime.now(UTC):%Y-%m-%d %H:%M} UTC"
    return f"{origin}: {shlex.join(command)}" if command else f"{origin}."
