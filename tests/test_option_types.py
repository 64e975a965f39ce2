"""Types of options are said in words of a user, for every installed system."""

from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from annotated_types import Ge, Gt, Le, Lt
from pydantic import Field, PositiveFloat

from irplatform.options import type_in_words
from irplatform.plugin import Options
from irplatform.registry.loading import registry


class _Part(Options):
    size: int = 1


@pytest.mark.parametrize(
    ("annotation", "words"),
    [
        (str, "text"),
        (bool, "true or false"),
        (int, "whole number"),
        (float, "number"),
        (Path | None, "file, or none"),
        (Literal["hinge"], "'hinge'"),
        (Literal["bce", "hinge", "softmax"], "'bce', 'hinge' or 'softmax'"),
        (int | Literal["auto"], "whole number, or 'auto'"),
        (PositiveFloat | Literal["mean-length"], "number above 0, or 'mean-length'"),
        (tuple[str, ...], "list of texts"),
        (list[int], "list of whole numbers"),
        (tuple[int, int], "list of 2 whole numbers"),
        (tuple[int, float], "list of 2: whole number, number"),
        (tuple[Literal["a", "b"], ...], "list of 'a' or 'b'"),
        (tuple[_Part, ...], "list of tables"),
        (dict[str, dict[str, Any]], "table of settings"),
        (dict[str, Any], "table of settings"),
        (dict[str, Annotated[float, Field(ge=0)]], "text to number (0 or more)"),
        (_Part, "table"),
    ],
    ids=str,
)
def test_a_type_is_said_in_words(annotation, words):
    assert type_in_words(annotation) == words


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ([Gt(0)], "number above 0"),
        ([Ge(0)], "number (0 or more)"),
        ([Le(5)], "number (5 or less)"),
        ([Ge(0), Le(1)], "number from 0 to 1"),
        ([Gt(0), Le(1)], "number above 0 and at most 1"),
        ([Ge(0), Lt(1)], "number at least 0 and below 1"),
    ],
    ids=str,
)
def test_limits_of_a_number_are_said_with_it(limits, words):
    assert type_in_words(float, limits) == words
    assert type_in_words(float | None, limits) == f"{words}, or none"
    assert type_in_words(str, limits) == "text"


def _leaves(options):
    for name, declared in type(options).model_fields.items():
        value = getattr(options, name)
        if isinstance(value, Options):
            yield from _leaves(value)
        else:
            yield name, declared


@pytest.mark.parametrize("table", ["rerankers", "retrievers", "features"])
def test_no_type_of_an_installed_system_shows_python(table):
    for registration in getattr(registry(), table).values():
        for name, declared in _leaves(registration.options({})):
            words = type_in_words(declared.annotation, declared.metadata)
            place = (registration.name, name, words)
            assert not set("=[]|<>.") & set(words), place
            assert not {"Any", "str", "int", "float", "tuple"} & set(words.split()), place
