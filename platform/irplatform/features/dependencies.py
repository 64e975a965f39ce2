"""What the features of a reranker depend on, as part of its `depends_on`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def dependencies(names: Sequence[str]) -> Mapping[str, object]:
    """The installed knowledge bases, where one of some groups reads them; else nothing.

    Args:
        names: of groups; one that does not exist is passed over, and refused when it is opened.
    """
    from irplatform.errors import InputError
    from irplatform.knowledge import installed, open_knowledge
    from irplatform.registry import registry

    for name in names:
        try:
            group = registry().feature_group(name).system
        except InputError:
            continue
        if group.reads_knowledge:
            bases = list(installed())
            return {"knowledge": open_knowledge(bases).fingerprint} if bases else {}
    return {}
