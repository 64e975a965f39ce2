"""Dependencies point one way, from the command line down to texts and files.

Read from the source with `ast`, so that imports within functions and for type checkers count too;
those for type checkers may point upwards, since nothing is loaded for them.
"""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import irplatform.plugin

ROOT = Path(__file__).resolve().parent.parent
HARNESS = ROOT / "platform" / "irplatform"
PLUGINS = sorted(path for path in (ROOT / "plugins").iterdir() if (path / "__init__.py").exists())

LAYERS = (
    {"__main__"},
    {"cli"},
    {"api"},
    {"conformance", "plugin_template", "recording", "reproduction", "timing", "tuning"},
    {"training_topics"},
    {"judgments"},
    {"choices"},
    {"pipeline"},
    {"reranking"},
    {"resources", "devices", "reports"},
    {"word_vectors", "features"},
    {"collections"},
    {"retrieval"},
    {"training"},
    {"evaluation"},
    {"registry"},
    {"concepts"},
    {"knowledge", "bioasq"},
    {"runs", "text"},
    {"plugin"},
    {"digests", "parallel"},
    {"cache"},
    {"toml_io"},
    {"json_io"},
    {"storage", "journal", "text_files", "thinning", "workers", "repeats", "batched"},
    {"arithmetic", "option_problems"},
    {"containment", "packages"},
    {"console"},
    {"option_types", "errors"},
    {"ids", "progress", "scratch", "stopwatch"},
)
"""From the top down. A package imports itself and what is in the layers below."""

EXCEPTIONS = {
    ("registry", "collections"): "when asked to, resolves names that no plugin registered",
}
CIRCLES = {
    ("irplatform.collections.toml", "irplatform.collections.paths"): "one declares another",
}
FOR_PLUGINS = {
    "collections",
    "concepts",
    "digests",
    "errors",
    "features",
    "json_io",
    "knowledge",
    "plugin",
    "registry",
    "retrieval",
    "runs",
    "storage",
    "text",
    "training",
}
"""What plugins import of the harness; the contract and docs/plugin-rules.md say the same."""


@cache
def _imports(path: Path, *, for_types: bool = False) -> set[str]:
    """Full names of the modules that a file imports."""
    found = set()
    nodes = [ast.parse(path.read_text(encoding="utf-8"))]
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and not for_types and "TYPE_CHECKING" in ast.unparse(node.test):
            nodes.extend(node.orelse)
            continue
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
        nodes.extend(ast.iter_child_nodes(node))
    return found


def _part(module: str) -> str | None:
    """`irplatform.text.tokenizer` → `text`; None outside the harness."""
    names = module.split(".")
    if names[0] != "irplatform" or len(names) < 2 or names[1].startswith("__"):
        return None
    return names[1]


def _layer(part: str) -> int:
    return next((number for number, layer in enumerate(LAYERS) if part in layer), -1)


def _harness_files() -> list[Path]:
    return sorted(path for path in HARNESS.rglob("*.py") if path.parent != HARNESS or path.stem)


def _own_part(path: Path) -> str:
    return path.relative_to(HARNESS).parts[0].removesuffix(".py")


def test_every_part_of_the_harness_has_a_layer():
    parts = {_own_part(path) for path in _harness_files()} - {"__init__"}
    assert parts == set().union(*LAYERS)


@pytest.mark.parametrize("path", _harness_files(), ids=lambda p: str(p.relative_to(HARNESS)))
def test_a_module_imports_only_what_is_below(path):
    own = _own_part(path)
    if own == "__init__":
        assert _imports(path) == {"irplatform.arithmetic.settle"}  # before anything else
        return
    for module in _imports(path):
        part = _part(module)
        if part is None or part == own or (own, part) in EXCEPTIONS:
            continue
        assert _layer(own) < _layer(part), f"{own} is not above {part}, but imports {module}"


def _modules(path: Path, *, among: set[str]) -> set[str]:
    """The modules that a file imports, where they are among some."""
    names = _imports(path)
    return {name if name in among else name.rpartition(".")[0] for name in names} & among


def test_no_circle_of_modules_hides_in_functions():
    """Across parts their order leaves none; within one, this does."""
    paths = {
        ".".join(path.relative_to(HARNESS.parent).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path
        for path in _harness_files()
    }
    imports = {name: _modules(path, among={*paths}) for name, path in paths.items()}
    for module, imported in CIRCLES:
        imports[module].remove(imported)
    within = {
        module: {name for name in names if name != module and _part(name) == _part(module)}
        for module, names in imports.items()
    }
    TopologicalSorter(within).prepare()


def test_every_exception_is_needed():
    used = {
        (_own_part(path), _part(module)) for path in _harness_files() for module in _imports(path)
    }
    assert set(EXCEPTIONS) <= used


def test_the_harness_imports_no_plugin():
    names = {path.name for path in PLUGINS}
    for path in _harness_files():
        for module in _imports(path, for_types=True):
            assert module.split(".")[0] not in names, f"{path} imports {module}"


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_plugin_imports_only_what_is_meant_for_plugins(plugin):
    others = {path.name for path in PLUGINS} - {plugin.name}
    for path in plugin.rglob("*.py"):
        for module in _imports(path, for_types=True):
            assert module.split(".")[0] not in others, f"{path} imports {module}"
            part = _part(module)
            assert part is None or part in FOR_PLUGINS, f"{path} imports {module}"


def test_authors_of_plugins_are_told_what_they_may_import():
    page = (ROOT / "docs" / "plugin-rules.md").read_text(encoding="utf-8")
    rules = page.partition("\n## Rules\n")[2]
    (rule,) = (part for part in rules.split("\n- ") if part.startswith("Import from "))
    for told in (irplatform.plugin.__doc__, rule):
        named = re.findall(r"`irplatform\.(\w+)`", told)
        assert sorted(named) == sorted(FOR_PLUGINS)
