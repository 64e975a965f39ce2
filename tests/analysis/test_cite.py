"""BibTeX of systems, collections and runs."""

import json
import re

import pytest

from irplatform.analysis.cite import (
    _bibliography,
    as_bibtex,
    cite,
    entry_field,
    references_of,
    split_citation,
)
from irplatform.errors import InputError
from irplatform.registry.loading import registry
from irplatform.run_folder.metadata_files import run_metadata, write_run_with_metadata
from irplatform.run_folder.metadata_model import Data, Marks, Method
from irplatform.runs import Run
from irplatform.runs.fusion import fusion_methods

ENTRY = """@inproceedings{doe2024,
  author = {Doe, {J.}},
  title = {A {New} Ranker},
  year = 2024
}"""


def keys(references):
    return [reference.key for reference in references]


def fields(entry, *names):
    return [entry_field(entry)(name) for name in names]


def test_known_papers_are_recognized_in_the_order_of_the_text():
    text = (
        "The first stage of: Lo et al. DeepSenSe, section “Datasets”; BM25 of Robertson and "
        "Zaragoza, FnTIR 2009."
    )
    assert keys(references_of(text, "mbm")) == ["lo2017deepsense", "robertson2009bm25"]


@pytest.mark.parametrize(
    ("text", "author", "title", "venue", "year"),
    [
        (
            "Jane Q. Doe, John Smith, et al. A New & Better Ranker. JMLR 12, 2024, section 3.",
            "Jane Q. Doe and John Smith and others",
            r"A New \& Better Ranker",
            "JMLR 12, 2024, section 3",
            "2024",
        ),
        (
            "Ada Lovelace and Charles Babbage. Does it rank? London 1943",
            "Ada Lovelace and Charles Babbage",
            "Does it rank?",
            "London 1943",
            "1943",
        ),
    ],
)
def test_another_text_becomes_an_entry(text, author, title, venue, year):
    (reference,) = references_of(text, "my-ranker")
    assert reference.entry.startswith("@misc{my-ranker,\n")
    values = fields(reference.entry, "author", "title", "howpublished", "year")
    assert values == [author, title, venue, year]


def test_a_text_that_is_no_citation_is_a_note():
    (reference,) = references_of("An idea of {ours}", "x")
    assert reference.entry == "@misc{x,\n  note = {An idea of ours}\n}"
    assert references_of("", "x") == []


def test_bibtex_is_taken_as_it_is_and_shown_as_text():
    (reference,) = references_of(f"See section 2.\n{ENTRY}", "x")
    assert (reference.key, reference.entry) == ("doe2024", ENTRY)
    assert split_citation(ENTRY)[0] == "Doe, J. A New Ranker. 2024"
    assert split_citation(f"See section 2.\n{ENTRY}")[0] == "See section 2."
    assert keys(references_of(f"{ENTRY}\n{ENTRY.replace('doe2024', 'roe2025')}", "x")) == [
        "doe2024",
        "roe2025",
    ]


def test_every_known_entry_is_whole():
    for key, (entry, marks) in _bibliography().items():
        assert entry.count("{") == entry.count("}"), key
        assert "aliases" not in entry
        assert not re.search(r",\s*,|%", entry), key
        assert all(fields(entry, "author", "title")), key
        assert min(len(mark.split()) for mark in marks) >= 3, key


def test_every_system_of_ours_that_cites_a_paper_has_a_full_entry():
    plugins = registry()
    for table in (plugins.retrievers, plugins.rerankers):
        for name, registration in table.items():
            if not registration.broken and registration.system.citation:
                for reference in references_of(registration.system.citation, name):
                    assert all(fields(reference.entry, "author", "title")), name


def test_an_entry_comes_once_with_all_that_it_is_cited_for():
    references = cite(["delta", "bm25", "delta-32"])
    assert keys(references) == ["mohan2018delta", "robertson2009bm25"]
    assert references[0].used_for == ("reranker delta", "reranker delta-32")
    assert as_bibtex(references).startswith(
        "% reranker delta; reranker delta-32\n@inproceedings{mohan2018delta,\n"
    )


def of_a_run(tmp_path, name="nfcorpus-dev"):
    content = run_metadata(
        tag="delta",
        command="platform run",
        data=Data(test_collection=Marks(name=name)),
        method=Method(
            retrieval=[
                {"retriever": "bm25"},
                {"retriever": "qld"},
                {"reranker": "delta", "label": "big"},
                {"reranker": "gone"},
            ],
            neural=["big"],
        ),
        timings={},
        measures=["AP"],
        lucene="9",
    )
    write_run_with_metadata(Run("x", {}), tmp_path / "delta.run", content)
    return tmp_path / "delta.run"


def test_a_run_cites_its_collection_systems_and_tools(tmp_path):
    references = cite([of_a_run(tmp_path)])
    assert keys(references) == [
        "boteva2016nfcorpus",
        "robertson2009bm25",
        "zhai2001smoothing",
        "mohan2018delta",
        "cormack2009rrf",
        "irplatform",
        "yang2017anserini",
        "macavaney2022irmeasures",
        "paszke2019pytorch",
    ]
    assert cite([tmp_path]) == references


def test_a_collection_of_a_file_cites_what_it_says(tmp_path):
    (tmp_path / "docs.jsonl").write_text(json.dumps({"_id": "d", "title": "x", "text": ""}) + "\n")
    (tmp_path / "topics.jsonl").write_text(json.dumps({"_id": "q", "text": "x"}) + "\n")
    (tmp_path / "mine.toml").write_text(
        'id = "mine"\ncitation = "Jane Doe. My Topics. Own 2024."\n'
        '[documents]\nformat = "jsonl"\nfiles = ["docs.jsonl"]\n'
        '[topics]\nformat = "beir"\nfile = "topics.jsonl"\n'
    )
    (reference,) = cite([tmp_path / "mine.toml"])
    assert reference.used_for == ("collection mine",)
    assert fields(reference.entry, "title", "year") == ["My Topics", "2024"]


@pytest.mark.parametrize("name", ["deltta", "good.run"])
def test_what_cites_nothing_is_refused(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "good.run").write_text("q Q0 d 1 1 x\n")
    with pytest.raises(InputError, match=r"Did you mean 'delta'|beside this run"):
        cite([name])


def test_every_method_of_fusion_has_a_paper_with_a_full_entry():
    for name, method in fusion_methods().items():
        references = references_of(method.citation, name)
        assert references
        for reference in references:
            assert not reference.entry.startswith("@misc"), name
            assert all(fields(reference.entry, "author", "title", "year")), name
