"""From `--over` to dimensions: declared bounds, ranges, lists; and what is refused."""

from typing import Annotated, Literal

import pytest
from pydantic import Field
from small import PLUGIN

from irplatform.errors import InputError
from irplatform.plugin import Options, Retriever
from irplatform.registry.lookup import Registry
from irplatform.registry.registration import Registration
from irplatform.tuning.space import Span, Values, read_space


class Inner(Options):
    deep: int = Field(3, ge=1, le=9)


class Everything(Options):
    share: float = Field(0.5, ge=0, le=1)
    rate: Annotated[float, Field(gt=0)] = 0.01
    many: int = Field(10, gt=0)
    few: int = Field(2, ge=1, le=3)
    switch: bool = False
    form: Literal["plain", "fast"] = "plain"
    limit: int | None = Field(None, ge=1)
    free: float = 0.0
    power: float = Field(1.0, gt=0, le=4)
    angle: float = Field(0.0, gt=-1, lt=1)
    steps: int = Field(3, gt=1, lt=8)
    decay: float = Field(0.5, lt=1)
    floor: float = Field(4.0, gt=2)
    wide: float = Field(1.0, ge=0, le=100)
    weights: dict[str, float] = Field({"gene": 2.0, "disease": 1.0})
    inner: Inner = Inner()
    label: str | None = None


class Finder(Retriever):
    Options = Everything


@pytest.fixture
def plugins():
    registry = Registry()
    for name in ("one", "two"):
        registry.retrievers[name] = Registration(name, "retriever", Finder, {}, PLUGIN)
    return registry


@pytest.fixture
def dimension(plugins):
    def read(text, **settings):
        (axis,) = read_space(plugins, ["one"], [], settings, [text])
        return axis

    return read


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("share", Span("share", 0, 1)),
        ("rate", Span("rate", 0.0025, 0.04, log=True)),
        ("many", Span("many", 2, 40, log=True, is_integral=True)),
        ("power", Span("power", 0.01, 4)),
        ("angle", Span("angle", -0.99, 0.99)),
        ("steps", Span("steps", 2, 7, is_integral=True)),
        ("decay", Span("decay", 0.125, 0.99, log=True)),
        ("floor", Span("floor", 2.01, 16.0, log=True)),
        ("wide", Span("wide", 0.25, 4.0, log=True)),
        ("few", Span("few", 1, 3, is_integral=True)),
        ("inner.deep", Span("inner.deep", 1, 9, is_integral=True)),
        ("one.share", Span("one.share", 0, 1)),
        ("weights.gene", Span("weights.gene", 0.5, 8.0, log=True)),
        ("switch", Values("switch", (False, True))),
        ("form", Values("form", ("plain", "fast"))),
    ],
)
def test_a_name_alone_takes_what_is_declared(dimension, text, expected):
    assert dimension(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("share=0.2:0.4", Span("share", 0.2, 0.4)),
        ("many=5:50:log", Span("many", 5, 50, log=True, is_integral=True)),
        ("free=-1:1", Span("free", -1, 1)),
        ("limit=5:20", Span("limit", 5, 20, is_integral=True)),
        ("limit=none,5,20", Values("limit", ("none", 5, 20))),
        ("many=5,10,10", Values("many", (5, 10))),
        ("form=plain,fast", Values("form", ("plain", "fast"))),
        ("form='plain','fast'", Values("form", ("plain", "fast"))),
        ("label=2017,1e5", Values("label", ("2017", "1e5"))),
        ("label='2017','a,b'", Values("label", ("2017", "a,b"))),
        ("switch=true,false", Values("switch", (True, False))),
    ],
)
def test_a_range_is_taken_as_it_is_written(dimension, text, expected):
    assert dimension(text) == expected


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("shore", r"'shore' is not an option of one. Did you mean 'share'\?.*retrievers show one"),
        ("free", "'free' of 'one' has no bounds to search between"),
        ("limit", "'limit' of 'one' has no bounds to search between"),
        ("share=1", "needs at least two different values"),
        ("share=", "needs at least two different values"),
        ("share=0.5,true", "option 'share' takes numbers; '0.5,true' has true or false"),
        ("many=1,true", "option 'many' takes numbers"),
        ("weights.gene=false,2", "option 'weights.gene' takes numbers"),
        ("many=5,5", "needs at least two different values"),
        ("share=a:b", "has no numbers"),
        ("share=0.1:0.2:0.3", "cannot be read"),
        ("share=0.4:0.2", "is empty"),
        ("share=0.1:nan", "is empty"),
        ("share=0:inf", "is empty"),
        ("share=0:1:log", "needs a lower end above 0"),
        ("share=0.5:2", "option 'share' of retriever 'one' cannot be 2"),
        ("many=1.5:3", "takes whole numbers"),
        ("form=plain,quick", "option 'form' of retriever 'one' cannot be 'quick'"),
    ],
)
def test_what_cannot_be_searched_is_refused(dimension, text, message):
    with pytest.raises(InputError, match=message):
        dimension(text)


