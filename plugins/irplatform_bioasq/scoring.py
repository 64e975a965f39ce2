"""BioASQ's measures of answers to phase A of task b: of documents, and of snippets.

Snippets are compared by characters. Those of a list that overlap are joined first; precision and
recall are the shares of the submitted and of the golden characters that are in both. A size counts
the end offset too, as in BioASQ's program. The average precision of a list of snippets sums the
precision of characters down to each snippet of a document that has golden ones, and divides by the
number of golden snippets, at most ten. GMAP is the geometric mean of average precisions + 0.00001.

Source: `QuestionAnswerEvaluator` of BioASQ's Evaluation-Measures, edition 9, which later years use.
As there, questions without golden answers do not count. Unlike there, a question that a file leaves
out counts as 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import accumulate
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from irplatform.kit import Snippet

_MOST_DOCUMENTS = 10
"""Of an answer."""

_LEAST = 0.00001
"""Added to average precisions for their geometric mean."""


@dataclass(frozen=True)
class Values:
    """The measures of one question."""

    precision: float = 0.0
    recall: float = 0.0
    f1: float = 0.0
    ap: float = 0.0


@dataclass(frozen=True)
class Scores:
    """The means over questions; `gmap` is the geometric mean of average precisions."""

    questions: int
    precision: float
    recall: float
    f1: float
    map: float
    gmap: float


def mean_scores(values: Iterable[Values]) -> Scores:
    """Average the measures of questions."""
    questions = [*values]
    n = max(len(questions), 1)
    return Scores(
        len(questions),
        sum(v.precision for v in questions) / n,
        sum(v.recall for v in questions) / n,
        sum(v.f1 for v in questions) / n,
        sum(v.ap for v in questions) / n,
        math.exp(sum(math.log(v.ap + _LEAST) for v in questions) / n) if questions else 0.0,
    )


def score_documents(
    golden: Mapping[str, Sequence[str]], answers: Mapping[str, Sequence[str]]
) -> dict[str, Values]:
    """Score the documents of each question with golden ones."""
    return {q: _of_documents(docs, answers.get(q, ())) for q, docs in golden.items() if docs}


def score_snippets(
    golden: Mapping[str, Sequence[Snippet]], answers: Mapping[str, Sequence[Snippet]]
) -> dict[str, Values]:
    """Score the snippets of each question with golden ones.

    Examples:
        >>> golden = {"q": [Snippet("7", "abstract", 0, 99)]}
        >>> answers = {"q": [Snippet("7", "abstract", 50, 149)]}
        >>> values = score_snippets(golden, answers)["q"]
        >>> values.precision, values.recall, values.f1, values.ap
        (0.5, 0.5, 0.5, 0.5)
    """
    return {q: _of_snippets(g, answers.get(q, ())) for q, g in golden.items() if g}


def _of_documents(golden: Sequence[str], answered: Sequence[str]) -> Values:
    hits = [document in golden for document in answered]
    ranked = enumerate(zip(accumulate(hits), hits, strict=True), start=1)
    ap = sum(count / rank for rank, (count, hit) in ranked if hit)
    return _values(sum(hits), len(answered), len(golden), ap / min(len(golden), _MOST_DOCUMENTS))


def _of_snippets(golden: Sequence[Snippet], answered: Sequence[Snippet]) -> Values:
    golden, answered = _joined(golden), _joined(answered)
    documents = {snippet.document for snippet in golden}
    common = [sum(_common(snippet, other) for other in golden) for snippet in answered]
    sizes = [_size(snippet) for snippet in answered]
    ap = sum(
        overlap / size
        for snippet, overlap, size in zip(
            answered, accumulate(common), accumulate(sizes), strict=True
        )
        if snippet.document in documents
    )
    golden_size = sum(map(_size, golden))
    return _values(sum(common), sum(sizes), golden_size, ap / min(len(golden), _MOST_DOCUMENTS))


def _values(common: int, answered: int, golden: int, ap: float) -> Values:
    precision = common / answered if answered else 0.0
    recall = common / golden
    f1 = 2 * precision * recall / (precision + recall) if common else 0.0
    return Values(precision, recall, f1, ap)


def _joined(snippets: Sequence[Snippet]) -> list[Snippet]:
    """Join snippets that overlap, in the order in which BioASQ's program does.

    There, what a later snippet has become by a join is not compared with the first one again.
    """
    joined = [*snippets]
    place = 0
    while place < len(joined):
        other = 0
        while other < len(joined) and place < len(joined):
            one, two = joined[place], joined[other]
            if place != other and _overlap(one, two):
                begin, end = min(one.begin, two.begin), max(one.end, two.end)
                joined[place] = replace(one, begin=begin, end=end)
                del joined[other]
                other = 0
            other += 1
        place += 1
    return joined


def _common(answer: Snippet, golden: Snippet) -> int:
    """The characters of an answer in a golden snippet; section "0" of an answer is an abstract."""
    former = answer.section.split()[:1] == ["0"] and golden.section.split()[:1] == ["abstract"]
    return _overlap(replace(answer, section=golden.section) if former else answer, golden)


def _overlap(one: Snippet, other: Snippet) -> int:
    if (one.document, one.section) != (other.document, other.section):
        return 0
    return max(0, min(one.end, other.end) - max(one.begin, other.begin) + 1)


def _size(snippet: Snippet) -> int:
    return snippet.end - snippet.begin + 1
