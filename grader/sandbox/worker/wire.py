"""The protocol: plain data in a fixed frame, which can be read without running anything.

Reading a reply can neither run code nor take more memory than was allowed.

A frame is a 16-byte header (magic, bytes of metadata, bytes of payload), the metadata, and the
payload.  The metadata is a tree of tagged values; array contents lie in the payload in the order in
which the tree names them.  There is no pickle, no npy header, and no class lookup.  Both sides use
this file; the judge trusts none of what it decodes.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

MAGIC = b"drl1"
HEADER = struct.Struct("<4sIQ")
MAX_META = 1 << 20  # bytes of metadata in one frame
MAX_DEPTH = 16
MAX_ITEMS = 20_000  # values in one frame
JOINED = 1 << 18  # bytes of payload up to which one copy is cheaper than many system calls
MAX_DIMS = 8
MAX_TEXT = 1 << 16  # bytes of one text
MAX_INT = 127  # bytes of one integer: every one of them is also a finite float

NONE, BOOL, INT, FLOAT, TEXT, ARRAY, LIST, TUPLE, DICT, SCALAR, TENSOR, OPAQUE, BIGINT = range(13)

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "bfloat16",
)  # fmt: skip
_CODE = {name: code for code, name in enumerate(DTYPES)}
_FORMS = {BOOL: "?", INT: "q", FLOAT: "d"}  # of numbers, by tag

Array = np.ndarray[Any, np.dtype[Any]]


class WireError(Exception):
    """The bytes are not a frame of this protocol, or ask for more than is allowed."""


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A torch tensor as data.  bfloat16 is widened exactly to float32; `dtype` says what it was."""

    values: Array
    dtype: str


@dataclass(frozen=True, slots=True)
class Opaque:
    """Something that is not plain data: only the name of its type leaves the worker."""

    type: str


class Encoded:
    """A value in its encoded form, which can be part of any number of frames."""

    def __init__(self, value: object, depth: int = 0) -> None:
        """Encode a value that will lie at a depth of the frame; its arrays must not change."""
        self.meta: list[bytes] = []
        self.payload: list[Array] = []
        self._add(value, depth)

    def _put(self, form: str, *values: object, data: bytes = b"") -> None:
        self.meta.append(struct.pack("<" + form, *values) + data)

    def _add(self, value: object, depth: int) -> None:
        if depth > MAX_DEPTH:
            raise WireError(f"nested deeper than {MAX_DEPTH}")
        if len(self.meta) >= MAX_ITEMS:  # one piece each at least: never more than can be read
            raise WireError(f"more than {MAX_ITEMS:,} values")
        match value:
            case None:
                self._put("B", NONE)
            case bool():
                self._put("BB", BOOL, value)
            case np.ndarray() if value.dtype.name in _CODE:
                self._array(ARRAY, value.dtype.name, value)
            case np.ndarray():
                self._add(Opaque(f"numpy.ndarray of {value.dtype.name}"), depth)
            case np.generic() if value.dtype.name in _CODE:
                self._array(SCALAR, value.dtype.name, np.asarray(value))
            case np.generic():
                self._add(Opaque(f"numpy.{value.dtype.name}"), depth)
            case int() if -(1 << 63) <= value < 1 << 63:
                self._put("Bq", INT, value)
            case int() if value.bit_length() // 8 < MAX_INT:
                size = value.bit_length() // 8 + 1
                self._put("BI", BIGINT, size, data=value.to_bytes(size, "little", signed=True))
            case int():
                self._add(Opaque("int of more than 300 digits"), depth)
            case float():
                self._put("Bd", FLOAT, value)
            case str():
                self._put("B", TEXT, data=_text(value))
            case Encoded():
                self.meta += value.meta
                self.payload += value.payload
            case Opaque():
                self._put("B", OPAQUE, data=_text(value.type))
            case Tensor():
                self._array(TENSOR, value.dtype, value.values)
            case tuple() if hasattr(value, "_asdict"):  # a message
                self._add(value._asdict(), depth)
            case list() | tuple():
                self._put("BI", LIST if isinstance(value, list) else TUPLE, len(value))
                for item in value:
                    self._add(item, depth + 1)
            case dict():
                self._put("BI", DICT, len(value))
                for key, item in value.items():
                    self.meta.append(_text(str(key)))
                    self._add(item, depth + 1)
            case _:
                self._add(Opaque(type_name(value)), depth)

    def _array(self, tag: int, dtype: str, array: Array) -> None:
        if array.ndim > MAX_DIMS:
            raise WireError(f"an array of {array.ndim} dimensions, at most {MAX_DIMS} allowed")
        self._put(f"BBB{array.ndim}Q", tag, _CODE[dtype], array.ndim, *array.shape)
        if dtype == "bfloat16" and array.dtype != np.uint16:
            array = bfloat16_bits(array)
        plain = np.ascontiguousarray(array.view(np.ndarray))
        self.payload.append(plain.astype(plain.dtype.newbyteorder("<"), copy=False))


