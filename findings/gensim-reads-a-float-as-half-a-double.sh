#!/usr/bin/env bash
# gensim 4.4.0 with SciPy 1.15.3 (x86-64): training takes its dot products from SciPy's BLAS, whose
# `sdot` returns a single-precision number. gensim tries at import whether a double or a single comes
# back, and decides for double (FAST_VERSION 0). Seen: the single number is the lower half of the double
# that it reads; the upper half, sign, exponent and 20 bits, is what the processor's register still
# holds of OpenBLAS's sum. So its test passes, and each product is exact to 20 bits, not to 24: the
# double differs from both the single number and the exact sum. Guessed: the test tells the two apart.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT; cd "$folder"
python3 -m venv venv
venv/bin/pip install --quiet gensim==4.4.0 scipy==1.15.3 numpy==2.2.6
venv/bin/python - <<'PYTHON'
import ctypes
import struct

import numpy as np
from gensim.models.word2vec import FAST_VERSION
from scipy.linalg.blas import sdot

assert FAST_VERSION == 0, f"changed: FAST_VERSION is {FAST_VERSION}"
name, pointer = ctypes.pythonapi.PyCapsule_GetName, ctypes.pythonapi.PyCapsule_GetPointer
name.restype, name.argtypes = ctypes.c_char_p, [ctypes.py_object]
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
capsule = sdot._cpointer
numbers = ctypes.POINTER(ctypes.c_float)
size = ctypes.POINTER(ctypes.c_int)
kind = ctypes.CFUNCTYPE(ctypes.c_double, size, numbers, size, numbers, size)  # as gensim declares it
as_double = kind(pointer(capsule, name(capsule)))
one, length = ctypes.c_int(1), ctypes.c_int(100)

random = np.random.default_rng(1)
halves, worst = 0, 0.0
for _ in range(1000):
    left, right = (random.normal(size=100).astype(np.float32) for _ in range(2))
    read = as_double(length, left.ctypes.data_as(numbers), one, right.ctypes.data_as(numbers), one)
    single = float(sdot(left, right))
    (lower,) = struct.unpack("<f", struct.pack("<d", read)[:4])
    halves += lower == single
    worst = max(worst, abs(read - single) / abs(single))
assert halves == 1000, f"changed: the lower half is the result in {halves} of 1000"
assert 2**-23 < worst < 2**-19, f"changed: read differs from the result by {worst:.1e}"
print(f"as described: FAST_VERSION 0, lower half in {halves} of 1000, off by up to {worst:.1e}")
PYTHON
