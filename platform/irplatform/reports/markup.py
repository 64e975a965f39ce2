"""The table of results as papers and web pages take it: in LaTeX or in Markdown.

It has the rows and figures of the plain table. The best values of a measure are bold, and marks of
significance follow the figures; what they mean is a line of its own, in LaTeX a comment, since it
belongs in the caption.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from irplatform.errors import one_line
from irplatform.reports.rows import best_rows, figure, glyphs, legend_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from irplatform.reports.rows import ResultRow

_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # which a line break would take for its length
    "*": "{*}",
    "×": r"$\times$",
    "▲": r"$\blacktriangle$",
    "▼": r"$\blacktriangledown$",
    **{special: f"\\{special}" for special in "&%$#_{}"},
}
_MARKDOWN = re.compile(r"([\\`*_\[\]<>|#~])")


def markdown_table(
    rows: Sequence[ResultRow], measures: Sequence[str], *, baseline: str = ""
) -> str:
    """Render results as a table of GitHub's Markdown; the arguments are those of `render_table`."""
    cells = _cells(rows, measures, _markdown, "**{}**".format, glyphs)
    header, *body = ["| " + " | ".join(line) + " |" for line in cells]
    legend = legend_of(rows, baseline)
    lines = [header, "|---|" + "---:|" * len(measures), *body]
    return "\n".join([*lines, *(["", _markdown(legend)] if legend else [])])


def latex_table(rows: Sequence[ResultRow], measures: Sequence[str], *, baseline: str = "") -> str:
    """Render results as a `tabular` of LaTeX with the rules of booktabs; see `render_table`."""
    cells = _cells(rows, measures, _latex, r"\textbf{{{}}}".format, _superscript)
    header, *body = [" & ".join(line) + r" \\" for line in cells]
    legend = legend_of(rows, baseline)
    lines = [
        rf"% \usepackage{{{'booktabs,amssymb' if legend else 'booktabs'}}}",
        *([f"% {_latex(legend)}"] if legend else []),
        rf"\begin{{tabular}}{{l{'r' * len(measures)}}}",
        r"\toprule",
        header,
        r"\midrule",
        *body,
        r"\bottomrule",
        r"\end{tabular}",
    ]
    return "\n".join(lines)


def _cells(
    rows: Sequence[ResultRow],
    measures: Sequence[str],
    escaped: Callable[[str], str],
    bold: Callable[[str], str],
    marked: Callable[[int], str],
) -> list[list[str]]:
    """Header and body; a row without a measure has "-" there."""
    best = best_rows(rows, measures)
    body = []
    for number, row in enumerate(rows):
        line = [escaped(row.name)]
        for measure in measures:
            if (value := row.measures.get(measure)) is None:
                line.append("-")
                continue
            text = figure(measure, value)
            text = bold(text) if len(rows) > 1 and number in best[measure] else text
            line.append(text + marked(row.marks.get(measure, 0)))
        body.append(line)
    return [["system", *map(escaped, measures)], *body]


def _superscript(strength: int) -> str:
    signs = glyphs(strength)
    return "$^{" + "".join(_LATEX[sign].strip("$") for sign in signs) + "}$" if signs else ""


def _latex(text: str) -> str:
    text = one_line(text)
    return "".join(_LATEX.get(character, character) for character in text)


def _markdown(text: str) -> str:
    return _MARKDOWN.sub(r"\\\1", one_line(text))
