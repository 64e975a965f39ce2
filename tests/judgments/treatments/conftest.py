"""A small world of drugs: knowledge bases, and judged topics over articles that name drugs."""

import orjson
import pytest

from irplatform.knowledge import add

NAMES = """id\tname\tkind\tsynonyms
X:1\tImatinib\tdrug\tGleevec|STI571
X:2\tImatinib Mesylate\tdrug\tGlivec
X:3\tSunitinib\tdrug\t
X:4\tTaxane\tdrug\t
X:5\tMEK inhibitor\tdrug\t
X:6\tGlucose\tdrug\t
X:7\tPLX4720\tdrug\t
X:8\tinsulin\tdrug\t
X:9\tINSR\tgene\tinsulin receptor
"""
RELATIONS = """gene_name\tdrug_name\tdrug_concept_id
KIT\tImatinib\t
KIT\tSunitinib\t
TUBB\tTaxane\t
MAP2K1\tMEK inhibitor\t
BRAF\tPLX4720\t
"""
GENES = "id\tname\tkind\nX:9\tINSR\tgene\n"

ARTICLES = {
    "a1": "Treated with imatinib: imatinib in GIST, and the insulin receptor.",
    "a2": "Glivec against tumors with KIT.",
    "a3": "Sunitinib, not imatinib mesylate.",
    "a4": "A taxane or taxanes, a MEK inhibitor, PLX4720 and glucose.",
    "a5": "Taxanes, MEK inhibitors, PLX4720 and glucose.",
    "a6": "Imatinib for nobody.",
    "a7": "Nothing.",
}
TOPICS = [
    {"_id": "1", "text": "GIST KIT", "metadata": {"disease": "GIST", "gene": "KIT"}},
    {"_id": "2", "text": "melanoma KIT", "metadata": {"disease": "melanoma", "gene": "KIT"}},
    {"_id": "3", "text": "nothing"},
]
QRELS = {
    "1": {"a1": 2, "a2": 1, "a3": 1, "a4": 1, "a5": 1, "a6": 0, "a7": -1, "gone": 1},
    "2": {"a1": 1, "a2": 1, "a3": 2, "a4": 1, "a5": 1, "a6": 0},
    "3": {"a7": 0},
}


@pytest.fixture(scope="module")
def bases(cache_of_module, tmp_path_factory):
    """Knowledge bases: `names` of drugs, `relations` of some of them, and `genes` alone."""
    place = tmp_path_factory.mktemp("drugs")
    for name, text in (("names", NAMES), ("relations", RELATIONS), ("genes", GENES)):
        (place / f"{name}.tsv").write_text(text)
        add(name, [place / f"{name}.tsv"])


@pytest.fixture
def source(tmp_path, bases):
    """A `.toml` that describes the topics and articles."""
    folder = tmp_path / "source"
    folder.mkdir()
    lines = {
        "docs": [{"id": doc_id, "abstract": text} for doc_id, text in ARTICLES.items()],
        "topics": TOPICS,
    }
    for name, objects in lines.items():
        written = b"".join(orjson.dumps(each) + b"\n" for each in objects)
        (folder / f"{name}.jsonl").write_bytes(written)
    judged = [f"{t} 0 {d} {grade}\n" for t, held in QRELS.items() for d, grade in held.items()]
    (folder / "qrels.txt").write_text("".join(judged))
    path = folder / "gist.toml"
    path.write_text(
        'id = "gist"\nmeasures = ["AP"]\n[documents]\nfiles = ["docs.jsonl"]\n'
        '[topics]\nfile = "topics.jsonl"\nformat = "beir"\n[qrels]\nfile = "qrels.txt"\n'
    )
    return path
