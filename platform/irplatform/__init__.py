"""A search-evaluation platform for biomedical literature: from a collection to a scored run."""

from irplatform.system.arithmetic import configure_libraries

__version__ = "0.1.0"

configure_libraries()
