"""Lists of a stream, read no further than they are asked for."""

from irplatform.workers.distribution import batched, batched_by_size


def test_a_stream_is_cut_into_lists_of_which_the_last_may_be_shorter():
    assert list(batched("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(batched([1, 2], 2)) == [[1, 2]]
    assert list(batched([], 2)) == []


def test_it_is_read_one_list_at_a_time():
    stream = iter(range(5))
    assert next(batched(stream, 2)) == [0, 1]
    assert next(stream) == 2


def test_lists_of_a_size_hold_what_fits_and_a_larger_item_stands_alone():
    def cut(sizes, most):
        return list(batched_by_size(sizes, int, most))

    assert cut([2, 3, 1, 4], 5) == [[2, 3], [1, 4]]
    assert cut([1, 9, 1, 1], 5) == [[1], [9], [1, 1]]
    assert cut([9, 0, 0], 5) == [[9], [0, 0]]
    assert cut([], 5) == []


def test_a_list_of_a_size_is_read_to_the_item_that_no_longer_fits():
    stream = iter([1, 2, 3, 4])
    assert next(batched_by_size(stream, int, 3)) == [1, 2]
    assert next(stream) == 4
