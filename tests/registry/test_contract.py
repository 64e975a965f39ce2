"""The contract of plugins stays small."""

from irplatform.plugin import declarations, features, rerankers, retrievers

CLASSES = (
    declarations.Declared,
    rerankers.Reranker,
    rerankers.TrainableReranker,
    retrievers.Retriever,
    features.FeatureGroup,
    features.TrainableFeatureGroup,
)


def test_an_author_can_override_thirty_names_at_most():
    names = [name for kind in CLASSES for name in vars(kind) if not name.startswith("_")]
    assert len(names) <= 30