def test_an_option_is_searched_once_and_not_set_as_well(plugins, dimension):
    with pytest.raises(InputError, match="'share' is both set and searched"):
        dimension("share", share=0.3)
    with pytest.raises(InputError, match="'share' is searched twice"):
        read_space(plugins, ["one"], [], {}, ["share", "share=0.1:0.2"])
    with pytest.raises(InputError, match="name the options to search with"):
        read_space(plugins, ["one"], [], {}, [])


def test_nor_under_another_name(plugins, dimension):
    with pytest.raises(InputError, match=r"'share' is searched and 'one\.share' is set: both"):
        dimension("share", **{"one.share": 0.3})
    with pytest.raises(InputError, match=r"both are inner\.deep of one; leave out one"):
        dimension("one.inner.deep", **{"inner.deep": 3})
    over = ["one.share=0.5,0.7", "share=0.1:0.2"]
    with pytest.raises(InputError, match=r"'one\.share' and 'share' are both share of one; search"):
        read_space(plugins, ["one"], [], {}, over)
    shares = ["one.share", "two.share"]
    assert len(read_space(plugins, ["one", "two"], [], {"share": 0.5}, shares, [])) == 2


def test_positions_cover_a_span_to_its_ends():
    linear, log = Span("x", 0.4, 2.0), Span("x", 1, 100, log=True)
    assert (linear.at(0.0), linear.at(0.5), linear.at(1 - 1e-12)) == (0.4, 1.2, 2.0)
    assert (log.at(0.0), log.at(0.5), log.at(1 - 1e-12)) == (1, 10, 100)
    assert linear.at(linear.position(1.37)) == 1.37


def test_numbers_are_rounded_to_a_hundredth_of_their_span():
    assert Span("x", 0, 1).at(0.123456) == 0.12
    assert Span("x", 1000, 1010).at(0.123456) == 1001.2
    assert Span("x", 1e-6, 1e-2, log=True).at(0.3) == pytest.approx(1.58e-5, rel=0.01)


@pytest.mark.parametrize("log", [False, True])
def test_every_whole_number_of_a_span_is_met(log):
    span = Span("n", 1, 4, log=log, is_integral=True)
    met = {span.at(n / 1000) for n in range(1000)}
    assert met == {1, 2, 3, 4}
    assert all(isinstance(n, int) for n in met)
    assert span.size == 4
    assert all(span.at(span.position(n)) == n for n in met)


def test_values_share_the_positions_evenly():
    values = Values("form", ("a", "b", "c"))
    assert [values.at(p) for p in (0.0, 0.34, 0.67, 1 - 1e-12)] == ["a", "b", "c", "c"]
    assert all(values.at(values.position(v)) == v for v in "abc")
