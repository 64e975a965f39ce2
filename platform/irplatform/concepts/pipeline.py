"""The scispaCy pipeline that finds an article's concepts.

scispaCy's tokenizer, its abbreviation detector, the entities of a scientific model where there is
one, the names of the knowledge bases, and scispaCy's entity linker for what no name matches.
"""

from __future__ import annotations

import gc
import sys
import warnings
from importlib import metadata
from typing import TYPE_CHECKING, Any

from irplatform.concepts.abbreviations import definitions
from irplatform.concepts.linker import LINKS_VERSION
from irplatform.concepts.matcher import NameMatcher
from irplatform.errors import InputError
from irplatform.packages import require

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from irplatform.concepts.linker import SimilarNames
    from irplatform.concepts.options import ConceptOptions
    from irplatform.concepts.table import ConceptTable, Mention

VERSION = 5
"""Raised when the pipeline finds other concepts in the same text."""

MODELS = ("en_core_sci_lg", "en_core_sci_md", "en_core_sci_sm", "en_core_sci_scibert")
_REMEMBERED = 20_000
"""Articles after which spaCy is made anew: it keeps every word that it has seen, and a pattern of
every abbreviation, so that memory would grow with the collection."""


def model_name(options: ConceptOptions) -> str | None:
    """The scientific model that gives the mentions, or None where names do.

    Raises:
        InputError: the model that was asked for is not installed.
    """
    if options.model == "none":
        return None
    if options.model in MODELS and not _is_scispacys(options.model):
        raise InputError(
            f"scispaCy's model '{options.model}' is not installed. Its makers release it at "
            "https://allenai.github.io/scispacy. What the Python index has under such a name is "
            "somebody else's."
        )
    if options.model != "auto":
        return options.model
    return next((name for name in MODELS if _is_scispacys(name)), None)


def _is_scispacys(name: str) -> bool:
    """Whether a package is installed and is what scispaCy's makers release."""
    try:
        about = metadata.metadata(name.replace("_", "-"))
    except metadata.PackageNotFoundError:
        return False
    # A package of this name on the Python index is somebody else's; the makers' versions are 0.x.
    return about["Version"].startswith("0.") and "Allen" in (about["Author"] or "")


def versions(options: ConceptOptions) -> dict[str, str]:
    """The pipeline as part of a fingerprint."""
    require("the concept graph", "scispacy", "spacy")
    packages = {name: metadata.version(name) for name in ("spacy", "scispacy")}
    model = model_name(options)
    linker = {"linker": str(LINKS_VERSION)} if options.linker == "scispacy" else {}
    mark = _model_mark(model) if model else ""
    return {"pipeline": str(VERSION), **packages, "model": mark, **linker}


class ConceptPipeline:
    """Finds concepts in articles; `similar` finds those of similar names, if it is given."""

    def __init__(
        self, table: ConceptTable, options: ConceptOptions, similar: SimilarNames | None = None
    ) -> None:
        require("the concept graph", "scispacy", "spacy")
        self._matcher = NameMatcher(table, options.kinds)
        self._model = model_name(options)
        self._similar = similar
        self._language, self._articles_read = _language(self._model), 0

    def mentions(self, articles: Iterable[tuple[str, str]]) -> Iterator[list[Mention]]:
        """Find the concepts of articles, given as titles and abstracts.

        Offsets count from the beginning of the title; the abstract follows it on a line of its own.
        A model reads the first million characters of an article.
        """
        if self._articles_read >= _REMEMBERED:
            self._language, self._articles_read = _language(self._model), 0
            gc.collect()  # the old one refers to itself
        most = self._language.max_length
        texts = (article_text(title, abstract)[:most] for title, abstract in articles)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"\[W036\]")  # no abbreviation: no pattern
            for document in self._language.pipe(texts):
                self._articles_read += 1
                yield self._mentions(document)

    def _mentions(self, document: Any) -> list[Mention]:
        text = document.text
        long_forms = {short.text: short._.long_form.text for short in document._.abbreviations}
        defined = definitions(self._matcher, dict(sorted(long_forms.items())))
        if self._model is None:
            within = None
        else:
            within = [(entity.start_char, entity.end_char) for entity in document.ents]
        mentions = self._matcher.mentions(text, defined, within=within)
        if self._similar is None:
            return mentions
        return sorted(
            [*mentions, *self._similar.mentions(document, mentions)], key=lambda m: m.start
        )


def article_text(title: str, abstract: str) -> str:
    """An article as one text: no name goes across the end of the title."""
    lines = (" ".join(part.split()) for part in (title, abstract))
    return "\n".join(lines)


def _language(model: str | None) -> Any:
    import spacy
    from scispacy.abbreviation import AbbreviationDetector  # noqa: F401 - registers the component
    from scispacy.custom_tokenizer import combined_rule_tokenizer

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # of a regular expression of spaCy's
        if model is None:
            language = spacy.blank("en")
            language.max_length = sys.maxsize  # the limit is for models, which take memory
        else:
            try:
                language = spacy.load(model, exclude=["lemmatizer"])
            except OSError as error:
                raise InputError(f"there is no spaCy model '{model}' here: {error}") from error
        language.tokenizer = combined_rule_tokenizer(language)
    language.add_pipe("abbreviation_detector")
    return language


def _model_mark(model: str) -> str:
    import spacy

    try:
        meta = spacy.info(model, silent=True)
    except SystemExit as error:
        raise InputError(f"there is no spaCy model '{model}' here.") from error
    return f"{meta['lang']}_{meta['name']} {meta['version']}"
