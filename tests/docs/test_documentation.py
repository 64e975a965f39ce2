"""The documentation is true: commands run, plugins load, links resolve, nothing is left out."""

import importlib.util
import inspect
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from commands import call

from irplatform.plugin import Hooks
from irplatform.registry import registry

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [*ROOT.glob("*.md"), *DOCS.glob("*.md"), ROOT / "runs/README.md", ROOT / "qrels/README.md"]

_FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)
_LEFT_OUT = "…"


def fences(page: Path, info: str) -> Iterator[tuple[int, str]]:
    """Line and content of the fenced blocks of a kind."""
    text = page.read_text(encoding="utf-8")
    for found in _FENCE.finditer(text):
        if found["info"].strip() == info:
            yield text.count("\n", 0, found.start()) + 1, found["body"]


def _runnable():
    for page in PAGES:
        for line, body in fences(page, "console run"):
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, output = part.partition("\n")
                yield pytest.param(command, output, id=f"{page.name}:{line} {command}")


def _reference():
    spec = importlib.util.spec_from_file_location(
        "generate_commands", DOCS / "generate_commands.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def only_our_plugins(monkeypatch):
    """What is installed beside the platform does not show in outputs."""
    monkeypatch.setenv("IRPLATFORM_PLUGINS", "delta,demo,embedding,lucene")
    registry.cache_clear()
    yield
    registry.cache_clear()


@pytest.mark.parametrize(("command", "output"), _runnable())
def test_a_command_prints_what_is_shown(
    command, output, capsys, monkeypatch, fresh_home, only_our_plugins
):
    program, *arguments = shlex.split(command)
    assert program == "platform"
    done = call(capsys, monkeypatch, *arguments)
    assert done.code == 0, done.err
    shown = re.escape(output).replace(f"{re.escape(_LEFT_OUT)}\\\n", "(?:.*\\n)*?")
    assert re.fullmatch(shown, done.out), f"{command} prints\n{done.out}"


def test_there_are_commands_to_run():
    assert len(list(_runnable())) >= 5


def test_the_reference_of_commands_is_up_to_date():
    reference = _reference()
    written = reference.TARGET.read_text(encoding="utf-8")
    assert written == reference.reference(), "run: python docs/generate_commands.py"


def test_every_command_and_flag_is_in_the_reference_with_its_meaning():
    reference = _reference()
    text = reference.TARGET.read_text(encoding="utf-8")
    for command, name in reference.commands():
        section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert command.help, f"{name} has no help"
        for option in reference.options(command):
            assert option.help, f"{name} {option.opts} has no help"
            assert all(flag in section for flag in [*option.opts, *option.secondary_opts])


def test_every_option_of_run_is_explained_outside_the_reference():
    reference = _reference()
    guides = "".join(p.read_text(encoding="utf-8") for p in PAGES if p != reference.TARGET)
    (run,) = (command for command, name in reference.commands() if name == "platform run")
    flags = [option.opts[0] for option in reference.options(run)]
    assert [f for f in flags if not re.search(rf"(?<![\w-]){f}(?![\w-])", guides)] == []


def test_every_hook_is_told_of():
    text = (DOCS / "plugins.md").read_text(encoding="utf-8")
    table = text.partition("## All hooks")[2].partition("\n## ")[0]
    hooks = [name for name, _ in inspect.getmembers(Hooks, inspect.isfunction) if name[0] != "_"]
    assert len(hooks) >= 7
    for name in hooks:
        (parameter,) = [
            p for p in inspect.signature(getattr(Hooks, name)).parameters if p != "self"
        ]
        assert f"`{name}({parameter})`" in table
        assert f"def {name}(" in text, f"{name} is not in an example"


def test_every_retriever_and_reranker_is_told_of(only_our_plugins):
    for names, page in (
        (registry().retrievers, "first-stage.md"),
        (registry().rerankers, "delta.md"),
    ):
        text = (DOCS / page).read_text(encoding="utf-8")
        assert [name for name in names if f"`{name}`" not in text] == []


def test_every_key_of_a_collection_file_is_told_of():
    from irplatform.collections import toml

    keys = [name for name in toml._Declaration.model_fields if name not in toml._TABLES]
    keys += [
        f"{table}.{key}" for table, model in toml._TABLES.items() for key in model.model_fields
    ]
    text = (DOCS / "collections.md").read_text(encoding="utf-8")
    assert [key for key in keys if f"| `{key}` |" not in text] == []


def test_every_environment_variable_is_told_of():
    sources = [*(ROOT / "platform").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    used = {
        name for path in sources for name in re.findall(r"IRPLATFORM_[A-Z_]+", path.read_text())
    }
    text = (DOCS / "reproducibility.md").read_text(encoding="utf-8")
    assert used
    assert [name for name in used if f"| `{name}` |" not in text] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page):
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    for target in _LINK.findall(text):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name} links to {target}"
        if anchor:
            assert anchor in _anchors(file), f"{page.name} links to {target}"


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to headings."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    headings = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in _HEADING.findall(text))
    return {heading.replace(" ", "-") for heading in headings}


def test_every_page_is_linked_from_the_index():
    linked = {target.partition("#")[0] for target in _LINK.findall((DOCS / "index.md").read_text())}
    assert {page.name for page in DOCS.glob("*.md")} - {"index.md"} <= linked
