"""The tables of results in the documentation are those that `platform reproduce` checks."""

import importlib.util

from pages import DOCS

from irplatform.reproduction.differences import Claim
from irplatform.reproduction.rows import Row


def _program():
    spec = importlib.util.spec_from_file_location("tables", DOCS / "generate_results.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_tables_are_up_to_date():
    program = _program()
    rows, claims = program.our_rows(), program.our_claims()
    text = program.PAGE.read_text(encoding="utf-8")
    assert program.written(text, rows, claims) == text, "run: python docs/generate_results.py"
    assert len(program._CLAIMS.findall(text)) == 1


def test_the_difference_of_a_claim_is_that_of_its_rows():
    program = _program()
    rows = {row.id: row for row in program.our_rows()}
    off = []
    for claim in program.our_claims():
        figures = [
            row.alone if claim.alone and row.reranker else row.expected
            for row in (rows[row_id] for row_id in claim.rows)
        ]
        better, worse = (of_row[claim.measure].value for of_row in figures)
        # Claims have three digits or four.
        if claim.expected and abs(better - worse - claim.expected[0]) > 0.00061:
            off.append(claim.id)
    assert off == []


def test_every_row_is_in_a_table_but_those_of_the_demo():
    program = _program()
    text = program.PAGE.read_text(encoding="utf-8")
    tags = {"demo"} | {found["tag"] for found in program._TABLE.finditer(text)}
    assert [row.id for row in program.our_rows() if not tags & {*row.tags}] == []


def test_claims_have_their_lines_in_the_order_of_the_papers():
    row = Row(
        id="r",
        collection="${DATA}/trec-pm/2017.toml",
        retrievers=("judged",),
        minutes=1,
        tolerance=0,
        expected={"AP": 0.25},
    )
    later = Claim(
        id="later",
        better="r",
        worse="s",
        measure="AP",
        claim="R is better",
        source="WWW 2018, table 2",
        published=0.07,
        variant="64 filters",
        expected=(-0.05, -0.1, 0.0),
    )
    first = {"id": "first", "source": "SIGIR 2015, table 1", "published": None, "alone": True}
    more = {"variant": "", "expected": (0.0656, 0.0273, 0.1038)}
    unknown_year = {"id": "last", "source": "A manuscript", "expected": None}
    claims = [
        later.model_copy(update=unknown_year),
        later,
        later.model_copy(update={**first, **more}),
    ]
    text = "a\n<!-- claims -->\nold\n<!-- /claims -->\nb\n"
    topics = "`trec-pm/2017.toml`, judged"
    assert _program().written(text, [row], claims) == (
        "a\n<!-- claims -->\n"
        "| claim | source | published | here [95 %] | measure | topics | verdict |\n"
        "|---|---|---|---|---|---|---|\n"
        "| R is better | SIGIR 2015, table 1 | | +0.0656 [+0.0273, +0.1038] | AP alone | "
        f"{topics} | reproduced |\n"
        "| R is better | WWW 2018, table 2 | +0.070 | −0.050 [−0.100, +0.000] | AP | "
        f"{topics} | not reproduced: smaller, of a variant (64 filters) |\n"
        f"| R is better | A manuscript | +0.070 | | AP | {topics} | not run |\n"
        "<!-- /claims -->\nb\n"
    )


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
