"""Ids as people type them."""

import pytest

from irplatform.knowledge.model import typed


@pytest.mark.parametrize(
    ("term", "concept_id"),
    [
        ("D008545", "MESH:D008545"),
        (" d008545 ", "MESH:D008545"),
        ("C000709826", "MESH:C000709826"),
        ("mesh:D008545", "MESH:D008545"),
        ("hgnc:1097", "HGNC:1097"),
        ("CD20", "CD20:"),
    ],
)
def test_ids_get_their_prefix(term, concept_id):
    assert typed(term) == concept_id
