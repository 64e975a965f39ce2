"""Articles from NCBI's E-utilities, a few hundred a call."""

from irplatform.collections.eutils.access import Access, access
from irplatform.collections.eutils.articles import fetch_articles, fetched_documents, kept_batches
from irplatform.collections.eutils.plan import plan

__all__ = [
    "Access",
    "access",
    "fetch_articles",
    "fetched_documents",
    "kept_batches",
    "plan",
]
