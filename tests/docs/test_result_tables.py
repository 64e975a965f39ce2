"""The tables of results in the documentation are those that `platform reproduce` checks."""

import importlib.util
from pathlib import Path

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
    for page in program.PAGES:
        text = page.read_text(encoding="utf-8")
        result = program.render(text, rows, claims)
        assert result == text, f"{page.name}: run python docs/generate_results.py"


def test_every_claim_has_a_line():
    program = _program()
    pages = "".join(page.read_text(encoding="utf-8") for page in program.PAGES)
    lines = {line.partition(" | ")[0].removeprefix("| ") for line in pages.splitlines()}
    claims = program.our_claims()
    assert [claim.id for claim in claims if not any(claim.claim in line for line in lines)] == []


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
        # Claims have three digits or four; rows have the figures of all topics.
        if (
            claim.expected
            and not claim.topics
            and abs(better - worse - claim.expected[0]) > 0.00061
        ):
            off.append(claim.id)
    assert off == []


def test_every_row_is_in_a_table_but_those_of_the_demo():
    program = _program()
    tags = {"demo"}.union(
        *(program.tags_in(page.read_text(encoding="utf-8")) for page in program.PAGES)
    )
    assert [row.id for row in program.our_rows() if not tags & {*row.tags}] == []


def _row(collection, row_id="r", **more):
    return Row(
        id=row_id,
        collection=collection,
        retrievers=("judged",),
        minutes=1,
        tolerance=0,
        expected={"AP": 0.25},
        **more,
    )


def test_a_claim_has_one_line_with_its_collections_side_by_side():
    rows = [_row("${DATA}/trec-pm/2017.toml", row_id) for row_id in ("r", "x")]
    rows += [_row("${DATA}/trec-pm/2018.toml", "s", arguments=("--members", "1"))]
    first = Claim(
        id="first",
        better="r",
        worse="x",
        measure="AP",
        claim="R is better",
        source="WWW 2018, table 2",
        published=0.07,
        variant="64 filters",
        expected=(-0.05, -0.1, 0.0),
    )
    later = first.model_copy(update={"id": "later", "better": "s", "variant": "64 filters"})
    other = first.model_copy(update={"id": "other", "source": "SIGIR 2015, table 1"})
    text = "a\n<!-- claims WWW 2018 -->\nold\n<!-- /claims -->\nb\n"
    table = (
        "| claim | table; measure | published | 2017 | 2018 |\n|---|---|---|---|---|\n"
        "| R is better (64 filters) | table 2; AP | +.070 | "
        "−.050\N{NO-BREAK SPACE}[−.100,\N{NO-BREAK SPACE}+.000] *not reproduced: smaller* | "
        "−.050\N{NO-BREAK SPACE}[−.100,\N{NO-BREAK SPACE}+.000] *not reproduced: smaller*, once |\n"
    )
    program = _program()
    assert program.render(text, rows, [first, other, later]) == text.replace("old\n", table)
    page = text.replace("WWW 2018", "other, later")
    lines = program.render(page, rows, [first, other, later]).splitlines()
    assert [line.split(" | ")[1] for line in lines[4:6]] == [
        "SIGIR 2015, table 1; AP",
        "WWW 2018, table 2; AP",
    ]


def test_a_file_may_have_tables_of_its_own_with_its_topics_side_by_side():
    rows = [_row("${DATA}/trec-pm/2018.toml", row_id) for row_id in ("r", "x")]
    first = Claim(
        id="first",
        better="r",
        worse="x",
        measure="AP",
        claim="R is better",
        source="WWW 2018, table 3, Neg20+",
        topics=("1", "2"),
        file=Path("clicks.toml"),
    )
    later = first.model_copy(update={"id": "later", "topics": ("1", "2", "3")})
    other = first.model_copy(update={"id": "other", "source": "WWW 2018, table 4"})
    text = "<!-- claims clicks.toml Neg20+ -->\nold\n<!-- /claims -->\n"
    table = (
        "| claim | table; measure | published | 2018, 2 topics | 2018, 3 topics |\n"
        "|---|---|---|---|---|\n"
        "| R is better | table 3, Neg20+; AP | | **not run** | **not run** |\n"
    )
    program = _program()
    assert program.render(text, rows, [first, later, other]) == text.replace("old\n", table)
    of_paper = text.replace("clicks.toml Neg20+", "WWW 2018")
    assert "R is better" not in program.render(of_paper, rows, [first, later, other])


def test_verdicts_are_counted_by_table_a_pair_of_rows_once_and_those_of_variants_apart():
    claim = Claim(
        id="a",
        better="r",
        worse="x",
        measure="AP",
        claim="R is better",
        source="WWW 2018, table 10",
        published=0.07,
        expected=(0.05, 0.01, 0.1),
    )
    others = [
        claim.model_copy(update={"id": "b", "worse": "y", "variant": "64 filters"}),
        claim.model_copy(update={"id": "c", "worse": "z", "published": 0.2}),
        claim.model_copy(update={"id": "again", "measure": "P@10"}),
        claim.model_copy(update={"id": "nothing", "worse": "random-order-paper"}),
        claim.model_copy(update={"id": "d", "source": "WWW 2018, table 2", "expected": None}),
        claim.model_copy(update={"id": "e", "source": "SIGIR 2015, table 1"}),
    ]
    text = "<!-- verdicts WWW 2018 -->\nold\n<!-- /verdicts -->\n"
    assert _program().render(text, [], [claim, *others]).splitlines()[1:5] == [
        "| source | reproduced | direction only | not run |",
        "|---|---|---|---|",
        "| WWW 2018, table 2 | | | 1 |",
        "| WWW 2018, table 10 | 1, *1* | 1 | |",
    ]


def test_years_have_the_rows_of_a_system_side_by_side():
    rows = [
        _row("c", "b", tags=("one",), title="BM25"),
        _row("d", "b-2018", tags=("two",)),
        _row("d", "a-2018", tags=("two",), reranker="a", paper="AP 0.5"),
    ]
    text = "<!-- years 2017 one, 2018 two: AP -->\nold\n<!-- /years -->\n"
    assert _program().render(text, rows) == (
        "<!-- years 2017 one, 2018 two: AP -->\n"
        "| system | 2017: AP | gain [95 %] | 2018: AP | gain [95 %] |\n"
        "|---|---|---|---|---|\n"
        "| BM25 | .250 | | .250 | |\n"
        "| a | | | .250 | |\n"
        "<!-- /years -->\n"
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
    assert _program().render(text, [row]) == (
        "a\n<!-- results t: AP, RR -->\n"
        "| system | W | AP | gain [95 %] | RR |\n|---|---|---|---|---|\n"
        "| ranker | 0.50 | 0.2500 | +0.1000 [+0.0500, +0.1500] | 0.5000 |\n"
        "| ranker, alone | 0 | 0.1250 | | |\n"
        "<!-- /results -->\nb\n"
    )
