"""The inner loops of skip-gram with hierarchical softmax, compiled by numba.

They compute what gensim computes with SciPy's OpenBLAS for processors with AVX2, to the bit, in a
fraction of the time: a row is read once a step in place of three times. So sums have OpenBLAS's
order: 32 lanes of fused products, added in halves, and then the numbers that are left of 32, whose
products are rounded. And a sum has gensim's mistake, which takes the single-precision number that
OpenBLAS returns for the lower half of a double-precision one, whose upper half is still in the
processor's register.
"""
# mypy: disable-error-code="misc, untyped-decorator"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.types.containers import UniTuple
from numba.extending import intrinsic

from irplatform.system.compilation import compiled

END = -2
"""Ends a sentence among the numbers of words; words without a vector are -1."""
_DEEPEST = 64
"""Bits of a word's code; with 40, a word would have occurred a hundred million times."""
_BLOCK = 32
_FLOAT, _DOUBLE, _INT, _LONG = ir.FloatType(), ir.DoubleType(), ir.IntType(32), ir.IntType(64)
_FOUR, _EIGHT = ir.VectorType(_FLOAT, 4), ir.VectorType(_FLOAT, 8)
_UPPER_HALF = 0xFFFFFFFF00000000


def _long(value: int) -> Any:
    return ir.Constant(_LONG, value)


def _lanes(*lanes: int) -> Any:
    return ir.Constant(ir.VectorType(_INT, len(lanes)), lanes)


def _range(builder: Any, start: Any, stop: Any, step: int) -> Any:
    return cgutils.for_range_slice(builder, start, stop, _long(step), _LONG)


def _data(context: Any, builder: Any, of_type: Any, array: Any) -> Any:
    return context.make_array(of_type)(context, builder, array).data


def _load(builder: Any, base: Any, place: Any, kind: Any) -> Any:
    address = builder.bitcast(builder.gep(base, [place]), kind.as_pointer())
    return builder.load(address, align=4)


def _store(builder: Any, value: Any, base: Any, place: Any) -> None:
    address = builder.bitcast(builder.gep(base, [place]), value.type.as_pointer())
    builder.store(value, address, align=4)


def _zero(kind: Any) -> Any:
    return ir.Constant(kind, 0.0 if kind == _FLOAT else [0.0] * kind.count)


def _fused(builder: Any, one: Any, other: Any, added: Any) -> Any:
    """One · other + added, rounded once."""
    kind = one.type
    name = f"llvm.fma.v{kind.count}f32"
    of_type = ir.FunctionType(kind, [kind] * 3)
    function = cgutils.get_or_insert_function(builder.module, of_type, name)
    return builder.call(function, [one, other, added])


def _rounded(builder: Any, one: Any, other: Any, added: Any) -> Any:
    """One · other + added, the product rounded too."""
    return builder.fadd(builder.fmul(one, other), added)


def _spread(builder: Any, value: Any, kind: Any) -> Any:
    """A vector whose lanes are all the value."""
    if kind == _FLOAT:
        return value
    vector = builder.insert_element(ir.Constant(kind, ir.Undefined), value, ir.Constant(_INT, 0))
    return builder.shuffle_vector(vector, vector, _lanes(*[0] * kind.count))


def _parts(builder: Any, size: Any) -> tuple[Any, Any]:
    """The largest multiples of 32 and of 4 within a size."""
    return builder.and_(size, _long(-_BLOCK)), builder.and_(size, _long(-4))


