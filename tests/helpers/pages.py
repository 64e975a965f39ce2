"""The documentation's pages and the fenced blocks in them."""

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PAGES = [
    *ROOT.glob("*.md"),
    *DOCS.rglob("*.md"),
    ROOT / "runs/README.md",
    ROOT / "qrels/README.md",
]

FENCE = re.compile(r"^```(?P<info>[^\n]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


def fences(page: Path, *kinds: str) -> Iterator[tuple[str, str]]:
    """Fenced blocks whose first line is one of these: where they are, and what they hold."""
    text = page.read_text(encoding="utf-8")
    for fence in FENCE.finditer(text):
        if fence["info"].strip() in kinds:
            line = text.count("\n", 0, fence.start()) + 1
            yield f"{page.name}:{line}", fence["body"]


def reference() -> ModuleType:
    """The program that writes `commands.md`."""
    path = DOCS / "generate_commands.py"
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
