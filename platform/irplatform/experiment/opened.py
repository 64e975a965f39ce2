"""Collections that a program opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from irplatform.experiment.arguments import OPENED_AS
from irplatform.registry.loading import registry

if TYPE_CHECKING:
    from irplatform.data import Collection
    from irplatform.experiment.arguments import AnyPath


def collection(name: AnyPath) -> Collection:
    """Open a collection: its topics, judgments and documents.

    Args:
        name: a name, a path or an ir_datasets id.

    Raises:
        InputError: there is no such collection, or its files cannot be read.

    Examples:
        >>> import irplatform as ir
        >>> demo = ir.collection("demo")
        >>> len(demo.topics), demo.topics[0].query
        (20, 'breast cancer ERBB2 amplification')
    """
    opened = registry().collection(str(name))
    vars(opened)[OPENED_AS] = str(name)
    return opened
