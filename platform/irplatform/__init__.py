"""A search-evaluation platform for biomedical literature: from a collection to a scored run."""

__version__ = "0.1.0"
