"""Names of local values are nouns of the field: no pronouns, adverbs or participles."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("platform", "plugins", "benchmarks", "docs", "examples", "qrels", "runs", "tests")
WORDS = set(
    """
    among asked both chosen done each found given held here how it kept kin known listed made
    named ours own seen sent shown some such taken that theirs them there these they this those
    told used wanted what when where which who whole why written
    """.split()  # noqa: SIM905 - a list would take a line for each word
)


def _values(tree):
    """Names that functions and comprehensions give to values, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.comprehension):
            targets = ast.walk(node.target)
        elif isinstance(node, ast.FunctionDef):
            targets = ast.walk(node)
        else:
            continue
        for target in targets:
            if isinstance(target, ast.Name) and isinstance(target.ctx, ast.Store):
                yield target.lineno, target.id


@pytest.mark.parametrize("folder", FOLDERS)
def test_values_are_named_by_nouns(folder):
    named_otherwise = {
        f"{path.relative_to(ROOT)}:{line} {name}"
        for path in (ROOT / folder).rglob("*.py")
        for line, name in _values(ast.parse(path.read_text(encoding="utf-8")))
        if name.strip("_") in WORDS
    }
    assert named_otherwise == set()


def test_a_pronoun_is_found():
    source = "def f(rows):\n    for each in rows:\n        print(each)\n"
    assert list(_values(ast.parse(source))) == [(2, "each")]
