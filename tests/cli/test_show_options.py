"""How options are listed: as `--set` takes them."""

import pytest
from small import registration

from irplatform.cli.rerankers import _changes
from irplatform.plugin import Reranker

HEADING = "Options (--set "


def test_a_group_says_how_its_options_are_set(platform):
    assert f"{HEADING}ltr.settings.genes.NAME=VALUE):" in platform("features", "show", "genes").out


def test_rerankers_and_retrievers_say_how_their_options_are_set(platform):
    assert f"{HEADING}NAME=VALUE):" in platform("rerankers", "show", "delta").out
    assert f"{HEADING}NAME=VALUE):" in platform("retrievers", "show", "bm25").out


def test_who_has_no_options_has_no_heading(platform):
    outcome = platform("rerankers", "show", "revdocid")
    assert HEADING not in outcome.out
    assert outcome.out.splitlines()[-1].endswith(" No options.")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("retrievers", "show", "bm25"), "text to number (0 or more)"),
        (("rerankers", "show", "ltr"), "table of settings"),
        (("rerankers", "show", "uqlm-title"), "number above 0, or"),
    ],
)
def test_types_are_said_in_words(platform, arguments, words):
    assert words in platform(*arguments).out


def test_variants_are_listed_with_what_set_takes(platform):
    lines = {line.split()[0]: line for line in platform("rerankers", "list").out.splitlines()}
    assert "[features=[" in lines["graphene-features"]
    assert "[lexical=[], difference=false]" in lines["delta-no-difference"]


def test_options_inside_others_are_listed_with_dots_and_the_first_of_many():
    loop = {"optimizer": "adam", "learning_rate": 0.002, "batch_size": 64, "epochs": 6}
    changes = _changes(registration(Reranker, loop=loop, pairs={"pairs_per_topic": 50}))
    assert changes.startswith(" [loop.optimizer=adam, loop.learning_rate=0.002")
    assert changes.endswith("…]")
