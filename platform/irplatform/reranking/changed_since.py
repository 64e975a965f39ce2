"""What to tell where a checkpoint was trained by other code, or with other knowledge, than now."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from irplatform.errors import listing
from irplatform.training.checkpoints import Checkpoint

if TYPE_CHECKING:
    from irplatform.reranking.systems import RerankerChoice
    from irplatform.reranking.training_set import TrainingSource


_GROUPS = "features"
"""Under this name a checkpoint says what groups of features are made of."""
_CODE = {"distribution", "version", "source"}
"""And under these whose code that is."""


def warning_of_code(choice: RerankerChoice, training_source: TrainingSource) -> str:
    """What to tell where a checkpoint was trained by other code than what scores now, or ""."""
    if training_source.checkpoint is None or not choice.trainable:
        return ""
    trained = Checkpoint.read(training_source.checkpoint).description
    made_by = choice.registration.made_by
    changed = [name for name in ("version", "source") if trained.get(name) != made_by.get(name)]
    if not changed:
        return ""
    which = f"version {trained.get('version')}" if "version" in changed else "other source code"
    return (
        f"WARNING: {choice.name}'s checkpoint was trained by {which} of "
        f"{choice.registration.plugin}: its scores may differ from those of the code it was made "
        "with."
    )


def warning_of_surroundings(choice: RerankerChoice, training_source: TrainingSource) -> str:
    """What to tell where a checkpoint was trained with other knowledge bases than there are now.

    Or with other files that its options name: whatever a system says that it depends on.
    """
    if training_source.checkpoint is None or not choice.trainable:
        return ""
    trained = Checkpoint.read(training_source.checkpoint).description.get("of", {})
    now = json.loads(json.dumps(choice.registration.dependencies(choice.options)))
    if not (changed := sorted(n for n in {*trained, *now} if trained.get(n) != now.get(n))):
        return ""
    groups = _changed_groups(trained.get(_GROUPS), now.get(_GROUPS))
    others = [name for name in changed if name != _GROUPS or not groups]
    things = [*(f"feature group '{name}'" for name in groups), *others]
    of_code = not others and all(
        _but_code(trained[_GROUPS].get(name)) == _but_code(now[_GROUPS].get(name))
        for name in groups
    )
    why = (
        "Was the package that has it changed?"
        if of_code
        else "Was a knowledge base or a model added, removed or replaced?"
    )
    return (
        f"WARNING: what {choice.name} reads beside documents and topics ({listing(things)}) is "
        f"not what its checkpoint was trained with. {why} Its scores may differ from those of then."
    )


def _but_code(group: object) -> dict[str, object]:
    """What a group is made of, without what tells whose code it is."""
    told = group if isinstance(group, dict) else {}
    return {name: value for name, value in told.items() if name not in _CODE}


def _changed_groups(trained: object, now: object) -> list[str]:
    """The groups of features that are other ones, in code or content."""
    if not (isinstance(trained, dict) and isinstance(now, dict)):
        return []
    return sorted(n for n in {*trained, *now} if trained.get(n) != now.get(n))
