"""Texts of others are read in time that grows as they do, whatever is repeated in them.

A regular expression that begins with what it repeats reads a long run once from each of its
characters: 40,000 of them take a minute instead of milliseconds.
"""

import signal
from contextlib import contextmanager

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lxml import etree

from irplatform.building.citation_references import ReferenceList
from irplatform.building.citation_sentences import (
    MARK,
    MarkedText,
    marked_text,
    sentences_of,
    without_marks,
)
from irplatform.collections import trec_topics as trec
from irplatform.collections.document_checks import first_markup
from irplatform.concepts.graph import _BRACKET
from irplatform.errors import InputError
from irplatform.expansion.gene_notation import parse_markers
from irplatform.expansion.lookup import _ASIDE, _BETWEEN_TREATMENTS
from irplatform.knowledge.model import keys, without_salt
from irplatform.text.vector_training import sentences

LENGTH = 40_000
LONGEST = 6.0
"""Seconds, on a busy machine; what is linear takes tenths."""


@contextmanager
def time_limit():
    def late(*_):
        raise TimeoutError(f"more than {LONGEST} s")

    before = signal.signal(signal.SIGALRM, late)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _paragraph(text):
    """An element that has the text, a reference mark at each `MARK`, and a long mark."""
    first, *others = text.split(MARK)
    element = etree.Element("p")
    element.text = first
    for label, tail in [*(("1", other) for other in others), (text.replace(MARK, ""), "")]:
        mark = etree.SubElement(element, "xref", {"ref-type": "bibr", "rid": "r1"})
        mark.text, mark.tail = label, tail
    return marked_text(element, ReferenceList(etree.fromstring("<back/>")))


def _sentences_of(text):
    flat = " ".join(text.split())
    list(sentences_of(MarkedText(flat, ((),) * flat.count(MARK), 0)))


READERS = {
    "names": keys,
    "salts": without_salt,
    "treatments": lambda text: (_BETWEEN_TREATMENTS.split(text), _ASIDE.sub("", text)),
    "concepts": lambda text: _BRACKET.sub(" ", text),
    "markers": parse_markers,
    "markup": first_markup,
    "sentences": lambda text: list(sentences(text)),
    "citing sentences": _sentences_of,
    "references": lambda text: without_marks(" ".join(text.split())),
    "paragraphs": _paragraph,
}
REPEATED = (
    " ", "\n", ".", ",", "1", "(", "[", "1,", "A,", "a ", "A-", "A1/", "ABC (", f"{MARK} ",
    f"({MARK}", f"({MARK},", f".{MARK}", "e.g. ", "see ", "<a ", "<a =", "&a", "c.1", "1 mg", "''",
)  # fmt: skip


@pytest.mark.parametrize("reader", READERS)
@settings(max_examples=6)
@given(
    before=st.sampled_from(["", "(", "a", "c.", "BRAF ", f"({MARK}"]),
    repeated=st.sampled_from(REPEATED),
)
def test_a_run_of_anything_is_read_once(reader, before, repeated):
    text = before + repeated * (LENGTH // len(repeated)) + "\x7f"
    with time_limit():
        READERS[reader](text)


@pytest.mark.parametrize(
    ("reader", "text"),
    [
        ("names", "1," * 20_000),
        ("names", " " * LENGTH + "x"),
        ("salts", " " * LENGTH + "x"),
        ("treatments", " " * LENGTH + "x"),
        ("concepts", " " * LENGTH + "x"),
        ("markers", "A," * 20_000),
        ("references", f"see{MARK}" + "," * LENGTH),
        ("citing sentences", "." * LENGTH),
        ("citing sentences", "(" * LENGTH + MARK + ")" * LENGTH),
    ],
)
def test_what_was_slow_is_read_once(reader, text):
    with time_limit():
        READERS[reader](text)


TOPIC = "<top>\n<num> Number: 1\n<title> a{}\n</top>\n"


@pytest.mark.parametrize(
    ("content", "read"),
    [
        (TOPIC.format(" " * 200_000), True),
        (TOPIC.format("<a " + "=" * 200_000), True),
        (TOPIC.format("<a>b" * 50_000), True),
        (TOPIC.format("") * 5_000, True),
        ("<top " + "=" * 200_000, False),
        ("<top " + " " * 200_000 + ">", False),
        ("<top>\n" * 40_000, False),
        (TOPIC.format("") + "<top>\n" + "<num>\n" * 40_000, False),
    ],
    ids=["spaces", "equals", "tags", "topics", "attribute", "blank attribute", "open", "left open"],
)
def test_topics_are_read_once(content, read, tmp_path):
    path = tmp_path / "topics.trec"
    path.write_text(content)
    with time_limit():
        try:
            assert bool(list(trec.read_trec(path))) is read
        except InputError as error:
            assert not read and "this <top> has no </top>" in error.message
