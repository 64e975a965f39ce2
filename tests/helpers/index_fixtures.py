"""A small corpus, its index, and the means to make others."""

import pytest

from irplatform.data import Corpus
from irplatform.lucene import LuceneIndex, build_index
from irplatform.plugin import Document


class ListedCorpus(Corpus):
    """Documents at hand; `fingerprint` is unique unless it is given."""

    made = 0

    def __init__(self, documents, *, fields=(), count=None, fingerprint=None):
        ListedCorpus.made += 1
        self.name = "listed"
        self.fields = tuple(fields)
        self.listed = documents
        self.counted = count
        self.mark = fingerprint or f"listed-{ListedCorpus.made}"

    @property
    def fingerprint(self):
        return self.mark

    def __iter__(self):
        return iter(self.listed)

    def count(self):
        return self.counted


ARTICLES = [
    Document(
        "m1",
        "Vemurafenib in melanoma",
        "BRAF V600E mutations are common in melanoma; vemurafenib inhibits BRAF.",
        {"mesh": ("Melanoma", "Proto-Oncogene Proteins B-raf"), "journal": "N Engl J Med"},
    ),
    Document(
        "m2",
        "Dabrafenib for metastatic disease",
        "Patients with melanoma received dabrafenib and trametinib, MEK and BRAF inhibitors.",
        {"mesh": ("Melanoma", "Imidazoles")},
    ),
    Document("t1", "Trametinib pharmacokinetics", "Dabrafenib raises trametinib exposure.", {}),
    Document("e1", "EGFR inhibitors", "Gefitinib in lung cancer.", {"mesh": ("Lung Neoplasms",)}),
    Document("empty", "", "", {"mesh": ()}),
    Document("ü-1\U0001f9ec", "Naïve β-cells 🧬", 'Says "quoted" \\ back\nslash\u2028.', {}),
]


@pytest.fixture(scope="session")
def listed_corpus():
    return ListedCorpus


@pytest.fixture(scope="module")
def index_of(cache_of_module):
    """Builds and opens the index of some documents."""
    opened = []

    def build(documents, *, fields=(), threads=2):
        corpus = ListedCorpus(documents, fields=fields)
        opened.append(LuceneIndex.open(build_index(corpus, threads=threads).path))
        return opened[-1]

    yield build
    for index in opened:
        index.close()


@pytest.fixture(scope="session")
def articles():
    return list(ARTICLES)


@pytest.fixture(scope="module")
def article_index(index_of):
    return index_of(ARTICLES, fields=("mesh", "journal"))
