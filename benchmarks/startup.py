"""Start-up: seconds of a command that needs no model, against importing Pyserini's searcher.

Fresh processes, in turns: `platform --help` and `platform plugins list`, which loads every plugin;
the floor, which is a process that imports only the libraries that both need; and
`pyserini.search.lucene`, which is what a command line pays that imports it at the top. Every
process says at its end how many modules it has loaded.
"""

from __future__ import annotations

import os
import subprocess
import sys
from statistics import median

from _common import alternate, parser, report

HEAVY = ("torch", "jnius", "pandas", "scipy", "spacy", "gensim", "pyserini", "ir_datasets")
"""None of these may be loaded by a command that only lists."""

AT_EXIT = (
    "import atexit, sys; atexit.register(lambda: print(len(sys.modules), "
    f"*sorted({HEAVY!r} & sys.modules.keys()), file=sys.stderr)); "
).replace("(" + repr(HEAVY)[1:], "{" + repr(HEAVY)[1:-1] + "}")
