"""Rows of results: read with care, chosen by pattern, turned into commands."""

from itertools import pairwise

import pytest

from irplatform.cli.run import run as run_command
from irplatform.cli.settings import read_settings
from irplatform.errors import InputError
from irplatform.plugin import TrainableReranker
from irplatform.registry.loading import registry
from irplatform.reproduction.rows import known_rows, read_rows, select
from irplatform.reranking.systems import MEMBERS


def test_a_row_is_a_command_and_figures(results):
    bm25, ranker, _ = read_rows(results)
    assert bm25.command() == [
        *("run", "--collection", "demo", "--first-stage", "bm25", "--seed", "42")
    ]
    assert bm25.name == "bm25"
    figures = [
        (measure, alone, expected.value, expected.tolerance)
        for measure, alone, expected in ranker.figures()
    ]
    assert figures == [
        ("AP", False, 0.6, None),
        ("P@10", False, 0.3, 0.1),
        ("AP", True, 0.55, None),
    ]


def test_settings_reach_the_command_line_as_they_were(results):
    row = read_rows(results)[1]
    words = row.command()
    settings = tuple(value for flag, value in pairwise(words) if flag == "--set")
    assert read_settings(settings, None) == {
        "filters": 8,
        "lexical": ["bm25_text"],
        "loop.epochs": 3,
    }


def test_placeholders_are_filled_and_what_is_missing_is_named(results, monkeypatch, tmp_path):
    row = read_rows(results)[2]
    monkeypatch.delenv("IRPLATFORM_TEST_DATA", raising=False)
    assert row.missing() == "IRPLATFORM_TEST_DATA is not set"
    monkeypatch.setenv("IRPLATFORM_TEST_DATA", str(tmp_path))
    assert row.missing() == f"{tmp_path}/nowhere:dev does not exist"
    (tmp_path / "nowhere").mkdir()
    assert row.missing() == ""
    assert row.fill("${HERE}/x") == f"{tmp_path}/x"
    assert row.model_copy(update={"collection": "${HERE}/no"}).missing() == (
        f"{tmp_path}/no does not exist"
    )


def test_a_run_in_the_place_of_a_first_stage_is_missing_until_it_is_there(results, tmp_path):
    row = known_rows([results])[0].model_copy(update={"retrievers": ("${HERE}/x.run", "rm3")})
    assert row.missing() == f"{tmp_path}/x.run does not exist"
    (tmp_path / "x.run").touch()
    assert row.missing() == ""


@pytest.mark.parametrize(
    "words", [("--set", "file=${HERE}/x.run"), ("--first-stage=${HERE}/x.run",)]
)
def test_a_file_that_arguments_name_is_missing_until_it_is_there(results, tmp_path, words):
    row = read_rows(results)[0].model_copy(update={"arguments": words})
    assert row.missing() == f"{tmp_path}/x.run does not exist"
    (tmp_path / "x.run").touch()
    assert row.missing() == ""


@pytest.mark.parametrize(
    ("patterns", "quick", "ids"),
    [
        ((), False, ["bm25-small", "ranker-small", "elsewhere"]),
        ((), True, ["bm25-small"]),
        (("*-small",), False, ["bm25-small", "ranker-small"]),
        (("small",), False, ["ranker-small"]),
        (("delta", "elsewhere"), False, ["ranker-small", "elsewhere"]),
    ],
)
def test_rows_are_chosen_by_id_tag_and_system(results, patterns, quick, ids):
    rows = select(read_rows(results), patterns, quick=quick)
    assert [row.id for row in rows] == ids


@pytest.mark.parametrize(
    ("patterns", "quick", "message"),
    [
        (["bm25-smal"], False, "'bm25-smal'. Did you mean 'bm25-small'"),
        (["bm25-small", "nothing-*"], False, r"'nothing-\*'. Known: bm25, bm25-small"),
        (["small"], True, "no result for 'small' is tagged quick; leave out quick=True"),
    ],
)
def test_a_pattern_that_no_row_has_is_refused(results, patterns, quick, message):
    with pytest.raises(InputError, match=message):
        select(read_rows(results), patterns, quick=quick)


def test_where_nothing_is_left_it_says_why(results):
    with pytest.raises(InputError, match="no result is tagged quick; `platform reproduce --list`"):
        select(read_rows(results)[1:], quick=True)
    with pytest.raises(InputError, match="there are no results"):
        select([])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[results]]", "has entries"),
        ("result = 3", "has entries"),
        ("[[result]", "this is not TOML"),
        ('[[result]]\nid = "a"', "result 'a', key 'collection'"),
        ('[[result]]\nid = "A!"', "result 'A!', key 'id'"),
        (
            '[[result]]\nid = "a"\ncollection = "c"\nminutes = 1\ntolerance = 0\n'
            'expected = { "AP" = "much" }',
            "key 'expected.AP",
        ),
        (
            '[[result]]\nid = "a"\ncollection = "c"\nminutes = 1\ntolerance = 0\n'
            'expected = {}\nalone = { "AP" = 1 }',
            "has no reranker",
        ),
        (
            '[[result]]\nid = "a"\ncollection = "c"\nminutes = 1\ntolerance = 0\nexpected = {}',
            "result 'a', key 'expected': it has no figure",
        ),
        (
            '[[result]]\nid = "a"\ncollection = "c"\nminutes = 1\ntolerance = 0\n'
            'expected = { "AP" = nan }',
            "key 'expected.AP.value'",
        ),
        ("result = [3]", "result number 1 is not a table"),
    ],
)
def test_a_wrong_file_is_refused_with_its_name(tmp_path, text, message):
    file = tmp_path / "wrong.toml"
    file.write_text(text)
    with pytest.raises(InputError, match=message) as refusal:
        read_rows(file)
    assert str(refusal.value).startswith(str(file))


def test_the_rows_that_are_shipped_are_commands_that_are_understood():
    rows = known_rows(registry().results)
    assert {"bm25-demo", "delta-demo"} <= {row.id for row in select(rows, quick=True)}
    for row in rows:
        parameters = run_command.make_context("run", row.command()[1:]).params
        if row.reranker is not None:
            system = registry().rerankers[row.reranker].system
            # What learns nothing is not trained several times: `run` would refuse it.
            assert issubclass(system, TrainableReranker) or (
                parameters["seeds"],
                parameters["members"],
            ) == (
                1,
                MEMBERS,
            ), row.id


def test_rows_of_graphene_say_what_its_graph_is_made_of():
    """By default that is all that is installed, so that figures would depend on the machine."""
    rows = [r for r in known_rows(registry().results) if (r.reranker or "").startswith("graphene")]
    assert rows
    for row in rows:
        bases = [*dict.fromkeys((*row.expand, *row.knowledge))]
        assert row.settings["concepts"]["knowledge"] == bases, row.id
