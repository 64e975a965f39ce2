"""`platform collections`."""

import json

import pytest


def test_list_names_the_registered_the_users_own_and_the_built_in(platform):
    assert platform("collections", "add", "mine", "small").code == 0
    outcome = platform("collections", "list")
    rows = [line.split()[:2] for line in outcome.out.splitlines()]
    assert ["demo", "plugin"] in rows
    assert ["mine", "user"] in rows
    assert ["trec-pm-2017", "built-in"] in rows
    assert "ir_datasets id" in outcome.out
    assert "FOLDER:split" in outcome.out


def test_list_as_json(platform, folder):
    platform("collections", "add", "mine", "small")
    entries = platform("collections", "list", "--json").json["collections"]
    assert {"from": "user", "name": "mine", "what": str(folder / "small")} in entries
    assert all(entry["what"] for entry in entries)


def test_a_name_stands_for_the_path_wherever_one_is(platform, folder, monkeypatch):
    platform("collections", "add", "mine", "small")
    monkeypatch.chdir("/")
    assert platform("collections", "show", "mine", "--json").json["id"] == "small-test"


def test_a_removed_name_is_forgotten(platform):
    platform("collections", "add", "mine", "small")
    assert platform("collections", "remove", "mine").code == 0
    assert platform("collections", "show", "mine").code == 2
    again = platform("collections", "remove", "mine")
    assert again.code == 2
    assert "mine" in again.err


def test_show_tells_what_is_in_a_collection(platform):
    outcome = platform("collections", "show", "small")
    facts = dict(line.split("  ", 1) for line in outcome.out.splitlines())
    facts = {name: value.strip() for name, value in facts.items()}
    assert facts["topics"] == "2"
    assert facts["judgments per grade 2"] == "1"
    assert facts["example document title"] == "Crizotinib in lung cancer"
    assert facts["example topic query"] == "crizotinib"


def test_show_as_json(platform):
    facts = platform("collections", "show", "small", "--json").json
    assert facts["judgments"]["per_grade"] == {"1": 1, "2": 1}


def test_documents_that_are_not_counted_yet_are_said_to_be_so(platform):
    facts = platform("collections", "show", "small", "--json").json
    assert facts["documents"] is None
    assert facts["documents_note"].startswith("not counted yet: `platform index`")
    assert "documents note" in platform("collections", "show", "small").out


@pytest.mark.java
def test_an_index_tells_how_many_documents_there_are(platform):
    assert platform("index", "--collection", "small").code == 0
    facts = platform("collections", "show", "small", "--json").json
    assert (facts["documents"], facts["documents_note"]) == (3, "")
    text = platform("collections", "show", "small").out
    assert "documents " in text
    assert "documents note" not in text


def test_show_keeps_an_example_in_its_line(platform, folder):
    document = {"_id": "d1", "title": "Two\nlines\tand a tab", "text": "ALK."}
    (folder / "small" / "corpus.jsonl").write_text(json.dumps(document) + "\n")
    assert "  Two lines and a tab\n" in platform("collections", "show", "small").out


@pytest.mark.java
def test_search_keeps_a_title_in_its_line(platform, folder):
    document = {"_id": "d1", "title": "Crizotinib\n\tand more", "text": "ALK."}
    (folder / "small" / "corpus.jsonl").write_text(json.dumps(document) + "\n")
    command = ("search", "--collection", "small", "--query", "crizotinib\nmore")
    first, hit = platform(*command).out.splitlines()
    assert first == "query: crizotinib more"
    assert hit.endswith("d1  Crizotinib and more")
    assert platform(*command, "--json").json["hits"][0]["title"] == document["title"]


@pytest.mark.java
@pytest.mark.parametrize("as_json", [False, True])
def test_search_says_that_it_finds_nothing(platform, as_json):
    command = ("search", "--collection", "small", "--query", "zzzzqqq")
    outcome = platform(*command, *["--json"] * as_json)
    assert outcome.code == 0
    assert outcome.err.splitlines()[-1] == "small: bm25 finds nothing"
    if as_json:
        assert outcome.json["hits"] == []


@pytest.mark.parametrize("query", ["", " "])
def test_an_empty_query_is_refused(platform, query):
    refused = platform("search", "--collection", "small", "--query", query)
    assert (refused.code, refused.out) == (2, "")
    assert "the query is empty" in refused.err


def test_show_says_what_would_be_downloaded(platform):
    outcome = platform("collections", "show", "trec-pm-2017")
    assert outcome.code == 0
    assert "would download" in outcome.out
    assert "26,740,025" in outcome.out


def test_a_sound_collection_has_exit_code_0(platform):
    checked = platform("collections", "check", "small")
    assert checked.code == 0
    assert checked.out == "small: nothing is wrong.\n"
    assert platform("collections", "check", "small", "--json").json == {
        "collection": "small",
        "sound": True,
        "findings": [],
    }


def test_a_note_alone_has_exit_code_0(platform, folder):
    with (folder / "small/qrels/test.tsv").open("a") as file:
        file.write("q1\td9\t0\n")
    checked = platform("collections", "check", "small")
    assert checked.code == 0
    assert checked.out.startswith("note: 1 of 3 judged documents are not in the corpus")
    assert "(d9)" in checked.out


def test_only_some_of_many_examples_are_shown(platform, folder):
    with (folder / "small/qrels/test.tsv").open("a") as file:
        file.writelines(f"q1\tx{number}\t0\n" for number in range(6))
    assert "(x0, x1, x2, x3, x4, …)" in platform("collections", "check", "small").out


@pytest.mark.parametrize("as_json", [False, True])
def test_a_collection_that_cannot_be_trusted_has_exit_code_1(platform, folder, as_json):
    with (folder / "small/corpus.jsonl").open("a") as file:
        file.write(json.dumps({"_id": "d1", "title": "Again", "text": "twice"}) + "\n")
    checked = platform("collections", "check", "small", *["--json"] * as_json)
    assert checked.code == 1
    if as_json:
        (finding,) = checked.json["findings"]
        assert (finding["kind"], finding["serious"]) == ("duplicate ids", True)
        assert finding["examples"] == ["d1"]
        assert checked.json["sound"] is False
    else:
        assert checked.out.startswith("ERROR: ")
        assert "d1" in checked.out


@pytest.mark.parametrize(
    ("size", "note"),
    [(6_100, " (6 kB)"), (2_400_000, " (2.4 MB)"), (22_000_000_000, " (22.0 GB)"), (None, "")],
)
def test_the_size_of_a_download_has_a_unit_that_fits(platform, monkeypatch, size, note):
    facts = {"downloads": [{"source": "https://x.org/y", "bytes": size, "path": None}]}
    monkeypatch.setattr("irplatform.collections.inspection.describe", lambda _collection: facts)
    outcome = platform("collections", "show", "small")
    assert outcome.out == f"would download  https://x.org/y{note}\n"
