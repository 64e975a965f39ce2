"""The common terms of postings, as their files have them."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from irplatform.postings.common import Common, open_common, write_common


def common_terms(starts, documents, count):
    """What `write_common` writes and `open_common` opens, in memory."""
    with TemporaryDirectory() as folder:
        write_common(Path(folder), starts, documents, count)
        return Common(*map(np.array, open_common(Path(folder))))
