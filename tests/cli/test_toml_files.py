"""TOML files as Windows' Notepad saves them, with a byte order mark."""

import codecs
from pathlib import Path

import pytest

from irplatform.cli.settings import read_settings
from irplatform.collections.beir import referenced_corpus
from irplatform.errors import InputError
from irplatform.expansion.plan import read_plan
from irplatform.registry.loading import registry
from irplatform.reproduction.rows import read_rows


@pytest.fixture
def saved(folder):
    """Save a file with a mark in front."""

    def saved(name, text):
        (folder / name).write_bytes(codecs.BOM_UTF8 + text.encode())
        return folder / name

    return saved


def test_settings(saved):
    assert read_settings((), saved("config.toml", "bm25.k1 = 1.2\n")) == {"bm25.k1": 1.2}


def test_what_is_no_toml_is_refused_with_its_line(saved):
    with pytest.raises(InputError, match=r"config\.toml:2: this is not TOML: [^(]*\.$"):
        read_settings((), saved("config.toml", "k1 = 1.2\nb =\n"))
    with pytest.raises(InputError, match=r"there is no such file"):
        read_settings((), Path("nowhere.toml"))


def test_a_query_plan(saved):
    assert read_plan(saved("plan.toml", "gene.weight = 2.0\n")) == {"gene": {"weight": 2.0}}


def test_rows_of_results(saved):
    rows = (
        '[[result]]\nid = "r"\ncollection = "demo"\nminutes = 1\ntolerance = 0\n'
        "expected = { AP = 0.3 }\n"
    )
    assert [row.id for row in read_rows(saved("rows.toml", rows))] == ["r"]


def test_a_reference_to_documents(saved):
    path = saved("corpus.toml", 'collection = "demo"\n')
    corpus = referenced_corpus(path, registry().collection)
    assert corpus.name == "demo"


def test_a_collection(platform, saved):
    text = (
        'id = "tiny"\n'
        '[documents]\nfiles = ["small/corpus.jsonl"]\nid = "_id"\nabstract = "text"\n'
        '[topics]\nfile = "small/queries.jsonl"\nformat = "beir"\n'
    )
    saved("tiny.toml", text)
    assert platform("collections", "show", "tiny.toml", "--json").json["id"] == "tiny"
    saved("tiny.toml", f"{text}=\n")
    assert "tiny.toml:9: this is not TOML" in platform("collections", "show", "tiny.toml").err


def test_a_setting_with_two_values_is_refused():
    assert read_settings(("k1=1.2", "b=0.4", "k1=1.2"), None) == {"k1": 1.2, "b": 0.4}
    with pytest.raises(InputError, match=r"--set k1 is given twice, with 1\.2 and 1\.5"):
        read_settings(("k1=1.2", "k1=1.5"), None)
