"""A search-evaluation platform for biomedical literature: from a collection to a scored run."""

from irplatform.system.devices import settle

__version__ = "0.1.0"

settle()
