"""The scispaCy pipeline that finds an article's concepts.

It is made of scispaCy's tokenizer and abbreviation detector, the entities of a scientific model if
one is installed, the names of the knowledge bases, and scispaCy's entity linker for other mentions.
"""

from __future__ import annotations

import gc
import re
import sys
import warnings
from importlib import metadata
from typing import TYPE_CHECKING, Any

from irplatform.concepts.ambiguity import is_mostly_something_else
from irplatform.concepts.matcher import NameMatcher
from irplatform.concepts.similar_names import LINKS_VERSION
from irplatform.concepts.table import KINDS
from irplatform.errors import InputError
from irplatform.knowledge.model import literal_key
from irplatform.system.packages import require
from irplatform.text.tokenizer import content_words

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping

    from irplatform.concepts import ConceptOptions
    from irplatform.concepts.ambiguity import Definitions
    from irplatform.concepts.similar_names import SimilarNames
    from irplatform.concepts.table import ConceptTable, Mention

VERSION = 5
"""Raise it when the pipeline finds other concepts in the same text."""

MODELS = ("en_core_sci_lg", "en_core_sci_md", "en_core_sci_sm", "en_core_sci_scibert")
_REMEMBERED = 20_000
"""Articles after which spaCy is loaded anew: its memory of words and abbreviations would grow."""
_PROTEIN = re.compile(
    r"(?:ase|in|receptor|factor|antigen|ligand|homolog|oncogene|protein)s?(?:[ -]\w{1,5})?$",
    re.IGNORECASE,
)
_SHARE = 0.5
"""Least share of a long form that its concept's name must cover."""
_SHORTEST = 4
"""Letters of the shortest word that distinguishes names."""
_GENERIC = frozenset({"factor", "kinase", "protein", "receptor"})
"""Words that names of unrelated genes share."""
_TELLING = 4
"""Least characters of a gene's symbol that articles seldom define as anything else: PTEN, CDK4."""


def model_name(options: ConceptOptions) -> str | None:
    """The scientific model that finds the mentions; None if names do."""
    if options.model == "none":
        return None
    if options.model in MODELS and not _is_scispacys(options.model):
        raise InputError(
            f"scispaCy's model '{options.model}' is not installed. Its makers release it at "
            "https://allenai.github.io/scispacy. A package of that name on the Python index is "
            "somebody else's."
        )
    if options.model != "auto":
        return options.model
    return next((name for name in MODELS if _is_scispacys(name)), None)


def _is_scispacys(name: str) -> bool:
    """Whether a package is installed and comes from scispaCy's makers."""
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
    """Finds concepts in articles; `similar`, if given, also finds concepts with similar names."""

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

        Offsets count from the beginning of the title; the abstract is on the next line. A model
        reads the first million characters of an article.
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
    """An article as one text; no name spans the end of the title."""
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


def definitions(matcher: NameMatcher, long_forms: Mapping[str, str]) -> Definitions:
    """Give an article's abbreviations their concepts.

    scispaCy's detector (Schwartz & Hearst, PSB 2003) finds the pairs of long and short form. An
    article's definition takes precedence over the knowledge bases' meaning of the short form.

    Returns:
        Short form to the concept whose name is the long form, or its end ("metastatic
        castration-resistant prostate cancer"), or to the gene of a protein's symbol; to None if the
        knowledge bases have another meaning. A short form is left out if it may be the same, or if
        they have only a part of it ("FLT3-ITD").
    """
    concepts: dict[str, int | None] = {}
    for short, long_form in long_forms.items():
        concept = _concept(matcher, long_form)
        usual = next(iter(matcher.mentions(short, strict=False)), None)
        if usual is None:
            concepts[short] = concept
        elif concept is not None:
            protein = _is_protein_of(matcher, usual.concept, concept, short, long_form)
            concepts[short] = usual.concept if protein else concept
        elif usual.text == short and not _may_be(matcher, usual.concept, short, long_form):
            concepts[short] = None
    return concepts


def _concept(matcher: NameMatcher, long_form: str) -> int | None:
    ends = [mention for mention in matcher.mentions(long_form) if mention.end == len(long_form)]
    if not ends:
        return None
    covered, words = len(ends[0].text.split()), len(long_form.split())
    enough = covered == words or (covered > 1 and covered >= _SHARE * words)
    return ends[0].concept if enough else None


def _is_protein_of(
    matcher: NameMatcher, usual: int, concept: int, short: str, long_form: str
) -> bool:
    """Whether a short form is a gene's symbol, and its long form the gene's protein.

    TF is not: it is the symbol of transferrin, and stands for tissue factor.
    """
    table = matcher.table
    kinds = KINDS[table.kinds[usual]], KINDS[table.kinds[concept]]
    if kinds[0] != "gene" or kinds[1] not in {"drug", "other"} or table.names[usual] != short:
        return False
    if not _PROTEIN.search(long_form):
        return False
    word = re.compile(rf"(?<![^\W_]){re.escape(short)}(?![^\W_])")
    return (
        len(short) >= _TELLING
        or _akin(table.names_of(usual), long_form, besides=_GENERIC)
        or any(map(word.search, table.names_of(concept)))
    )


def _may_be(matcher: NameMatcher, usual: int, short: str, long_form: str) -> bool:
    """Whether a long form without a concept may be the usual meaning of its short form."""
    table = matcher.table
    kind = KINDS[table.kinds[usual]]
    symbol = kind == "gene" and table.names[usual] == short
    if symbol and len(short) >= _TELLING and not is_mostly_something_else(short):
        return True
    if kind == "variant" and short.split(maxsplit=1)[0] in long_form.split():  # FLT3 ITD
        return True
    return _akin(table.names_of(usual), long_form)


def _akin(names: list[str], long_form: str, besides: Collection[str] = ()) -> bool:
    """Whether half of a long form's words (without `besides`) occur in names of a concept."""
    words = [w for w in content_words(long_form) if len(w) >= _SHORTEST and w not in besides]
    keys = [literal_key(name) for name in names]
    shared = sum(any(word in key for key in keys) for word in words)
    return bool(words) and shared >= _SHARE * len(words)
