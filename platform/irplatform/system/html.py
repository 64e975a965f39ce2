"""Tables for notebooks: HTML that takes the notebook's own colours, light or dark."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

_STYLE = """<style>
.irplatform { font-variant-numeric: tabular-nums; line-height: 1.35; }
.irplatform p { margin: .35em 0; max-width: 52em; }
.irplatform .heading { font-weight: 600; }
.irplatform .note { opacity: .72; font-size: .92em; }
.irplatform table { border-collapse: collapse; margin: .5em 0; border: none; }
.irplatform table th, .irplatform table td { border: none; background: none; color: inherit;
  padding: .22em .75em; text-align: right; white-space: nowrap; font-weight: 400; max-width: none; }
.irplatform table thead th { font-weight: 600; border-bottom: 1px solid currentColor; }
.irplatform table tbody tr + tr > * { border-top: 1px solid rgba(128, 128, 128, .22); }
.irplatform table .text { text-align: left; }
.irplatform table td.long { white-space: normal; min-width: 14em; max-width: 38em; }
.irplatform table .aside { opacity: .65; }
.irplatform table .aside.text { padding-left: 1.9em; }
.irplatform .better { color: #0b7d62; } .irplatform .worse { color: #b5532b; }
.irplatform b { font-weight: 700; }
@media (prefers-color-scheme: dark) { .irplatform .better { color: #35b692; }
  .irplatform .worse { color: #e58b62; } }
[data-jp-theme-light="false"] .irplatform .better, .vscode-dark .irplatform .better,
body[data-theme="dark"] .irplatform .better { color: #35b692; }
[data-jp-theme-light="false"] .irplatform .worse, .vscode-dark .irplatform .worse,
body[data-theme="dark"] .irplatform .worse { color: #e58b62; }
[data-jp-theme-light="true"] .irplatform .better { color: #0b7d62; }
[data-jp-theme-light="true"] .irplatform .worse { color: #b5532b; }
</style>"""


class Html(str):
    """A text that is HTML already."""

    __slots__ = ()


def cell(text: str, *, bold: bool = False, kind: str = "", title: str = "") -> Html:
    """Return a part of a cell: bold, of a kind ("better", "worse"), with a tip."""
    content = text if isinstance(text, Html) else escape(text)
    content = f"<b>{content}</b>" if bold else content
    attributes = f' class="{escape(kind)}"' if kind else ""
    attributes += f' title="{escape(title)}"' if title else ""
    return Html(f"<span{attributes}>{content}</span>" if attributes else content)


def table(
    header: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    left: int = 1,
    long: int | None = None,
    asides: Collection[int] = (),
) -> Html:
    """Return a table.

    Args:
        header: names of the columns.
        rows: their cells; `Html` stays as it is.
        left: number of left-aligned columns.
        long: a column of free text, which is left-aligned and may break.
        asides: rows that describe the one above.
    """

    def one(tag: str, column: int, text: str, aside: bool) -> str:
        words = ["text"] if column < left or column == long else []
        words += ["long"] if column == long and tag == "td" else []
        words += ["aside"] if aside else []
        kind = f' class="{" ".join(words)}"' if words else ""
        scope = ' scope="col"' if tag == "th" else ""
        return f"<{tag}{scope}{kind}>{text if isinstance(text, Html) else escape(text)}</{tag}>"

    def line(tag: str, cells: Sequence[str], aside: bool = False) -> str:
        return f"<tr>{''.join(one(tag, n, text, aside) for n, text in enumerate(cells))}</tr>"

    body = "\n".join(line("td", row, number in asides) for number, row in enumerate(rows))
    return Html(f"<table><thead>{line('th', header)}</thead>\n<tbody>{body}</tbody></table>")


def block(*parts: str, heading: str = "", notes: Sequence[str] = ()) -> str:
    """Return what a notebook shows: a heading, parts (paragraphs, or `Html`), and notes below."""
    lines = [f'<p class="heading">{escape(heading)}</p>'] if heading else []
    lines += [part if isinstance(part, Html) else f"<p>{escape(part)}</p>" for part in parts]
    lines += [f'<p class="note">{escape(note)}</p>' for note in notes if note]
    return "\n".join(['<div class="irplatform">', _STYLE, *lines, "</div>"])
