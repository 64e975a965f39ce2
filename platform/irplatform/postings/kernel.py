"""The loops of `search`, compiled by numba, which keeps the code for later processes.

Documents go in blocks whose sums stay in the processor's cache. Of a topic, all terms but common
ones are added to the sums of all their documents. Then the best sums so far tell what a document
needs at least. Where the terms that are left cannot lift the others so far, they are looked up for
the few documents that they can lift, by `irplatform.postings.common` (MaxScore: Turtle and Flood,
Information Processing & Management 31(6), 1995). All documents that may be among the best get whole
sums, so nothing is lost.

The best are gathered as keys of 64 bits: the bits of the score, which have the order of
non-negative scores, and then the number of the document, subtracted so that of equal scores the
smaller number comes first.

All is in one file, since numba takes compiled code as new while the file of the function that is
called is unchanged, whatever changes in others.
"""
# mypy: disable-error-code="assignment, misc, untyped-decorator"

from __future__ import annotations

from typing import Any

import numpy as np

from irplatform.system.compilation import compiled

_LANES, _STEPS = 8, 16
"""Every eighth of 128 sums in a row make a chunk, whose largest sum is looked at first."""
_CHUNKED = _LANES * _STEPS
_BINS = 1 << 10
"""Parts of the range of sums, to find out how many exceed a bound."""
_FEW = 24
"""Keys that are sorted by insertion."""
_NO_LIMIT = 2**16 - 1
_SAMPLE = 4
"""Sums that are looked at for each document that is asked for, to guess what is needed."""
_SHARE = 0.4
"""Largest part of what is needed that terms may add which are looked up."""
_LOOK_UP = 8
"""Postings that are added in the time of looking up terms for a document."""
_ROUNDED = 1 - 2.5e-7
"""A sum that is smaller by this may have the same score in 32 bits."""
_SMALLEST = 1e-30
"""Sums as small as this are not compared, since their scores would lose digits."""
_ERROR = 1e-12
"""Part of the largest sum by which a sum in another order may differ."""
_LOW = np.uint64(2**32 - 1)
_HALF = np.uint64(32)
_ONE, _SIX, _IN_WORD = np.uint64(1), np.uint64(6), np.uint64(63)
_DIGIT = np.uint64(255)


