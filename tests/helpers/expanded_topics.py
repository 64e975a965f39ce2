"""A topic, and the names in its expanded query."""

from irplatform.expansion.expression import as_json
from irplatform.plugin import Topic

TOPIC = Topic("1", "lung cancer ERBB2", {"disease": "lung cancer", "gene": "ERBB2 (V600E)"})


def names_of(expression, setting):
    """The names in a part of the query, by weight."""
    weights = {}

    def visit(part):
        if "text" in part:
            weights[part["text"]] = part.get("weight", 1)
        for inner in part.get("parts", ()):
            visit(inner)

    for part in as_json(expression)["parts"]:
        if part.get("setting") == setting:
            visit({**part, "weight": 1})
    return weights
