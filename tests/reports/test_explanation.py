"""Explanations as text."""

from irplatform.reports.explanation import lines_of


def test_short_things_come_first_with_their_names_aligned():
    explanation = {"score": 1.5, "part": {"a": 1}, "words_read": 1200, "none": [], "yes": True}
    assert list(lines_of(explanation)) == [
        "score       1.5000",
        "words read  1200",
        "none        -",
        "yes         yes",
        "",
        "part",
        "  a  1",
    ]


def test_mappings_in_a_list_are_a_table_with_numbers_to_the_right():
    rows = [{"word": "braf", "gain": 0.25}, {"word": "a", "gain": -11.0}, {"word": "b"}]
    assert list(lines_of({"words": rows})) == [
        "",
        "words",
        "  word      gain",
        "  braf    0.2500",
        "  a     -11.0000",
        "  b            -",
    ]


def test_lists_and_mappings_in_a_cell_stay_on_a_line():
    rows = [{"names": ["x", "y"], "of": {"a_b": 1}, "text": "two\nlines"}]
    assert list(lines_of({"t": rows}))[-1] == "  x, y   a b 1  two lines"


def test_numbers_keep_the_digits_that_matter():
    numbers = {"a": 0.00001234, "b": 0.0, "c": 123456.789, "d": -2.0}
    assert list(lines_of(numbers)) == ["a  1.23e-05", "b  0.0000", "c  123,456.8", "d  -2.0000"]


def test_tables_are_fitted_into_the_room_that_there_is():
    facts = {"words": [{"word": "adenocarcinoma", "found": "lung", "gain": 1.25}]}
    assert [*lines_of(facts)][2:] == [
        "  word            found    gain",
        "  adenocarcinoma  lung   1.2500",
    ]
    assert [*lines_of(facts, 29)][2:] == [
        "  word           found   gain",
        "  adenocarcinoma lung  1.2500",
    ]
    assert [*lines_of(facts, 25)][2:] == [
        "  word       found   gain",
        "  adenocarc… lung  1.2500",
    ]
