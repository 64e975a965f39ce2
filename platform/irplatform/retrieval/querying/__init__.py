"""Structured queries: from topics and knowledge bases to Lucene's queries.

A topic is taken apart (`parts`), its parts get further names (`disease_names`, `gene_names` and
`treatment_names`, checked by `evidence`), a plan says where they are and what each of them weighs
(`plan`, `fields`; on topics that it was chosen on, `held_out`), and the sum of it (`build`) is an
expression, which can be printed (`explain`; in short, `outline`) and compiled (`compile`).
"""

from irplatform.retrieval.querying.expander import Expander
from irplatform.retrieval.querying.explain import as_json, as_text
from irplatform.retrieval.querying.expression import Expression
from irplatform.retrieval.querying.fields import check_fields
from irplatform.retrieval.querying.held_out import chosen_on, query_dependencies
from irplatform.retrieval.querying.outline import as_outline
from irplatform.retrieval.querying.plan import QueryPlan, read_plan

__all__ = [
    "Expander",
    "Expression",
    "QueryPlan",
    "as_json",
    "as_outline",
    "as_text",
    "check_fields",
    "chosen_on",
    "query_dependencies",
    "read_plan",
]
