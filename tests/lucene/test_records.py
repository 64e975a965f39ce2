"""Documents as Anserini's JSON records."""

import orjson
import pytest

from irplatform.errors import InputError
from irplatform.lucene.transfer import fields_record, from_record, searchable, to_record
from irplatform.plugin import Document


@pytest.mark.parametrize(
    "document",
    [
        Document("1", "Title", "Abstract", {"mesh": ("A", "B"), "journal": "J", "none": ()}),
        Document("2"),
        Document("3", " leading", "trailing ", {"id": "9", "contents": "c", "fields": ("x",)}),
        Document("4", " ", "", {"year": "2012"}),
        Document("5", "", " ab"),
        Document("6", "β 🧬 \u2028 \x00", "\t\n", {"entity": "e", "raw": "r", "title": "t"}),
    ],
)
def test_a_record_gives_the_document_back(document):
    assert from_record(to_record(document)) == document


def test_text_is_composed_and_ids_and_fields_stay_as_they_are():
    document = Document("e\u0301", "Ne\u0301o", "Lie\u0300ge", {"journal": "E\u0301tude"})
    record = orjson.loads(to_record(document))
    assert record["contents"] == "N\xe9o Li\xe8ge"
    fields = orjson.loads(fields_record(to_record(document), ["title", "abstract", "journal"]))
    assert (fields["title"], fields["abstract"]) == ("N\xe9o", "Li\xe8ge")
    assert fields["journal"] == "\xc9tude"
    read = from_record(to_record(document))
    assert (read.title, read.abstract) == ("N\xe9o", "Li\xe8ge")
    assert (read.id, dict(read.fields)) == ("e\u0301", {"journal": "E\u0301tude"})


def test_a_record_of_fields_has_those_alone():
    document = Document("1", "On BRAF", "We saw.", {"mesh": ("A", "B"), "year": "2012"})
    assert orjson.loads(to_record(document))["year"] == "2012"
    fields = orjson.loads(fields_record(to_record(document), ["mesh", "title", "journal"]))
    assert fields == {"id": "1", "contents": "\xa0", "mesh": "A such that B", "title": "On BRAF"}


def test_title_and_abstract_are_searched_together():
    assert orjson.loads(to_record(Document("1", "On BRAF", "We saw.")))["contents"] == (
        "On BRAF We saw."
    )


def test_a_record_without_text_is_not_blank_to_java():
    for document in (Document("1"), Document("2", "\x00", " \t")):
        contents = orjson.loads(to_record(document))["contents"]
        assert contents.strip("".join(map(chr, range(33))))


def test_fields_with_names_of_the_record_are_kept_but_not_searched():
    assert searchable(("mesh", "contents", "id", "journal")) == ["mesh", "journal"]


def test_text_that_is_not_unicode_is_refused_by_name():
    with pytest.raises(InputError, match="document 'half' cannot be indexed"):
        to_record(Document("half", "\ud800"))
