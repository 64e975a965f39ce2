"""Dependencies point one way, from the command line down to data and errors.

Read from the source with `ast`: imports within functions and for type checkers count, too.
"""

import ast
import re
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import irplatform
from irplatform import kit
from irplatform import plugin as contract

ROOT = Path(__file__).resolve().parent.parent
PLATFORM = ROOT / "platform" / "irplatform"
PLUGINS = sorted(path for path in (ROOT / "plugins").iterdir() if (path / "__init__.py").exists())

FACE = "__init__"
"""What `irplatform` offers to programs; commands import it, too."""
LAYERS = (
    {"__main__"},
    {"cli"},
    {FACE},
    {"testing"},
    {"building", "conformance", "serving", "tuning"},
    {"reproduction"},
    {"analysis", "tasks"},
    {"judging"},
    {"planning", "queries"},
    {"experiment"},
    {"reports", "reranking"},
    {"retrieval"},
    {"collection_resources"},
    {"kit"},
    {"features"},
    {"training"},
    {"registry"},
    {"plugin"},
    {"concepts"},
    {"collections"},
    {"expansion"},
    {"comparison"},
    {"evaluation"},
    {"run_folder"},
    {"knowledge", "lucene"},  # below `lucene`, the room `lucene/java`
    {"documents"},
    {"postings"},
    {"chat", "runs", "text"},
    {"options"},
    {"workers"},
    {"files"},
    {"system"},
    {"data"},
    {"settings"},
    {"errors"},
    {"spelling", "version"},
)
"""From the top down. A package imports itself and what is in the layers below."""

FOR_PLUGINS = {"kit", "plugin"}
"""What plugins import of the platform: the helpers and the contract. docs/plugin-rules.md says the
same."""
BESIDES = {"irplatform_pyterrier": {FACE, "files", "registry"}}
"""What single plugins import besides: a bridge imports the face."""
MOST_NAMES = 100
"""Of the contract and the helpers together."""


@cache
def _imports(path: Path, *, for_type_checkers: bool = True) -> set[str]:
    """Full names of the modules that a file imports."""
    names = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    if not for_type_checkers:
        tree.body = [n for n in tree.body if not (isinstance(n, ast.If) and _checks_types(n))]
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute"
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def _checks_types(node: ast.If) -> bool:
    return ast.unparse(node.test) == "TYPE_CHECKING"


def _part(module: str) -> str | None:
    """`irplatform.text.tokenizer` → `text`; None outside the platform."""
    names = module.split(".")
    if names[0] != "irplatform":
        return None
    if names[1:] in ([], ["__version__"], *([name] for name in irplatform.__all__)):
        return FACE
    return names[1]


def _layer(part: str) -> int:
    return next((number for number, layer in enumerate(LAYERS) if part in layer), -1)


def _files() -> list[Path]:
    return sorted(PLATFORM.rglob("*.py"))


def _own_part(path: Path) -> str:
    return path.relative_to(PLATFORM).parts[0].removesuffix(".py")


def test_every_part_of_the_platform_has_a_layer():
    parts = {_own_part(path) for path in _files()}
    assert parts == set().union(*LAYERS)


@pytest.mark.parametrize("path", _files(), ids=lambda p: str(p.relative_to(PLATFORM)))
def test_a_module_imports_only_what_is_below(path):
    room = _own_part(path)
    if room == FACE:
        # Before anything else; all other names are imported at first use.
        now = _imports(path, for_type_checkers=False)
        assert {module for module in now if _part(module)} == {
            "irplatform.system.arithmetic.configure_libraries",
            "irplatform.system.console.waiting",
            "irplatform.system.packages.on_demand",
            "irplatform.version.__version__",
        }
        return
    for module in _imports(path):
        part = _part(module)
        if part is None or part == room:
            continue
        assert _layer(room) < _layer(part), f"{room} is not above {part}, but imports {module}"


def _module(path: Path) -> str:
    parts = path.relative_to(path.parents[len(path.relative_to(ROOT).parts) - 2]).with_suffix("")
    return ".".join(parts.parts).removesuffix(".__init__")


def test_no_modules_import_each_other_in_a_circle():
    paths = {_module(path): path for path in [*_files(), *(ROOT / "plugins").rglob("*.py")]}
    imports = {}
    for module, path in paths.items():
        face = path.parent == PLATFORM and path.name == "__init__.py"  # names what is above it
        names = _imports(path, for_type_checkers=not face)
        imported = {name if name in paths else name.rpartition(".")[0] for name in names}
        imports[module] = (imported & {*paths}) - {module}
    TopologicalSorter(imports).prepare()


def test_the_platform_imports_no_plugin():
    names = {path.name for path in PLUGINS}
    for path in _files():
        for module in _imports(path):
            assert module.split(".")[0] not in names, f"{path} imports {module}"


@pytest.mark.parametrize("plugin", PLUGINS, ids=lambda path: path.name)
def test_a_plugin_imports_only_what_is_meant_for_plugins(plugin):
    others = {path.name for path in PLUGINS} - {plugin.name}
    for path in plugin.rglob("*.py"):
        for module in _imports(path):
            assert module.split(".")[0] not in others, f"{path} imports {module}"
            allowed = {None, *FOR_PLUGINS, *BESIDES.get(plugin.name, ())}
            assert _part(module) in allowed, f"{path} imports {module}"


def test_plugins_need_few_names():
    assert len(contract.__all__) + len(kit.__all__) <= MOST_NAMES


def test_every_helper_is_explained():
    page = (ROOT / "docs" / "kit.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (`.*?) \|", page, flags=re.MULTILINE)
    assert sorted(re.findall(r"`(\w+)`", " ".join(rows))) == sorted(kit.__all__)


def test_authors_of_plugins_are_told_what_they_may_import():
    page = (ROOT / "docs" / "plugin-rules.md").read_text(encoding="utf-8")
    rules = page.partition("\n## Rules\n")[2]
    (rule,) = (part for part in rules.split("\n- ") if part.startswith("Import from "))
    assert sorted(re.findall(r"`irplatform\.(\w+)`", rule)) == sorted({*FOR_PLUGINS, "testing"})


def test_the_room_of_java_imports_nothing_of_lucenes():
    room = PLATFORM / "lucene" / "java"
    for path in room.glob("*.py"):
        for module in _imports(path):
            assert not module.startswith("irplatform.lucene") or module.startswith(
                "irplatform.lucene.java"
            ), f"{path} imports {module}"
