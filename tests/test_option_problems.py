"""A value that does not fit an option is answered with what to write instead."""

from typing import Any, Literal

import pytest
from pydantic import Field, PositiveFloat, ValidationError, field_validator

from irplatform.options import as_list, first_problem
from irplatform.plugin import Options


class _Loop(Options):
    epochs: int = 3


class _All(Options):
    loop: _Loop = _Loop()
    names: tuple[str, ...] = ()
    few: tuple[str, ...] | None = None
    sides: tuple[int, int] = (1, 2)
    some: tuple[float, ...] = Field((1.0,), min_length=1)
    mu: PositiveFloat | Literal["mean-length"] = 1
    size: int = Field(1, ge=1)
    share: float = 0.5
    on: bool = True
    word: str = ""
    settings: dict[str, dict[str, Any]] = Field(default_factory=dict)

    @field_validator("word")
    @classmethod
    def _short(cls, word):
        if len(word) > 3:
            raise ValueError("words have three letters")
        return word


@pytest.mark.parametrize(
    ("values", "option", "wrong"),
    [
        ({"names": "a"}, "names", """write a list, as ["a"] (in a shell: '["a"]')"""),
        ({"names": '["a"'}, "names", """write a list, as ["a"] (in a shell: '["a"]')"""),
        ({"few": "a,b"}, "few", """write a list, as ["a", "b"] (in a shell: '["a", "b"]')"""),
        ({"names": [1]}, "names.0", "it should be text"),
        ({"sides": [1]}, "sides", "it takes: list of 2 whole numbers"),
        ({"sides": [1, 2, 3]}, "sides", "it takes: list of 2 whole numbers"),
        ({"some": []}, "some", "it takes: list of numbers"),
        ({"mu": 0}, "mu", "it takes: number above 0, or 'mean-length'"),
        ({"mu": "much"}, "mu", "it takes: number above 0, or 'mean-length'"),
        ({"loop": 3}, "loop", "it is a table; set its parts, such as loop.epochs"),
        ({"loop": {"epochs": "x"}}, "loop.epochs", "it should be a whole number"),
        ({"size": 1.5}, "size", "it should be a whole number"),
        ({"size": 0}, "size", "it should be greater than or equal to 1"),
        ({"share": "x"}, "share", "it should be a number"),
        ({"on": "maybe"}, "on", "it should be true or false"),
        ({"word": "long"}, "word", "words have three letters"),
        ({"settings": 3}, "settings", "it should be a table of settings"),
        ({"settings": {"x": 3}}, "settings.x", "it should be a table of settings"),
    ],
    ids=str,
)
def test_a_value_that_does_not_fit(values, option, wrong):
    with pytest.raises(ValidationError) as refusal:
        _All(**values)
    assert first_problem(_All, refusal.value) == (option, wrong)


def test_true_and_false_are_values_where_they_are_allowed():
    class Free(Options):
        share: float | bool = 0.5
        anything: Any = None

    assert Free(anything=False).anything is False
    assert Free(share=True).share is True
    assert _All(on=False).on is False


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a", '["a"]'),
        ("a b, c", '["a b", "c"]'),
        ("[a]", '["a"]'),
        ("['a', \"b\"", '["a", "b"]'),
        ("1, -2.5", "[1, -2.5]"),
        (3, "[3]"),
        ("", '["NAME"]'),
    ],
)
def test_a_list_is_written_of_what_was_given(value, text):
    assert as_list(value) == text
