"""Structured queries: from topics and knowledge bases to Lucene's queries.

A topic is taken apart (`parts`), its parts get further names (`disease_names`, `gene_names` and
`treatment_names`, checked by `evidence`), a plan says where they are and what each of them weighs
(`plan`, `fields`; on topics that it was chosen on, `held_out`), and the sum of it (`build`) is an
expression, which can be printed (`explain`; in short, `outline`) and compiled (`compile`).
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
