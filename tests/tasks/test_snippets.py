"""Sentences of documents, with their places."""

import random
import re
from itertools import pairwise

from irplatform.data import Document
from irplatform.tasks.bioasq import snippets_of

PARTS = (
    *(
        "CDK4",
        "e.g.",
        "ﬁbrosis",
        "CO₂",
        "a\u0301",
        "tumour\u00adous",
        "(n = 3).",
        "et al.",
        "S. aureus",
    ),
    *("…", "0.05.", "BACKGROUND:", "Fig. 1", "“Yes.”", "\u2029", "no.", "vs."),
)


def test_offsets_of_a_thousand_sentences_are_exact():
    draw = random.Random(3)
    count = 0
    while count < 1000:
        texts = [
            draw.choice(["", " ", "\n"])
            + "".join(
                f"{draw.choice(PARTS)}{draw.choice([' ', '  ', '. ', chr(10)])}" for _ in range(60)
            )
            for _ in range(2)
        ]
        document = Document("7", *texts)
        sections = {"title": document.title, "abstract": document.abstract}
        for section, text in sections.items():
            snippets = [snippet for snippet in snippets_of(document) if snippet.section == section]
            count += len(snippets)
            assert all(text[snippet.begin : snippet.end] == snippet.text for snippet in snippets)
            assert all(snippet.text == snippet.text.strip() != "" for snippet in snippets)
            between = [text[a.end : b.begin] for a, b in pairwise(snippets)]
            assert all(not part.strip() for part in between)
            assert re.sub(r"\s", "", text) == re.sub(
                r"\s", "", "".join(snippet.text for snippet in snippets)
            )


def test_a_document_without_text_has_no_snippets():
    assert snippets_of(Document("7")) == []
    assert [snippet.text for snippet in snippets_of(Document("7", "A title"))] == ["A title"]
