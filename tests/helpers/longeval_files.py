"""Metadata of a submission to LongEval, as its form asks for them."""

LONGEVAL = "longeval-2026-sci"
SNAPSHOTS = ("snapshot-1", "snapshot-2", "snapshot-3")
FILLED = {
    "tag": "theirs",
    "actor": {"team": "Engines"},
    "research goal": {"description": "To find."},
    "platform": {"software": {"libraries": ["pyterrier 1.0"]}},
    "implementation": {"source": {"repository": "https://example.org/theirs"}},
    "data": {"training data": [{"name": "longeval-sci"}]},
    "method": {
        "automatic": True,
        "indexing": {"tokenizer": "a", "stemmer": "b", "stopwords": "c"},
        "retrieval": [
            {
                "name": "bm25",
                "lexical": True,
                "deep_neural_model": False,
                "sparse_neural_model": False,
                "single_stage_retrieval": True,
            }
        ],
    },
}
