"""Documents, topics and ids that users have and a small clean collection lacks.

A document may have nothing but an id, a topic no fields, a query one letter or another script. An
id names a topic or a text for one call: another collection, or the next request to a service, may
use it again.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from irplatform.conformance.behaviour import difference
from irplatform.data import Document, Topic
from irplatform.errors import InputError, PlatformError, unstopped
from irplatform.text.given_texts import GivenTexts, substitute

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from irplatform.conformance.behaviour import Outputs, Results
    from irplatform.conformance.data import CheckData
    from irplatform.conformance.process import TopicCandidates

    Ask = Callable[[TopicCandidates], Outputs]


CHECKS = ("odd documents", "odd topics", "ids used again")
_ANY = "Naïve T-Zellen, β-Catenin und 肺癌 (\U0001f9ec, 5 µg\u00a0kg⁻¹)"
"""A text in several scripts."""
_MAY = {
    "odd documents": "a document may lack title, abstract and fields, and have any characters",
    "odd topics": "a topic may lack any field, and a query have one letter, no word or any script",
}
Given = TypeVar("Given", Topic, Document)
Odd = TypeVar("Odd")
Answer = TypeVar("Answer")


def odd_topics(topic: Topic) -> Iterator[tuple[str, Topic]]:
    """Variants of a topic, each with what is odd about it."""
    yield "a query of one letter", replace(topic, query="a")
    yield "a query without a word", replace(topic, query="?")
    yield "a query in several scripts", replace(topic, query=_ANY)
    for name in topic.fields:
        fields = {other: value for other, value in topic.fields.items() if other != name}
        yield f"a topic without the field '{name}'", replace(topic, fields=fields)
    yield "a topic without fields", replace(topic, fields={})


def another(topic: Topic) -> Topic:
    """A topic that shares no word with this one."""
    fields = dict.fromkeys(topic.fields, "asthma")
    return replace(topic, query="asthma wheezing inhaler", fields=fields)


def _odd_documents(document: Document) -> Iterator[tuple[str, Document]]:
    yield "a document with nothing but an id", Document("text")
    yield "a document with a title alone", Document("text", document.title)
    yield "a document with an abstract alone", Document("text", "", document.abstract)
    yield "a document without fields", replace(document, id="text", fields={})
    yield "a document of one letter", Document("text", "a", "b")
    yield "a document in several scripts", Document("text", _ANY, _ANY)


def results_of_hard_cases(ask: Ask, data: CheckData) -> Results:
    """Ask a reranker or a group of features about odd texts, and about ids that come again.

    One that scores no texts outside a collection, and says so by an InputError, is not asked.
    """
    topic, doc_ids = data.topics[0]
    real = [*data.resources.documents(doc_ids[:3])]

    def about(topic: Topic, *texts: Document) -> Outputs:
        with substitute(GivenTexts({text.id: text for text in texts})):
            return ask([(topic, tuple(text.id for text in texts))])

    yield (
        CHECKS[2],
        ids_used_again(
            lambda one_topic, doc_id: ask([(replace(one_topic, id=doc_id), doc_ids)]),
            another(topic),
            topic,
            _differ,
        ),
    )
    texts = [replace(document, id=f"text-{number}") for number, document in enumerate(real)]
    try:
        about(topic, *texts)
    except InputError:
        return
    except PlatformError as error:
        data.remarks.append(
            f"no text outside the collection can be scored, as `platform serve` does: {error} "
            "(docs/plugin-rules.md#resources; an InputError would say so)"
        )
        return
    yield from faults(CHECKS[0], partial(about, topic), _odd_documents(real[0]))
    yield from faults(CHECKS[1], lambda odd: about(odd, *texts), odd_topics(topic))
    yield (
        CHECKS[2],
        ids_used_again(
            lambda document, doc_id: about(topic, replace(document, id=doc_id)),
            real[0],
            real[1],
            _differ,
        ),
    )


def ids_used_again(
    ask: Callable[[Given, str], Answer],
    first: Given,
    second: Given,
    differ: Callable[[Answer, Answer], bool],
) -> str:
    """Say if the second of two topics, or texts, is answered by what was kept of the first one.

    `ask` gives one of them an id. Where ids themselves count, nothing can be said.
    """
    expected = ask(second, "once")
    if differ(expected, ask(second, "else")):
        return ""
    ask(first, "same")
    if not differ(expected, ask(second, "same")):
        return ""
    kind = "query" if isinstance(first, Topic) else "text"
    return (
        f"another {kind} of the same id is answered as the first one: keep what you compute by "
        f"the {kind} itself; an id names it within one call alone"
    )


def _differ(before: Outputs, after: Outputs) -> bool:
    topics = [(Topic("", ""), ("",) * len(values)) for values in before]
    return bool(difference(topics, before, after))


def faults(check: str, ask: Callable[[Odd], object], cases: Iterable[tuple[str, Odd]]) -> Results:
    """Yield the failures at odd topics or documents, each with the cases that have it."""
    cases_by_fault: dict[str, list[str]] = {"": []}
    for case, odd in cases:
        try:
            ask(odd)
        except InputError:  # it refuses, and says why
            continue
        except PlatformError as error:
            cases_by_fault.setdefault(unstopped(error), []).append(case)
    for fault, case_names in cases_by_fault.items():
        yield check, f"{fault}, asked about {', '.join(case_names)}: {_MAY[check]}" if fault else ""
