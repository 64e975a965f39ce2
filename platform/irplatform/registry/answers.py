"""What plugins answer when they are asked about themselves: checked where it is asked.

Such answers go into fingerprints and metadata, which are JSON; an answer that is not would fail
there, far from who gave it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from irplatform.errors import PluginError, in_a_line


def json_mapping(who: str, asked: str, given: object) -> dict[str, object]:
    """An answer, as a table that JSON can hold.

    Args:
        who: the system and its plugin.
        asked: the method that gave it.
        given: the answer.

    Raises:
        PluginError: it is no mapping, or JSON cannot hold it.
    """
    if not isinstance(given, Mapping):
        raise PluginError(
            f"{who} returned {type(given).__name__} from {asked}; a mapping is needed, as JSON."
        )
    held = dict(given)
    try:
        json.dumps(held, sort_keys=True)
    except (TypeError, ValueError, RecursionError) as error:
        raise PluginError(
            f"{who} returned from {asked} what is not JSON: {in_a_line(error)}."
        ) from error
    return held
