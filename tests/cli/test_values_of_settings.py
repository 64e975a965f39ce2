"""`--set NAME=VALUE`: a value has the type that it is written in, or is text as its option."""

import pytest

from irplatform.cli.settings import read_settings


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("bi-encoder.revision=12345678", "12345678"),
        ("revision=0012", "0012"),
        ("revision=1e5", "1e5"),
        ("revision=2024-01-31", "2024-01-31"),
        ("revision=true", "true"),
        ("revision='12345678'", "12345678"),
        ('revision="main"', "main"),
        ("model=nan", "nan"),
        ("batch_size=8", 8),
        ("max_length='8'", "8"),
        ("bm25.k1=1", 1),
        ("k1=1.5", 1.5),
        ("expand=['mesh']", ["mesh"]),
        ("no.such=1", 1),
    ],
)
def test_a_value_is_read_by_the_type_of_its_option(setting, value):
    (option_value,) = read_settings((setting,), None, ["bm25"], ["bi-encoder"]).values()
    assert (type(option_value), option_value) == (type(value), value)


@pytest.mark.parametrize("setting", ["revision=12345678", "revision=true", "revision='77'"])
def test_text_like_a_number_reaches_the_option(platform, setting):
    outcome = platform(
        *("run", "--collection", "demo", "--reranker", "bi-encoder", "--set", setting),
        *("--set", "model=none-such/at-all", "--set", "batch_size=0"),
    )
    assert outcome.code == 2
    assert "option 'batch_size' of reranker 'bi-encoder' cannot be 0" in outcome.err