@compiled
def rank(
    documents: Any, values: Any, latest: Any, saturation: Any, bits: Any, ranks: Any,
    ends: Any, begins: Any, stops: Any, weights: Any, bounds: Any, common: Any, limits: Any,
    first: Any, last: Any, depth: Any, block: Any, fewest: Any,
    numbers: Any, scores: Any, places: Any, counts: Any,
) -> None:  # fmt: skip
    """Fill in the results of the topics from `first` to `last`; releases the GIL.

    `common` has the place of each term in `bits` and `ranks`, or -1. A topic's common terms come
    last. `block` is the number of documents at a time, a multiple of 128; terms are looked up if
    they have more than `fewest` postings there.
    """
    count = len(latest)
    depth = min(depth, count)
    room = min(block, -(-count // _CHUNKED) * _CHUNKED)
    sums = np.zeros(room, dtype=np.float64)
    maxima = np.empty(max(room // _STEPS, min(depth * _SAMPLE, room)), dtype=np.int64)
    bins = np.empty(_BINS, dtype=np.int64)
    most = max(2 * depth, 256)
    keys = np.empty(most + room + 1, dtype=np.uint64)
    spare = np.empty(most + room + 1, dtype=np.uint64)
    candidates = np.empty(room + _STEPS, dtype=np.int64)
    totals = np.empty(room, dtype=np.float64)
    longest = np.max(np.diff(ends[first : last + 1]))
    tables = np.empty((longest, 0 if saturation is None else len(saturation)), dtype=np.float64)
    rest = np.empty(longest + 1, dtype=np.float64)
    positions = np.empty(longest, dtype=np.int64)
    for topic in range(first, last):
        terms = slice(ends[topic], ends[topic + 1])
        begin, stop, weight, place = begins[terms], stops[terms], weights[terms], common[terms]
        size = len(weight)
        rare = _prepare(begin, stop, weight, bounds[terms], place, saturation, tables, rest)
        heads, tails = positions[:size], begin.copy()
        key_count, least = 0, 0.0
        for low in range(0, count, block):
            _begin_block(documents, low, count, block, stop, heads, tails)
            if limits[topic] < _NO_LIMIT:
                _leave_out(sums, latest[low : low + block], limits[topic])
            start, until, has_guess = 0, rare, False
            while True:
                _add_terms(
                    sums, low, start, until, documents, values, saturation, tables, weight,
                    begin, stop, heads, tails,
                )  # fmt: skip
                start = until
                if start < size and not has_guess:
                    has_guess = True
                    needed = _guess(sums, low, documents, heads, tails, depth, least, maxima, bins)
                    until = _first_to_look_up(rest, heads, tails, rare, size, needed, fewest)
                    continue
                cut = _needed(sums, depth, maxima, bins, least)
                if start == size:
                    key_count = _gather(sums, low, maxima, cut, keys, key_count, candidates)
                    break
                few = _choose(sums, maxima, cut, rest, heads, tails, start, candidates, totals)
                if few >= 0:
                    few = _complete(
                        bits, ranks, low, values, begin, weight, saturation, place, start, rest,
                        cut, candidates, totals, few,
                    )  # fmt: skip
                    key_count = _take(candidates, totals, few, low, cut, keys, key_count)
                    break
                until = size
            many = most if low + block < count else depth + depth // 2 + _FEW
            key_count, least = _trim(keys, spare, key_count, depth, many, least)
            sums[:] = 0.0
        best = _sorted(keys[:key_count], spare[:key_count], bins)
        counts[topic] = min(key_count, depth)
        _read_keys(best[: counts[topic]], places[topic], numbers, scores)


@compiled
def _prepare(
    begin: Any, stop: Any, weight: Any, bound: Any, place: Any, saturation: Any,
    tables: Any, rest: Any,
) -> Any:  # fmt: skip
    """Fill in what terms from each on may add, and what codes add; count the rare terms."""
    size = len(weight)
    rest[size] = 0.0
    for term in range(size - 1, -1, -1):
        rest[term] = rest[term + 1] + bound[term]
    if saturation is not None:
        for term in range(size):
            if stop[term] - begin[term] > len(saturation):
                for code in range(len(saturation)):
                    tables[term, code] = weight[term] - weight[term] / saturation[code]
    rare = 0
    while rare < size and place[rare] < 0:
        rare += 1
    return rare


@compiled
def _begin_block(
    documents: Any, low: Any, count: Any, block: Any, stop: Any, heads: Any, tails: Any
) -> None:
    """Find where each term's postings begin and end within a block."""
    for term in range(len(stop)):
        heads[term] = tails[term]
        tails[term] = stop[term]
        if low + block < count:
            within = documents[heads[term] : min(stop[term], heads[term] + block)]
            tails[term] = heads[term] + np.searchsorted(within, low + block)


@compiled
def _add_terms(
    sums: Any, low: Any, first: Any, last: Any, documents: Any, values: Any, saturation: Any,
    tables: Any, weight: Any, begin: Any, stop: Any, heads: Any, tails: Any,
) -> None:  # fmt: skip
    """Add the postings of some terms to the sums of a block."""
    for term in range(first, last):
        part = slice(heads[term], tails[term])
        if saturation is not None and stop[term] - begin[term] > len(saturation):
            _add_coded(sums, low, documents[part], values[part], tables[term])
        else:
            _add(sums, low, documents[part], values[part], weight[term], saturation)


@compiled
def _leave_out(sums: Any, latest: Any, limit: Any) -> None:
    """Give documents that are too late a sum to which nothing can be added."""
    for place in range(len(latest)):
        if latest[place] > limit:
            sums[place] = -np.inf


@compiled
def _add(sums: Any, low: Any, documents: Any, values: Any, weight: Any, saturation: Any) -> None:
    """Add a term's postings to the sums of a block that begins at a document."""
    low = np.uint64(low)
    for place in range(len(documents)):
        document = np.uint64(documents[place]) - low
        if saturation is None:
            sums[document] += np.float64(weight) * np.float64(values[place])
        else:
            sums[document] += np.float64(weight - weight / saturation[values[place]])


@compiled
def _add_coded(sums: Any, low: Any, documents: Any, codes: Any, table: Any) -> None:
    """Add a term's postings, given what each code adds."""
    low = np.uint64(low)
    for place in range(len(documents)):
        sums[np.uint64(documents[place]) - low] += table[np.uint64(codes[place])]


@compiled
def _guess(
    sums: Any, low: Any, documents: Any, heads: Any, tails: Any, depth: Any, least: Any,
    sample: Any, bins: Any,
) -> Any:  # fmt: skip
    """A sum that as many documents reach as are asked for, from those of one term, or `least`."""
    for term in range(len(heads)):
        length = min(tails[term] - heads[term], depth * _SAMPLE)
        if length < depth:
            continue
        for number in range(length):
            document = documents[heads[term] + number] - low
            sample[number] = _bits(sums[document])
        return max(least, _reached(sample, length, depth, bins))
    return least


@compiled
def _first_to_look_up(
    rest: Any, heads: Any, tails: Any, rare: Any, size: Any, needed: Any, fewest: Any
) -> Any:
    """The first term from which on looking up pays."""
    pending = 0
    until = size
    for term in range(size - 1, rare - 1, -1):
        if rest[term] > _SHARE * needed:
            break
        pending += tails[term] - heads[term]
        until = term
    return until if pending > fewest else size


@compiled
def _needed(sums: Any, depth: Any, maxima: Any, bins: Any, least: Any) -> Any:
    """What a sum has to exceed, given the sums so far of a block; fills `maxima`."""
    as_bits = sums.view(np.int64)  # of numbers that are not negative they have the same order
    for group in range(len(sums) // _CHUNKED):
        for lane in range(_LANES):
            first = np.uint64(group * _CHUNKED + lane)
            largest = as_bits[first]
            for step in range(1, _STEPS):
                other = as_bits[first + np.uint64(step * _LANES)]
                largest = other if other > largest else largest  # noqa: FURB136
            maxima[group * _LANES + lane] = largest
    return max(least, _reached(maxima, len(sums) // _STEPS, depth, bins))


@compiled
def _reached(numbers: Any, length: Any, depth: Any, bins: Any) -> Any:
    """A number that at least `depth` reach, and that has a smaller score in 32 bits; 0 if none."""
    if length < depth:
        return 0.0
    largest: Any = 0
    for place in range(length):
        largest = max(largest, numbers[place])
    if _number(largest) < _SMALLEST:
        return 0.0
    last = min(len(bins), length) - 1
    scale = (last + 1) / _number(largest)
    bins[: last + 1] = 0
    for place in range(length):
        part = np.int64(_number(max(numbers[place], 0)) * scale)
        bins[min(part, last)] += 1
    reached = 0
    for part in range(last, 0, -1):
        reached += bins[part]
        if reached >= depth:
            return part / scale * _ROUNDED
    return 0.0


@compiled
def _choose(
    sums: Any, maxima: Any, cut: Any, rest: Any, heads: Any, tails: Any, first: Any,
    candidates: Any, totals: Any,
) -> Any:  # fmt: skip
    """Gather the documents whose sums may exceed `cut` with the terms from `first` on.

    Returns their number, or -1 if looking up these terms would take longer than adding them.
    """
    lower = cut - rest[first] - _ERROR * rest[0]
    most = 0
    for term in range(first, len(heads)):
        most += tails[term] - heads[term]
    most //= _LOOK_UP
    as_bits = sums.view(np.int64)
    bound = _bits(lower)
    size = 0
    for group in range(len(sums) // _CHUNKED):
        size = _of_group(as_bits, maxima, group, bound, candidates, size)
        if size > most or lower <= 0:
            return -1
    for number in range(size):
        totals[number] = sums[candidates[number]]
    return size


@compiled
def _of_group(as_bits: Any, maxima: Any, group: Any, bound: Any, candidates: Any, size: Any) -> Any:
    """Append the places of a group's sums that exceed a bound, ascending; the new size."""
    start = size
    for lane in range(_LANES):
        if maxima[group * _LANES + lane] > bound:
            for step in range(_STEPS):  # a branch would often be mispredicted
                place = group * _CHUNKED + step * _LANES + lane
                candidates[size] = place
                size += as_bits[place] > bound
    for number in range(start + 1, size):
        place = candidates[number]
        before = number
        while before > start and candidates[before - 1] > place:
            candidates[before] = candidates[before - 1]
            before -= 1
        candidates[before] = place
    return size


@compiled
def _complete(
    bits: Any, ranks: Any, low: Any, values: Any, begin: Any, weight: Any, saturation: Any,
    place: Any, until: Any, rest: Any, cut: Any, candidates: Any, totals: Any, few: Any,
) -> Any:  # fmt: skip
    """Add common terms to candidates; keep those that may be among the best."""
    for term in range(until, len(weight)):
        row = place[term]
        _look_up(
            bits[row], ranks[row], low, values[begin[term] :], weight[term], saturation,
            candidates, totals, few,
        )  # fmt: skip
        few = _drop(candidates, totals, few, cut - rest[term + 1] - _ERROR * rest[0])
    return few


@compiled
def _look_up(
    bits: Any, ranks: Any, low: Any, values: Any, weight: Any, saturation: Any,
    candidates: Any, totals: Any, few: Any,
) -> None:  # fmt: skip
    """Add a common term to the sums of some documents."""
    low = np.uint64(low)
    for number in range(few):
        document = np.uint64(candidates[number]) + low
        word = bits[document >> _SIX]
        place = document & _IN_WORD
        if (word >> place) & _ONE:
            before = _ones(word & ((_ONE << place) - _ONE))
            value = values[np.uint64(ranks[document >> _SIX]) + before]
            if saturation is None:
                totals[number] += np.float64(weight) * np.float64(value)
            else:
                totals[number] += np.float64(weight - weight / saturation[value])


@compiled
def _drop(candidates: Any, totals: Any, few: Any, lower: Any) -> Any:
    """Keep the documents whose sums exceed a bound; their number."""
    size = 0
    for number in range(few):
        candidates[size] = candidates[number]
        totals[size] = totals[number]
        size += totals[number] > lower
    return size


@compiled
def _take(
    candidates: Any, totals: Any, few: Any, low: Any, cut: Any, keys: Any, key_count: Any
) -> Any:
    """Gather the keys of candidates whose sums exceed `cut`; the number of all keys."""
    for number in range(few):
        keys[key_count] = _key(totals[number], low + candidates[number])
        key_count += totals[number] > cut
    return key_count


@compiled
def _gather(
    sums: Any, low: Any, maxima: Any, cut: Any, keys: Any, key_count: Any, candidates: Any
) -> Any:
    """Gather the keys of a block's documents whose sums exceed `cut`; the number of all keys."""
    as_bits = sums.view(np.int64)
    bound = _bits(cut)
    for group in range(len(sums) // _CHUNKED):
        size = _of_group(as_bits, maxima, group, bound, candidates, 0)
        for number in range(size):
            keys[key_count] = _key(sums[candidates[number]], low + candidates[number])
            key_count += 1
    return key_count


@compiled
def _ones(word: Any) -> Any:
    """The number of bits that are set."""
    word -= (word >> _ONE) & np.uint64(0x5555555555555555)
    word = (word & np.uint64(0x3333333333333333)) + (
        (word >> np.uint64(2)) & np.uint64(0x3333333333333333)
    )
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (word * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def _bits(number: Any) -> Any:
    return np.float64(number).view(np.int64)


@compiled
def _number(bits: Any) -> Any:
    return np.int64(bits).view(np.float64)


@compiled
def _key(total: Any, document: Any) -> Any:
    bits = np.float32(total).view(np.uint32)
    return (np.uint64(bits) << _HALF) | (_LOW - np.uint64(document))


@compiled
def _score(key: Any) -> Any:
    return np.uint32(key >> _HALF).view(np.float32)


@compiled
def _read_keys(keys: Any, first: Any, numbers: Any, scores: Any) -> None:
    for number in range(len(keys)):
        numbers[first + number] = np.int32(_LOW - (keys[number] & _LOW))
        scores[first + number] = _score(keys[number])


@compiled
def _trim(keys: Any, spare: Any, key_count: Any, depth: Any, most: Any, least: Any) -> Any:
    """Keep the best keys, in their order, if there are many.

    Returns the number of keys, and the score that others must exceed.
    """
    if key_count < most:
        return key_count, least
    spare[:key_count] = keys[:key_count]
    _best_first(spare[:key_count], depth)
    last = np.min(spare[:depth])
    size = 0
    for number in range(key_count):
        key = keys[number]
        keys[size] = key
        size += key >= last
    return depth, np.float64(_score(last))


@compiled
def _sorted(keys: Any, spare: Any, bins: Any) -> Any:
    """The keys in descending order, in one of two arrays.

    Many are sorted by eight bits of their scores at a time, and keep their order if scores are
    equal. They come by ascending documents.
    """
    if len(keys) <= _FEW:
        for number in range(1, len(keys)):
            key = keys[number]
            before = number
            while before > 0 and keys[before - 1] < key:
                keys[before] = keys[before - 1]
                before -= 1
            keys[before] = key
        return keys
    least, largest = np.min(keys) >> _HALF, np.max(keys) >> _HALF
    shift = np.uint64(0)
    while (largest - least) >> shift:
        bins[:256] = 0
        for key in keys:
            bins[((largest - (key >> _HALF)) >> shift) & _DIGIT] += 1
        place = 0
        for digit in range(256):
            place, bins[digit] = place + bins[digit], place
        for key in keys:
            digit = np.int64(((largest - (key >> _HALF)) >> shift) & _DIGIT)
            spare[bins[digit]] = key
            bins[digit] += 1
        keys, spare = spare, keys
        shift += np.uint64(8)
    return keys


@compiled
def _best_first(keys: Any, depth: Any) -> None:
    """Bring the largest `depth` keys to the front, in any order (quickselect)."""
    left, right = 0, len(keys) - 1
    while left < right:
        pivot = keys[(left + right) >> 1]
        i, j = left, right
        while i <= j:
            while keys[i] > pivot:
                i += 1
            while keys[j] < pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i += 1
                j -= 1
        if depth - 1 <= j:
            right = j
        elif depth - 1 >= i:
            left = i
        else:
            return
