"""The split of built judgments: a name's split is the same on every machine, for good."""

import pytest

from irplatform.building.judgments import SPLITS, Shares, split_of
from irplatform.errors import InputError


def test_names_stay_in_the_split_that_they_have_always_been_in():
    drawn = [split_of(f"name {n}", Shares(60, 20, 20), 42) for n in range(8)]
    assert drawn == ["test", "test", "dev", "dev", "train", "test", "train", "test"]


def test_a_split_without_a_share_stays_empty():
    names = [str(n) for n in range(200)]
    assert {split_of(name, Shares(50, 0, 50), 1) for name in names} == {"train", "test"}
    for split in SPLITS:
        all_of_it = Shares(*(100 * (split == other) for other in SPLITS))
        assert {split_of(name, all_of_it, 1) for name in names} == {split}


@pytest.mark.parametrize("text", ["80/10", "60/20/21", "a/b/c", "120/-20/0", ""])
def test_shares_that_do_not_add_up_are_refused(text):
    with pytest.raises(InputError, match=r"shares of train, dev and test"):
        Shares.parse(text)


def test_shares_are_read_as_they_are_written():
    assert Shares.parse("80/10/10") == Shares(80, 10, 10)
