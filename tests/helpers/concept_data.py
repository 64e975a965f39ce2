"""A small world of concepts: a knowledge base, articles, and their corpus."""

from __future__ import annotations

from irplatform.data import Corpus
from irplatform.plugin import Document

KB = """id\tname\tkind\tsynonyms\tparents\txrefs
X:1\tneoplasm\tdisease\ttumor|cancer\t\t
X:2\tmelanoma\tdisease\tmalignant melanoma|MM\tX:1\tZ:2
X:3\tnon-small cell lung cancer\tdisease\tCarcinoma, Non-Small-Cell Lung|NSCLC\tX:1\t
X:4\tsmall cell carcinoma\tdisease\t\tX:1\t
X:5\tMET\tgene\tc-Met|HGFR|hepatocyte growth factor receptor\t\t
X:6\tSLTM\tgene\tMet\t\t
X:7\tGefitinib\tdrug\tIressa\t\t
X:8\tinpatients\tother\t\t\t
X:9\tWDHD1\tgene\tAND-1\t\t
X:10\tAR\tgene\tandrogen receptor\t\t
X:11\tpet\tother\t\t\t
X:12\twill\tother\t\t\t
X:13\tBRAF\tgene\tB-raf\t\t
X:14\tBRAF V600E\tvariant\t\t\t
X:15\tprotein S\tdrug\t\t\t
X:16\tTNF-alpha\tdrug\ttumor necrosis factor alpha\t\t
X:17\tLCR\tgene\t\t\t
X:18\tlung cancer\tdisease\t\tX:1\t
X:19\tinterleukin-2 receptor\tdrug\t\t\t
X:20\tinterleukin-2\tdrug\t\t\t
"""
SECOND_KB = """id\tname\tkind\tsynonyms\tparents\txrefs
Z:1\tneoplasm\tdisease\t\t\t
Z:2\tmalignant skin tumor\tdisease\t\tZ:1\t
Z:3\tgefitinib\tdrug\tZD1839\t\t
"""
ARTICLES = [
    ("d1", "Gefitinib in non-small-cell lung cancers", "NSCLC and MET amplification. MET again."),
    ("d2", "BRAF V600E in melanoma", "The melanomas of in patients and 1 tumour."),
    ("d3", "", ""),
    ("d4", "Nothing to see", "Words alone."),
]


class Articles(Corpus):
    """A corpus in memory."""

    name, fields, fingerprint = "articles", ("mesh",), "f1"

    def __init__(self, articles=ARTICLES, headings=None):
        self.fingerprint = "f1" if articles is ARTICLES else str(articles)
        self.documents = [
            Document(
                doc_id,
                title,
                text,
                {"mesh": tuple(headings[doc_id])} if headings and doc_id in headings else {},
            )
            for doc_id, title, text in articles
        ]

    def __iter__(self):
        return iter(self.documents)

    def count(self):
        return len(self.documents)
