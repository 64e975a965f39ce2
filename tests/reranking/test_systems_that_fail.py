"""What a reranker cannot say of itself names its plugin, and is told before any work."""

from collections import UserDict
from dataclasses import replace
from pathlib import Path

import pytest
from small import registration

from irplatform.errors import InputError, PluginError
from irplatform.plugin import Reranker, TrainableReranker
from irplatform.reranking.systems import ChosenReranker

WHO = r"reranker 'ranker' of plugin 'strange' \(strange-distribution 1.2\)"


def _choice(base=Reranker, **methods):
    held = registration(type("Odd", (base,), methods))
    return ChosenReranker(held, held.options({}))


def _raises(*arguments):
    raise KeyError("gone")


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        (
            {"__init__": _raises},
            r"failed being made: KeyError: 'gone' \(.*that_fail\.py:\d+, in",
        ),
        ({"__init__": lambda self: None}, "failed being made: TypeError: .*takes 1 positional"),
        ({"depends_on": _raises}, "failed saying what it depends on: KeyError"),
        ({"depends_on": lambda self: Path("x")}, "returned PosixPath from depends_on; a mapping"),
        ({"depends_on": lambda self: {"x"}}, "returned set from depends_on"),
        ({"depends_on": lambda self: None}, "returned NoneType from depends_on"),
        (
            {"depends_on": lambda self: {"file": Path("x")}},
            "returned from depends_on what is not JSON: TypeError: .*PosixPath",
        ),
        ({"holds_first_stage": lambda self: "no"}, "returned str from holds_first_stage; True or"),
        ({"holds_first_stage": _raises}, "failed saying whether it holds the first stage"),
    ],
)
def test_it_is_named_when_it_is_checked(methods, message):
    with pytest.raises(PluginError, match=f"{WHO} {message}"):
        _choice(**methods).check()


def test_a_class_that_fails_at_its_options_is_named():
    with pytest.raises(PluginError, match=f"{WHO} failed reading its options: KeyError"):
        _choice(expanding=_raises).expanding(("mesh",))


@pytest.mark.parametrize("given", ["here", ["here"], None])
def test_checkpoints_are_paths(given):
    with pytest.raises(PluginError, match=f"{WHO} returned .* from checkpoints; a list of paths"):
        _ = _choice(checkpoints=lambda self: given).checkpoints


def test_options_that_were_forgotten_to_be_returned_are_named():
    choice = _choice(expanding=lambda self, knowledge: None)
    with pytest.raises(PluginError, match=f"{WHO} returned NoneType from expanding"):
        choice.expanding(("mesh",))


def test_missing_memory_is_told_with_who_needs_it():
    def depends_on(self):
        raise MemoryError("Unable to allocate 200 GiB")

    with pytest.raises(PluginError, match=f"{WHO} failed .*MemoryError: Unable to allocate"):
        _choice(depends_on=depends_on).check()


def test_what_it_depends_on_is_part_of_its_description():
    choice = _choice(depends_on=lambda self: UserDict({"file": "digest"}))
    choice.check()
    assert choice.describe()["of"] == {"file": "digest"}


def test_an_input_error_stays_the_users():
    def depends_on(self):
        raise InputError("there is no such file.")

    with pytest.raises(InputError, match="there is no such file"):
        _choice(depends_on=depends_on).check()


def test_what_it_learns_from_is_looked_at_where_it_will_be_trained():
    def check_training(self):
        raise InputError("there is no such file of pairs.")

    choice = _choice(TrainableReranker, check_training=check_training)
    with pytest.raises(InputError, match="no such file of pairs"):
        choice.check_training()
    replace(choice, trained=True).check_training()


def test_one_that_fails_looking_at_what_it_learns_from_is_named():
    with pytest.raises(PluginError, match=f"{WHO} failed looking at what it learns from: KeyError"):
        _choice(TrainableReranker, check_training=_raises).check_training()
