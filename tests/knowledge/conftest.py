"""Small knowledge bases, written by hand."""

import gzip

import pytest
from kb_data import OWN

from irplatform.knowledge import add, open_knowledge
from irplatform.knowledge.catalogue import format_of
from irplatform.knowledge.model import Concept, Relation


@pytest.fixture
def write(tmp_path):
    """Write a file of text, gzipped where its name says so."""

    def write(name, text):
        path = tmp_path / name
        content = text if isinstance(text, bytes) else text.encode()
        path.write_bytes(gzip.compress(content, mtime=0) if name.endswith(".gz") else content)
        return path

    return write


@pytest.fixture
def read(write):
    """What an importer, found by content, makes of a file: its format, concepts, relations."""

    def read(kb, name, text):
        path = write(name, text)
        file_format = format_of(path, kb)
        records = list(file_format.read(path))
        concepts = {}
        for record in records:
            if isinstance(record, Concept):
                concepts.setdefault(record.id, record)
        relations = {
            (r.source_id, r.kind, r.target_id): r.evidence
            for r in records
            if isinstance(r, Relation)
        }
        return file_format.name, concepts, relations

    return read


@pytest.fixture
def small_knowledge(fresh_home, write):
    """A knowledge base of one's own, added and opened."""
    add("own", [write("own.tsv", OWN)])
    return open_knowledge(["own"])