@intrinsic
def _dots(_: Any, inputs: Any, at: Any, outputs: Any, one: Any, other: Any, size: Any) -> Any:
    """The products of a row of inputs with two of outputs; rows begin at places of the arrays.

    Two at once, since one alone waits for its own sums.
    """

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        data = [_data(context, builder, signature.args[place], args[place]) for place in (0, 2)]
        row = builder.gep(data[0], [args[1]])
        columns = [builder.gep(data[1], [start]) for start in args[3:5]]
        size = args[5]
        blocks, fours = _parts(builder, size)
        sums = [
            [cgutils.alloca_once_value(builder, _zero(_EIGHT)) for _ in range(4)] for _ in range(2)
        ]
        rests = [cgutils.alloca_once_value(builder, ir.Constant(_DOUBLE, 0.0)) for _ in range(2)]
        with _range(builder, _long(0), blocks, _BLOCK) as (start, _):
            for part in range(4):
                place = builder.add(start, _long(8 * part))
                value = _load(builder, row, place, _EIGHT)
                for column, column_sums in zip(columns, sums, strict=True):
                    factor = _load(builder, column, place, _EIGHT)
                    total = _fused(builder, value, factor, builder.load(column_sums[part]))
                    builder.store(total, column_sums[part])

        def add(rest: Any, product: Any) -> None:
            longer = builder.fpext(product, _DOUBLE)
            builder.store(builder.fadd(builder.load(rest), longer), rest)

        with _range(builder, blocks, fours, 4) as (start, _):
            value = _load(builder, row, start, _FOUR)
            for column, rest in zip(columns, rests, strict=True):
                product = builder.fmul(value, _load(builder, column, start, _FOUR))
                for lane in range(4):
                    add(rest, builder.extract_element(product, ir.Constant(_INT, lane)))
        with _range(builder, fours, size, 1) as (start, _):
            value = _load(builder, row, start, _FLOAT)
            for column, rest in zip(columns, rests, strict=True):
                add(rest, builder.fmul(value, _load(builder, column, start, _FLOAT)))
        products = [
            _misread(builder, builder.fadd(builder.load(rest), _of_lanes(builder, lane_sums)))
            for lane_sums, rest in zip(sums, rests, strict=True)
        ]
        return context.make_tuple(builder, signature.return_type, products)

    del at, one, other, size
    places = types.int64
    pair = UniTuple(types.float32, 2)
    return pair(inputs, places, outputs, places, places, places), generate


def _of_lanes(builder: Any, sums: Any) -> Any:
    """The sum of the lanes of four vectors, in double precision."""
    halves = []
    for register in sums:
        value = builder.load(register)
        low = builder.shuffle_vector(value, value, _lanes(0, 1, 2, 3))
        high = builder.shuffle_vector(value, value, _lanes(4, 5, 6, 7))
        halves.append(builder.fadd(low, high))
    pairs = [builder.fadd(halves[0], halves[1]), builder.fadd(halves[2], halves[3])]
    total = builder.fadd(*pairs)
    lanes = [builder.extract_element(total, ir.Constant(_INT, lane)) for lane in range(4)]
    pairs = [builder.fadd(lanes[0], lanes[1]), builder.fadd(lanes[2], lanes[3])]
    return builder.fpext(builder.fadd(*pairs), _DOUBLE)


def _misread(builder: Any, exact: Any) -> Any:
    """A sum as gensim reads it."""
    upper = builder.and_(builder.bitcast(exact, _LONG), _long(_UPPER_HALF))
    lower = builder.zext(builder.bitcast(builder.fptrunc(exact, _FLOAT), _INT), _LONG)
    return builder.fptrunc(builder.bitcast(builder.or_(upper, lower), _DOUBLE), _FLOAT)


