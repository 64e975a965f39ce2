"""Expanded queries: from topics and knowledge bases to Lucene's queries.

A topic is taken apart (`parts`), and its parts get further names (`names`, `lookup`), which are
checked against the index (`evidence`). A plan (`plan`) says what each part weighs. The weighted sum
(`query`) is an expression (`expression`), which can be printed and compiled (`lucene_query`).
"""

from irplatform.expansion.expression import Expression, as_json, as_outline, as_text
from irplatform.expansion.gene_notation import Marker, parse_markers
from irplatform.expansion.parts import check_fields
from irplatform.expansion.plan import QueryPlan, chosen_on, query_dependencies, read_plan
from irplatform.expansion.query import Expander

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
