"""Low-level memory access: arrays at an address, and operations on long rows of bits and of counts.

Rows are passed as addresses, with lengths in steps of 32 bytes, the size of a vector register. The code is written in
LLVM IR because these loops are nearly the whole cost of counting by bitmaps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.np import arrayobj

from apsl_backends.kernels.compiled import machine_code

_cgutils: Any = cgutils
_arrayobj: Any = arrayobj

STEP = 4
"""The 64-bit numbers in one step; the length of every row is a multiple of it."""

_BYTES = 8 * STEP
_LONG = ir.IntType(64)
_BITS = ir.VectorType(ir.IntType(8), _BYTES)
_WIDE = ir.VectorType(ir.IntType(16), _BYTES)
_COUNTS = ir.VectorType(_LONG, STEP)
_STEPS_PER_SUM = 31  # a byte holds the ones of 31 bytes, at most 248


@machine_code
def address(_context: Any, array: Any) -> Any:
    """Return the address of an array's first element."""

    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(signature.args[0])(context, builder, values[0]).data
        return builder.ptrtoint(data, _LONG)

    return types.int64(array), emit


@machine_code
def row_at(_context: Any, dtype: Any, _place: Any, _length: Any) -> Any:
    """Return the numbers of a type at an address as an array; the caller keeps them alive."""
    return _array_at(types.Array(dtype.dtype, 1, "C"), dtype)


@machine_code
def matrix_at(_context: Any, dtype: Any, _place: Any, _rows: Any, _columns: Any) -> Any:
    """Return the numbers of a type at an address as a two-dimensional array."""
    return _array_at(types.Array(dtype.dtype, 2, "C"), dtype)


@machine_code
def and_rows(_context: Any, _target: Any, _one: Any, _other: Any, _steps: Any) -> Any:
    """Write the AND of two rows of bits to a third."""
    return _row_by_row(_BITS, lambda builder, one, other: builder.and_(one, other))


@machine_code
def subtract_rows(_context: Any, _target: Any, _one: Any, _other: Any, _steps: Any) -> Any:
    """Write the difference of two rows of counts to a third."""
    return _row_by_row(_COUNTS, lambda builder, one, other: builder.sub(one, other))


@machine_code
def common_ones(_context: Any, _one: Any, _other: Any, _steps: Any) -> Any:
    """Count the ones that two rows of bits have in common."""

    def emit(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        one, other = (builder.inttoptr(value, _BITS.as_pointer()) for value in values[:2])
        ones_of = _declare(builder, "llvm.ctpop.v32i8", _BITS, _BITS)
        sum_of = _declare(builder, "llvm.vector.reduce.add.v32i16", ir.IntType(16), _WIDE)
        total = _cgutils.alloca_once_value(builder, _long(0))
        bytes_so_far = _cgutils.alloca_once(builder, _BITS)
        with _cgutils.for_range_slice(builder, _long(0), values[2], _long(_STEPS_PER_SUM), _LONG) as (start, _):
            left = builder.sub(values[2], start)
            few = builder.icmp_signed("<", left, _long(_STEPS_PER_SUM))
            builder.store(ir.Constant(_BITS, [0] * _BYTES), bytes_so_far)
            with _cgutils.for_range(builder, builder.select(few, left, _long(_STEPS_PER_SUM))) as loop:
                at = builder.add(start, loop.index)
                ones = builder.call(ones_of, [builder.and_(_load(builder, one, at), _load(builder, other, at))])
                builder.store(builder.add(builder.load(bytes_so_far), ones), bytes_so_far)
            part = builder.call(sum_of, [builder.zext(builder.load(bytes_so_far), _WIDE)])
            builder.store(builder.add(builder.load(total), builder.zext(part, _LONG)), total)
        return builder.load(total)

    return types.int64(types.int64, types.int64, types.int64), emit


def _row_by_row(vector: Any, combine: Callable[[Any, Any, Any], Any]) -> Any:
    def emit(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        target, one, other = (builder.inttoptr(value, vector.as_pointer()) for value in values[:3])
        with _cgutils.for_range(builder, values[3]) as loop:
            combined = combine(builder, _load(builder, one, loop.index), _load(builder, other, loop.index))
            builder.store(combined, builder.gep(target, [loop.index]), align=8)

    return types.void(types.int64, types.int64, types.int64, types.int64), emit


def _array_at(array_type: Any, dtype: Any) -> Any:
    def emit(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(signature.return_type)(context, builder)
        item = context.get_data_type(array_type.dtype)
        size = _long(context.get_abi_sizeof(item))
        strides = [size] if array_type.ndim == 1 else [builder.mul(values[3], size), size]
        data = builder.inttoptr(values[1], item.as_pointer())
        _arrayobj.populate_array(array, data=data, shape=values[2:], strides=strides, itemsize=size, meminfo=None)
        return array._getvalue()  # noqa: SLF001 - how numba itself returns a struct

    return array_type(dtype, *[types.int64] * (1 + array_type.ndim)), emit


def _long(value: int) -> Any:
    return ir.Constant(_LONG, value)


def _load(builder: Any, row: Any, at: Any) -> Any:
    return builder.load(builder.gep(row, [at]), align=8)


def _declare(builder: Any, name: str, result: Any, argument: Any) -> Any:
    return _cgutils.get_or_insert_function(builder.module, ir.FunctionType(result, [argument]), name)