def bfloat16_bits(values: Array) -> Array:
    """The upper halves of float32 values that are exactly representable in bfloat16."""
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def widen_bfloat16(bits: Array) -> Array:
    """The float32 values of bfloat16 bit patterns."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def encode(value: object) -> list[bytes | memoryview]:
    """Return the pieces of one frame, to be sent in order."""
    encoded = Encoded(value)
    meta, payload = b"".join(encoded.meta), encoded.payload
    if len(meta) > MAX_META:
        raise WireError(f"{len(meta):,} bytes of structure, at most {MAX_META:,} allowed")
    size = sum(a.nbytes for a in payload)
    contents: list[bytes | memoryview] = [
        a.reshape(-1).view(np.uint8).data for a in payload if a.nbytes
    ]
    contents[:0] = [HEADER.pack(MAGIC, len(meta), size), meta]
    return contents if size > JOINED else [b"".join(contents)]


def _text(text: str) -> bytes:
    data = text.encode("utf-8", "backslashreplace")[:MAX_TEXT]
    return struct.pack("<I", len(data)) + data


def type_name(value: object) -> str:
    """The name of a value's type as a person would say it: `generator`, `torch.Tensor`."""
    kind = type(value)
    try:
        module, name = str(kind.__module__), str(kind.__qualname__)
    except BaseException:  # noqa: BLE001 a hostile metaclass may raise anything
        return "object"
    return name if module in {"builtins", "submission"} else f"{module}.{name}"


def decode(meta: bytes, payload: memoryview) -> object:
    """Read one frame's value.

    Raises:
        WireError: whatever is wrong with the bytes; nothing else is raised for any input.
    """
    reader = _Reader(meta, payload)
    value = reader.value(0)
    if reader.at != len(meta) or reader.taken != len(payload):
        raise WireError("bytes left over after the value")
    return value


class _Reader:
    def __init__(self, meta: bytes, payload: memoryview) -> None:
        self.meta = meta
        self.payload = payload
        self.at = 0
        self.taken = 0
        self.items = 0

    def take(self, form: str) -> Any:  # noqa: ANN401 a number of that form
        return self.numbers(form)[0]

    def numbers(self, form: str) -> tuple[Any, ...]:
        packed = struct.Struct("<" + form)
        if self.at + packed.size > len(self.meta):
            raise WireError("the structure ends in the middle of a value")
        self.at += packed.size
        return packed.unpack_from(self.meta, self.at - packed.size)

    def data(self, limit: int) -> bytes:
        size = self.take("I")
        if size > limit or self.at + size > len(self.meta):
            raise WireError("a text longer than the frame")
        self.at += size
        return self.meta[self.at - size : self.at]

    def text(self) -> str:
        return self.data(MAX_TEXT).decode("utf-8", "replace")

    def count(self) -> int:
        count: int = self.take("I")
        if count > MAX_ITEMS:
            raise WireError("too many values")
        return count

    def value(self, depth: int) -> object:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise WireError("nested too deep, or too many values")
        tag = self.take("B")
        if tag == NONE:
            return None
        if tag in _FORMS:
            return self.take(_FORMS[tag])
        if tag == BIGINT:
            return int.from_bytes(self.data(MAX_INT), "little", signed=True)
        if tag in {TEXT, OPAQUE}:
            return self.text() if tag == TEXT else Opaque(self.text())
        if tag in {LIST, TUPLE}:
            items = [self.value(depth + 1) for _ in range(self.count())]
            return items if tag == LIST else tuple(items)
        if tag == DICT:
            return {self.text(): self.value(depth + 1) for _ in range(self.count())}
        if tag in {ARRAY, SCALAR, TENSOR}:
            array, dtype = self.array()
            return Tensor(array, dtype) if tag == TENSOR else array[()] if tag == SCALAR else array
        raise WireError(f"an unknown tag, {tag}")

    def array(self) -> tuple[Array, str]:
        code, ndim = self.numbers("BB")
        if code >= len(DTYPES) or ndim > MAX_DIMS:
            raise WireError(f"an array of dtype {code} and {ndim} dimensions")
        dtype, shape = DTYPES[code], self.numbers(f"{ndim}Q")
        kind = np.dtype("uint16" if dtype == "bfloat16" else dtype)
        size = math.prod(shape) * kind.itemsize
        # An empty array may still claim absurd dimensions, which numpy refuses with an error of
        # its own.
        if self.taken + size > len(self.payload) or any(n > 1 << 48 for n in shape):
            raise WireError("an array larger than the frame")
        piece = self.payload[self.taken : self.taken + size]
        self.taken += size
        try:
            array = np.frombuffer(piece, kind).reshape(shape).copy()
        except ValueError as error:
            raise WireError(f"an array of impossible shape {shape}") from error
        return widen_bfloat16(array) if dtype == "bfloat16" else array, dtype
