"""Lists of a stream, read no further than they are asked for."""

from irplatform.batched import batched


def test_a_stream_is_cut_into_lists_of_which_the_last_may_be_shorter():
    assert list(batched("abcde", 2)) == [["a", "b"], ["c", "d"], ["e"]]
    assert list(batched([1, 2], 2)) == [[1, 2]]
    assert list(batched([], 2)) == []


def test_it_is_read_one_list_at_a_time():
    stream = iter(range(5))
    assert next(batched(stream, 2)) == [0, 1]
    assert next(stream) == 2
