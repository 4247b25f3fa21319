"""Where the kernel's arrays are: one table of addresses and sizes instead of thirty arguments.

Numba takes an array apart at every call, which for thirty of them costs more than matching a small document. So the
caller keeps a table (row `A_…` of `layout`: address, number of rows) and hands over only that.

Invariant: the caller that fills a row of the table holds the array for as long as the table is used.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.numpy_support import carray

from triplewire.matching.kernel.compiled import Array, inlined


def _as_pointer(typing_context: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(types.int64), generate


_pointer: Any = intrinsic(_as_pointer)


@inlined
def bytes_at(table: Array, row: int) -> Array:
    return carray(_pointer(table[row, 0]), (table[row, 1],), np.uint8)


@inlined
def words_at(table: Array, row: int) -> Array:
    return carray(_pointer(table[row, 0]), (table[row, 1],), np.uint64)


@inlined
def shorts_at(table: Array, row: int) -> Array:
    return carray(_pointer(table[row, 0]), (table[row, 1],), np.int16)


@inlined
def integers_at(table: Array, row: int) -> Array:
    return carray(_pointer(table[row, 0]), (table[row, 1],), np.int32)


@inlined
def longs_at(table: Array, row: int) -> Array:
    return carray(_pointer(table[row, 0]), (table[row, 1],), np.int64)


@inlined
def floats_at(table: Array, row: int) -> Array:
    return carray(_pointer(table[row, 0]), (table[row, 1],), np.float64)


@inlined
def rows_at(table: Array, row: int, columns: int) -> Array:
    return carray(_pointer(table[row, 0]), (table[row, 1], columns), np.int32)


@inlined
def pairs_at(table: Array, row: int) -> Array:
    return carray(_pointer(table[row, 0]), (table[row, 1], 2), np.int64)
