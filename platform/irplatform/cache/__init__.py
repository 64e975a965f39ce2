"""What commands have built, kept for the next one: where, under which names, by one at a time."""

from irplatform.cache.artifacts import (
    MANIFEST,
    Artifact,
    artifact,
    damaged_file,
    is_built,
    kept_json,
)
from irplatform.cache.location import home
from irplatform.cache.locks import lock
from irplatform.cache.resumable import resumable_folder

__all__ = [
    "MANIFEST",
    "Artifact",
    "artifact",
    "damaged_file",
    "home",
    "is_built",
    "kept_json",
    "lock",
    "resumable_folder",
]
