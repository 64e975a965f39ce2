"""Expanded queries: from topics and knowledge bases to Lucene's queries.

`topic_parts` takes a topic apart and gives its parts further names (`names`, `lookup`), which are
checked against the index (`evidence`). A `plan` weighs the parts. The weighted sum (`query`) is an
`expression`, which can be printed and compiled (`lucene_query`).
"""

from irplatform.expansion.expression import Expression, as_json, as_outline, as_text
from irplatform.expansion.gene_notation import Marker, parse_markers
from irplatform.expansion.plan import QueryPlan, chosen_on, query_dependencies, read_plan
from irplatform.expansion.query import Expander
from irplatform.expansion.topic_parts import check_fields

__all__ = [
    "Expander",
    "Expression",
    "Marker",
    "QueryPlan",
    "as_json",
    "as_outline",
    "as_text",
    "check_fields",
    "chosen_on",
    "parse_markers",
    "query_dependencies",
    "read_plan",
]
