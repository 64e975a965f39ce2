"""Documents as clients of other services send them: read, or refused with their place."""

import pytest

from irplatform.serving.document_forms import read_documents
from irplatform.serving.requests import Explain, Rerank


def _read(*documents, **more):
    request = Rerank.model_validate({"query": "glioma", "documents": list(documents), **more})
    return [(document.title, document.text, document.id) for document in request.documents]


@pytest.mark.parametrize(
    ("document", "words"),
    [
        ("Title: Glioma\nContent: rats", ("", "Title: Glioma\nContent: rats", "")),  # Cohere's YAML
        ({"text": "glioma"}, ("", "glioma", "")),
        ({"title": "Glioma", "abstract": "rats"}, ("Glioma", "rats", "")),
        ({"content": "glioma"}, ("", "glioma", "")),
        ({"page_content": "glioma", "metadata": {"page": 3}}, ("", "glioma", "")),
        ({"contents": "glioma", "id": "7"}, ("", "glioma", "")),
        ({"id": 7, "content": "glioma", "blob": None, "score": 0.5}, ("", "glioma", "")),
        ({"id_": "n", "text": "glioma", "class_name": "TextNode"}, ("", "glioma", "")),
        ({"Title": "Glioma", "Content": "rats"}, ("Glioma", "rats", "")),
        ({"text": None, "content": "glioma"}, ("", "glioma", "")),
        ({"text": "", "content": "glioma"}, ("", "glioma", "")),
        ({"text": "glioma", "content": "rats"}, ("", "glioma", "")),
        ({"title": "Glioma", "abstract": None}, ("Glioma", "", "")),
        ({"content": [{"type": "text", "text": "glioma"}, {"type": "text", "text": "in rats"}]},
         ("", "glioma in rats", "")),
        ({"text": ["glioma", "rats", 3]}, ("", "glioma rats 3", "")),
        ({"text": ""}, ("", "", "")),
        ({"id": "7", "text": ""}, ("", "", "")),
        ({"id": "7"}, ("", "", "7")),
        ({"id": 7, "score": 0.5, "metadata": {}, "title": ""}, ("", "", "7")),
    ],
)  # fmt: skip
def test_the_words_of_a_document_are_read(document, words):
    assert _read(document) == [words]


@pytest.mark.parametrize(
    "document",
    [
        {},
        {"snippet": "glioma"},
        {"image": "https://example.org/glioma.png"},
        {"text": None},
        {"text": "", "snippet": "glioma"},
        {"id": "7", "snippet": "glioma"},
        {"id": "7", "metadata": {"text": "glioma"}},
        {"_id": "7", "fields": {"chunk": "glioma"}},
        {"node": {"text": "glioma"}, "score": 0.5},
        {"id": True},
        {"id": ""},
        {"id": None, "title": "  "},
    ],
)
def test_a_document_without_words_is_refused_with_its_place_and_keys(document):
    with pytest.raises(ValueError, match=r"documents\.1: there are no words under 'title', 'te"):
        _read("glioma", document)


@pytest.mark.parametrize(
    "value", [True, {"a": "b"}, [{"type": "image_url"}], ["a", False], [["a"]], float("nan")]
)
def test_a_text_of_another_type_is_refused(value):
    with pytest.raises(ValueError, match=r"documents\.0: 'text' is .*, not a text"):
        _read({"text": value})


def test_rank_fields_name_the_keys_that_are_read():
    documents = [{"Title": "Glioma", "Body": "rats", "Year": 2020}, {"Title": "Asthma"}, "plain"]
    read = [("Glioma", "rats 2020", ""), ("Asthma", "", ""), ("", "plain", "")]
    assert _read(*documents, rank_fields=["Title", "Body", "Year"]) == read
    hit = {"_id": "7", "fields": {"chunk": "glioma", "page": 3}}
    assert _read(hit, rank_fields=["chunk"]) == [("", "glioma", "")]
    assert _read({"id": "7", "x": ["a", "b"]}, rank_fields=["x"]) == [("", "a b", "")]
    assert _read({"text": "a"}, rank_fields=None) == _read({"text": "a"}, rank_fields=[])
    with pytest.raises(ValueError, match=r"documents\.1: there are no words under 'Title' "):
        _read({"Title": "a"}, {"title": "b"}, rank_fields=["Title"])


@pytest.mark.parametrize("names", ["Title", 3, [3], [["Title"]], [None], {"Title": 1}])
def test_rank_fields_that_are_no_keys_are_refused(names):
    with pytest.raises(ValueError, match="rank_fields"):
        _read({"Title": "a"}, rank_fields=names)


def test_what_was_sent_is_sent_back():
    content = {"Title": "Glioma", "Year": 2020, "sent": 1, "unread": 2}
    (document,) = Rerank.model_validate({"query": "x", "documents": [content]}).documents
    assert (document.sent, document.unread) == (content, [])


def test_texts_and_documents_to_explain_are_read_alike():
    request = {"query": "glioma", "documents": [{"content": "a"}, {"page_content": "b"}, "c"]}
    explained, scored = Explain.model_validate(request), Rerank.model_validate(request)
    assert explained.documents == scored.documents
    assert read_documents({"query": "x"}) == {"query": "x"}