@intrinsic
def _update(
    _: Any, inputs: Any, at: Any, outputs: Any, starts: Any, gradients: Any, count: Any, size: Any
) -> Any:
    """Add to rows of outputs their gradient times a row of inputs, and the reverse to that row."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        all_inputs, all_outputs, rows, factors = (
            _data(context, builder, signature.args[place], args[place]) for place in (0, 2, 3, 4)
        )
        row = builder.gep(all_inputs, [args[1]])
        count, size = args[5:]
        blocks, fours = _parts(builder, size)
        for start, stop, kind, registers, step in (
            (_long(0), blocks, _EIGHT, 4, _fused),
            (blocks, fours, _FOUR, 1, _rounded),
            (fours, size, _FLOAT, 1, _rounded),
        ):
            width = 1 if kind == _FLOAT else kind.count
            sums = [cgutils.alloca_once(builder, kind) for _ in range(registers)]
            with _range(builder, start, stop, width * registers) as (first, _):
                places = [builder.add(first, _long(width * part)) for part in range(registers)]
                values = [_load(builder, row, place, kind) for place in places]
                for register in sums:
                    builder.store(_zero(kind), register)
                with _range(builder, _long(0), count, 1) as (number, _):
                    output = builder.gep(all_outputs, [builder.load(builder.gep(rows, [number]))])
                    gradient = builder.load(builder.gep(factors, [number]))
                    factor = _spread(builder, gradient, kind)
                    for place, value, register in zip(places, values, sums, strict=True):
                        old = _load(builder, output, place, kind)
                        builder.store(step(builder, factor, old, builder.load(register)), register)
                        _store(builder, step(builder, factor, value, old), output, place)
                for place, value, register in zip(places, values, sums, strict=True):
                    _store(builder, builder.fadd(value, builder.load(register)), row, place)
        return context.get_dummy_value()

    del at, count, size
    places = types.int64
    of_type = types.void(inputs, places, outputs, starts, gradients, places, places)
    return of_type, generate


@compiled
def keep(words: Any, rates: Any, state: Any, sample: Any, ends: Any) -> Any:
    """Draw the words that are trained: their number, and that of sentences.

    Fills `sample` with words, and `ends` with the place after each sentence. `rates` is empty where
    all words are kept. `state` is that of Java's generator of random numbers.
    """
    state = np.uint64(state)
    count = 0
    sentences = 0
    for word in words:
        if word == END:
            ends[sentences] = count
            sentences += 1
        elif word >= 0:
            if len(rates):
                draw = state >> np.uint64(16)
                state = state * np.uint64(25214903917) + np.uint64(11)
                state &= np.uint64(2**48 - 1)
                if np.uint64(rates[word]) < draw:
                    continue
            sample[count] = word
            count += 1
    return count, sentences


@compiled
def train(
    words: Any, ends: Any, shrinkage: Any, window: Any, rate: Any, begins: Any, points: Any,
    codes: Any, inputs: Any, outputs: Any, size: Any, sigmoid: Any,
) -> None:  # fmt: skip
    """Train on the words of a batch; releases the GIL.

    `points` are nodes of the tree, `codes` what is wanted there (1 or 0), from `begins[word]` to
    `begins[word + 1]`. `inputs` and `outputs` are matrices of rows of `size`, as one row.
    """
    gradients = np.empty(_DEEPEST, dtype=np.float32)
    rows = np.empty(_DEEPEST, dtype=np.int64)
    start = 0
    for end in ends:
        for place in range(start, end):
            first, last = begins[words[place]], begins[words[place] + 1]
            reach = window - shrinkage[place]
            for near in range(max(start, place - reach), min(end, place + reach + 1)):
                if near == place:
                    continue
                row = np.int64(words[near]) * size
                count = 0
                for node in range(first, last, 2):
                    other = min(node + 1, last - 1)
                    pair = np.int64(points[node]) * size, np.int64(points[other]) * size
                    products = _dots(inputs, row, outputs, pair[0], pair[1], size)
                    for second in range(1 + other - node):
                        product = products[second]
                        if product <= -6.0 or product >= 6.0:
                            continue
                        cell = np.uint64((np.float64(product) + 6.0) * 83.0)
                        gradients[count] = np.float32((codes[node + second] - sigmoid[cell]) * rate)
                        rows[count] = pair[second]
                        count += 1
                _update(inputs, row, outputs, rows, gradients, count, size)
        start = end
