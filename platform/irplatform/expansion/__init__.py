"""Expanded queries: from topics and knowledge bases to Lucene's queries.

`topic_parts` takes a topic apart and gives its parts further names (`names`, `lookup`), which are
checked against the index (`evidence`). A `plan` weighs the parts. The weighted sum (`query`) is an
`expression`, which can be printed and compiled (`lucene_query`).
"""

from irplatform.expansion.expression import Expression, as_json, as_outline, as_text
from irplatform.expansion.gene_notation import Marker, parse_markers
from irplatform.expansion.plan import QueryPlan, read_plan
from irplatform.expansion.query import Expander

__all__ = [
    "Expander",
    "Expression",
    "Marker",
    "QueryPlan",
    "as_json",
    "as_outline",
    "as_text",
    "parse_markers",
    "read_plan",
]
