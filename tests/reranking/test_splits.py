"""Which topics learn and which validate: never the same."""

import pytest

from irplatform.reranking.systems import MEMBERS
from irplatform.reranking.training_set import Split, fold_topics, seeds_of, split_topics


def _check(splits, topics):
    for split in splits:
        assert not set(split.training) & set(split.validation)
        assert sorted({*split.training, *split.validation}) == sorted(topics)
        assert split.training
        assert split.validation


def test_a_dev_split_validates_every_member():
    splits = split_topics(range(5), [7, 8], seed=1)
    assert len(splits) == MEMBERS
    for split in splits:
        assert split.training == (0, 1, 2, 3, 4)
        assert split.validation == (7, 8)


@pytest.mark.parametrize("count", [5, 30, 1000])
def test_without_one_each_topic_validates_once(count):
    splits = split_topics(range(count), None, seed=1)
    assert len(splits) == MEMBERS
    _check(splits, range(count))
    assert sorted(t for split in splits for t in split.validation) == list(range(count))


def test_topics_keep_their_order_within_a_part():
    for split in fold_topics(range(30), 5, seed=3):
        assert list(split.training) == sorted(split.training)
        assert list(split.validation) == sorted(split.validation)


def test_the_seed_decides():
    assert fold_topics(range(30), 5, seed=1) == fold_topics(range(30), 5, seed=1)
    assert fold_topics(range(30), 5, seed=1) != fold_topics(range(30), 5, seed=2)


def test_families_stay_together():
    families = [number // 2 for number in range(30)]
    splits = fold_topics(range(30), 5, seed=1, families=families)
    _check(splits, range(30))
    assert sorted(t for split in splits for t in split.validation) == list(range(30))
    for split in splits:
        assert not {families[t] for t in split.training} & {families[t] for t in split.validation}
    few = [number % 2 for number in range(30)]
    for seed in range(40):  # both may be dealt to one fold at first
        splits = fold_topics(range(30), 5, seed, few)
        assert sorted(len(split.validation) for split in splits) == [15, 15]
    alone = fold_topics(range(30), 5, seed=1, families=list(range(30)))
    assert alone == fold_topics(range(30), 5, seed=1)


def test_a_family_that_grows_moves_no_other_topic():
    families = [0, *range(29)]  # the second topic asks what the first does
    before, after = fold_topics(range(30), 5, seed=1), fold_topics(range(30), 5, 1, families)

    def fold_of(splits, topic):
        return next(number for number, split in enumerate(splits) if topic in split.validation)

    assert [fold_of(after, t) for t in range(2, 30)] == [fold_of(before, t) for t in range(2, 30)]
    assert fold_of(after, 1) == fold_of(after, 0) == fold_of(before, 0)


def test_each_fold_has_its_share_of_the_topics_with_a_relevant_document():
    useful = [number % 3 == 0 for number in range(30)]
    for seed in range(20):
        splits = fold_topics(range(30), 5, seed, useful=useful)
        _check(splits, range(30))
        assert [sum(useful[t] for t in split.validation) for split in splits] == [2] * 5


def test_so_it_is_with_topics_that_ask_the_same():
    families = [number // 2 for number in range(30)]
    useful = [number in {1, 8, 13, 20, 29} for number in range(30)]
    for seed in range(40):
        splits = fold_topics(range(30), 5, seed, families, useful)
        _check(splits, range(30))
        assert [sum(useful[t] for t in split.validation) for split in splits] == [1] * 5
        for split in splits:
            assert not {families[t] for t in split.training} & {
                families[t] for t in split.validation
            }


@pytest.mark.parametrize("families", [None, [number // 2 for number in range(30)], [0, *range(29)]])
def test_where_all_topics_have_one_they_are_dealt_as_ever(families):
    for seed in range(20):
        arguments = (range(30), 5, seed, families)
        assert fold_topics(*arguments, useful=[True] * 30) == fold_topics(*arguments)


def test_no_member_validates_on_nothing_but_topics_without_a_relevant_document():
    useful = [number in {4, 7, 8} for number in range(12)]
    splits = split_topics(range(12), None, seed=1, useful=useful)
    assert [sum(useful[t] for t in split.validation) for split in splits] == [1, 1, 1]
    _check(splits, range(12))
    assert split_topics(range(12), [20], seed=1, useful=useful)[0].validation == (20,)


@pytest.mark.parametrize(("members", "validating"), [(2, 12), (MEMBERS, 30), (8, 30)])
def test_few_members_learn_from_as_many_topics_as_more_would(members, validating):
    splits = split_topics(range(30), None, seed=1, members=members)
    assert len(splits) == members
    assert sum(len(split.validation) for split in splits) == validating


def test_there_are_no_more_folds_than_topics():
    splits = fold_topics(range(3), 5, seed=1)
    assert len(splits) == 3
    _check(splits, range(3))


def test_seeds_of_repeated_trainings_leave_room_for_their_members():
    assert seeds_of(42, 3) == [42, 1042, 2042]
    assert all(0 <= seed < 2**32 for seed in seeds_of(2**32 - 1, 3))


def test_a_weight_is_chosen_on_some_of_many_topics():
    few, many = Split((), tuple(range(300))), Split((), tuple(range(1277)))
    assert few.weight_topics == few.validation
    assert many.weight_topics == tuple(range(0, 1277, 5))
