"""Weights of a model over standardized features, as JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import numpy as np

from irplatform.errors import InputError
from irplatform.json_io import read_own_json
from irplatform_ltr.learners.standard import Standard

if TYPE_CHECKING:
    from pathlib import Path

    from irplatform_ltr.learners.learner import Scores


def write_weights(path: Path, standard: Standard, **weights: Scores) -> None:
    """Write arrays under their names, with means and deviations of the features."""
    content = {name: values.tolist() for name, values in weights.items()} | standard.written()
    path.write_text(json.dumps(content), encoding="utf-8")


def read_weights(path: Path, kind: str, *names: str) -> tuple[Standard, list[Scores]]:
    """Read what `write_weights` wrote."""
    try:
        content = read_own_json(path)
        weights = [np.array(content[name], dtype=np.float64) for name in names]
        return Standard.read(content), weights
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(f"this is no {kind}.", path=path) from error
