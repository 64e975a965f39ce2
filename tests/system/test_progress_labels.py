"""Progress says what is being done in the same words everywhere: "searching", "counting stems"."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
FILES = [*(ROOT / "platform").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]


def _labels(path):
    """Beginnings of the labels that are written where progress is shown."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call) or not node.args:
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        label = node.args[0]
        if name == "progress" and isinstance(label, ast.Constant | ast.JoinedStr):
            yield ast.unparse(label).lstrip("f").strip("'\"")


FOUND = [(str(path.relative_to(ROOT)), label) for path in FILES for label in _labels(path)]


def test_labels_are_found():
    assert len(FOUND) > 30


@pytest.mark.parametrize(("path", "label"), FOUND)
def test_a_label_begins_with_a_verb_in_lower_case(path, label):
    assert re.match(r"[a-z-]+ing\b", label), f"{path}: {label}"
