"""The tables of results in the documentation are those that `platform reproduce` checks."""

import importlib.util

from pages import DOCS

from irplatform.reproduction.rows import Row


def _program():
    spec = importlib.util.spec_from_file_location("tables", DOCS / "generate_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_up_to_date():
    program = _program()
    rows = program.our_rows()
    text = program.PAGE.read_text(encoding="utf-8")
    assert program.written(text, rows) == text, "run: python docs/generate_results.py"


def test_every_row_is_in_a_table_but_those_of_the_demo():
    program = _program()
    text = program.PAGE.read_text(encoding="utf-8")
    tags = {"demo"} | {found["tag"] for found in program._TABLE.finditer(text)}
    assert [row.id for row in program.our_rows() if not tags & {*row.tags}] == []


def test_a_table_has_a_line_for_the_final_run_and_one_for_the_reranker_alone():
    row = Row(
        id="r",
        collection="c",
        reranker="ranker",
        tags=("t",),
        minutes=1,
        tolerance=0,
        interpolation=0.5,
        expected={"AP": {"value": 0.25, "gain": (0.1, 0.05, 0.15)}, "RR": 0.5},
        alone={"AP": 0.125},
    )
    text = "a\n<!-- results t: AP, RR -->\nold\n<!-- /results -->\nb\n"
    assert _program().written(text, [row]) == (
        "a\n<!-- results t: AP, RR -->\n"
        "| system | W | AP | gain [95 %] | RR |\n|---|---|---|---|---|\n"
        "| ranker | 0.50 | 0.2500 | +0.1000 [+0.0500, +0.1500] | 0.5000 |\n"
        "| ranker, alone | 0 | 0.1250 | | |\n"
        "<!-- /results -->\nb\n"
    )
