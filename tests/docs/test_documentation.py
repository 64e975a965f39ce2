"""The documentation is complete, its links resolve, and its reference is that of the code."""

import inspect
import re
from pathlib import Path

import pytest
from pages import DOCS, FENCE, PAGES, ROOT, reference

from irplatform.collections.toml import TABLES, Declaration
from irplatform.plugin.hooks import Hooks
from irplatform.registry.loading import registry

_LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


def _text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")


def test_the_reference_of_commands_is_up_to_date():
    assert _text("commands.md") == reference().reference(), "run: python docs/generate_commands.py"


def test_the_table_of_fusion_is_up_to_date():
    page = _text("fusing.md")
    assert reference().fusing(page) == page, "run: python docs/generate_commands.py"


def test_every_command_and_flag_is_in_the_reference_with_its_meaning():
    program = reference()
    for command, name in program.commands():
        section = _text("commands.md").partition(f"\n## {name}\n")[2].partition("\n## ")[0]
        assert command.help, f"{name} has no help"
        for option in program.options(command):
            assert option.help, f"{name} {option.opts} has no help"
            assert all(flag in section for flag in [*option.opts, *option.secondary_opts])


def test_a_help_text_mentions_only_flags_of_its_command():
    """Those of other commands are written as code, after the command's name."""
    program = reference()
    for command, name in program.commands():
        flags = {flag for parameter in command.params for flag in parameter.opts}
        flags |= {flag for parameter in command.params for flag in parameter.secondary_opts}
        for option in program.options(command):
            mentions = set(re.findall(r"(?<![\w`-])--[a-z-]+", re.sub(r"`[^`]*`", "", option.help)))
            assert mentions <= flags, f"{name} {option.opts}"


def test_every_exit_code_is_in_the_reference():
    table = _text("commands.md").partition("| exit code |")[2].partition("\n\n")[0]
    assert re.findall(r"^\| (\d+) \|", table, re.MULTILINE) == ["0", "1", "2", "130", "143"]


def test_every_flag_of_run_is_explained_outside_the_reference():
    program = reference()
    guides = "".join(p.read_text(encoding="utf-8") for p in PAGES if p != program.TARGET)
    (run,) = (command for command, name in program.commands() if name == "platform run")
    flags = [option.opts[0] for option in program.options(run)]
    assert [f for f in flags if not re.search(rf"(?<![\w-]){f}(?![\w-])", guides)] == []


def test_every_hook_is_in_the_table_and_in_an_example():
    table = _text("plugin-rules.md").partition("## All hooks")[2].partition("\n## ")[0]
    examples = _text("plugins.md") + _text("plugin-examples.md")
    hooks = [name for name, _ in inspect.getmembers(Hooks, inspect.isfunction) if name[0] != "_"]
    assert len(hooks) >= 7
    for name in hooks:
        (argument,) = [p for p in inspect.signature(getattr(Hooks, name)).parameters if p != "self"]
        assert f"`{name}({argument})`" in table
        assert f"def {name}(" in examples


@pytest.mark.parametrize(
    ("systems", "page"), [("retrievers", "first-stage.md"), ("rerankers", "rerankers.md")]
)
def test_every_system_of_ours_is_told_of(systems, page):
    registered = getattr(registry(), systems).values()
    names = [system.name for system in registered if system.plugin.distribution == "irplatform"]
    assert names
    assert [name for name in names if f"`{name}`" not in _text(page)] == []


def test_every_key_of_a_collection_file_is_told_of():
    keys = [name for name in Declaration.model_fields if name not in TABLES]
    keys += [f"{table}.{key}" for table, model in TABLES.items() for key in model.model_fields]
    assert [key for key in keys if f"| `{key}` |" not in _text("collections.md")] == []


def test_every_environment_variable_is_told_of():
    sources = [*(ROOT / "platform").rglob("*.py"), *(ROOT / "plugins").rglob("*.py")]
    variables = {
        name for file in sources for name in re.findall(r"IRPLATFORM_\w+", file.read_text())
    }
    assert variables
    assert [name for name in variables if f"| `{name}` |" not in _text("reproducibility.md")] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_resolve(page):
    for target in _LINK.findall(FENCE.sub("", page.read_text(encoding="utf-8"))):
        if target.startswith(("http://", "https://")):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name} links to {target}"
        assert not anchor or anchor in _anchors(file), f"{page.name} links to {target}"


def _anchors(page: Path) -> set[str]:
    """The anchors that GitHub gives to headings."""
    headings = _HEADING.findall(FENCE.sub("", page.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_every_page_is_in_the_navigation_of_the_site():
    navigation = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    pages = {page.relative_to(DOCS).as_posix() for page in DOCS.rglob("*.md")}
    assert pages == set(re.findall(r"[\w./-]+\.md$", navigation, re.MULTILINE))


def test_all_kinds_of_artifacts_are_in_the_table_of_the_cache():
    sources = (ROOT / "platform").rglob("*.py")
    calls = (re.findall(r'\bartifact\(\s*"([a-z-]+)"', path.read_text()) for path in sources)
    kinds = {kind for names in calls for kind in names}
    assert {"index", "vectors", "features", "concepts"} <= kinds
    documented = (ROOT / "docs/reproducibility.md").read_text()
    assert not [kind for kind in sorted(kinds) if f"`{kind}/`" not in documented]


def test_figures_of_the_readme_are_those_of_the_results():
    table = (ROOT / "README.md").read_text(encoding="utf-8").partition("<!-- results:begin -->")[2]
    figures = re.findall(r"[+−]?0?\.\d{3,4}", table.partition("<!-- results:end -->")[0])
    assert len(figures) > 30
    results = _text("results.md") + _text("protocol.md")
    assert [figure for figure in figures if figure not in results] == []
