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

from .typed import Message, fields

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

    def __init__(self, value: object, depth: int) -> None:
        """Encode a value that will lie at a depth of the frame; its arrays must not change."""
        self.meta: list[bytes] = []
        self.payload: list[Array] = []
        _encode(value, self.meta, self.payload, depth)


def numpy_dtype(name: str) -> np.dtype[Any]:
    """The dtype in which values of the named dtype travel."""
    return np.dtype("uint16" if name == "bfloat16" else name)


def bfloat16_bits(values: Array) -> Array:
    """The upper halves of float32 values that are exactly representable in bfloat16."""
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def widen_bfloat16(bits: Array) -> Array:
    """The float32 values of bfloat16 bit patterns."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


def encode(value: object) -> list[bytes | memoryview]:
    """Return the pieces of one frame, to be sent in order."""
    meta: list[bytes] = []
    payload: list[Array] = []
    _encode(value, meta, payload, 0)
    head = b"".join(meta)
    if len(head) > MAX_META:
        raise WireError(f"{len(head):,} bytes of structure, at most {MAX_META:,} allowed")
    size = sum(a.nbytes for a in payload)
    pieces: list[bytes | memoryview] = [
        HEADER.pack(MAGIC, len(head), size),
        head,
        *(_flat(a) for a in payload if a.nbytes),
    ]
    return pieces if size > JOINED else [b"".join(pieces)]


def _flat(array: Array) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _encode(value: object, meta: list[bytes], payload: list[Array], depth: int) -> None:
    if depth > MAX_DEPTH:
        raise WireError(f"nested deeper than {MAX_DEPTH}")
    if len(meta) >= MAX_ITEMS:  # a value is one piece at least: never more than decode takes
        raise WireError(f"more than {MAX_ITEMS:,} values")
    match value:
        case None:
            meta.append(bytes([NONE]))
        case bool():
            meta.append(struct.pack("<BB", BOOL, value))
        case np.generic():
            if value.dtype.name in _CODE:
                payload.append(np.frombuffer(value.tobytes(), value.dtype))
                meta.append(struct.pack("<BB", SCALAR, _CODE[value.dtype.name]))
            else:
                _encode(Opaque(f"numpy.{value.dtype.name}"), meta, payload, depth)
        case int():
            number = int(value)
            if -(1 << 63) <= number < 1 << 63:
                meta.append(struct.pack("<Bq", INT, number))
            else:
                digits = number.to_bytes(number.bit_length() // 8 + 1, "little", signed=True)
                if len(digits) > MAX_INT:
                    _encode(Opaque("int of more than 300 digits"), meta, payload, depth)
                    return
                meta.append(struct.pack("<BI", BIGINT, len(digits)) + digits)
        case float():
            meta.append(struct.pack("<Bd", FLOAT, value))
        case str():
            meta.append(bytes([TEXT]) + _text(value))
        case Message():
            _encode(fields(value), meta, payload, depth)
        case Encoded():
            meta += value.meta
            payload += value.payload
        case Opaque():
            meta.append(bytes([OPAQUE]) + _text(value.type))
        case Tensor():
            values = value.values
            if value.dtype == "bfloat16" and values.dtype != np.uint16:
                values = bfloat16_bits(values)
            _encode_array(TENSOR, _CODE[value.dtype], values, meta, payload)
        case np.ndarray():
            if value.dtype.name in _CODE:
                _encode_array(ARRAY, _CODE[value.dtype.name], value, meta, payload)
            else:
                _encode(Opaque(f"numpy.ndarray of {value.dtype.name}"), meta, payload, depth)
        case list() | tuple():
            meta.append(struct.pack("<BI", LIST if isinstance(value, list) else TUPLE, len(value)))
            for item in value:
                _encode(item, meta, payload, depth + 1)
        case dict():
            meta.append(struct.pack("<BI", DICT, len(value)))
            for key, item in value.items():
                meta.append(_text(str(key)))
                _encode(item, meta, payload, depth + 1)
        case _:
            _encode(Opaque(type_name(value)), meta, payload, depth)


def _encode_array(
    tag: int, code: int, array: Array, meta: list[bytes], payload: list[Array]
) -> None:
    plain = np.ascontiguousarray(array.view(np.ndarray))
    plain = plain.astype(plain.dtype.newbyteorder("<"), copy=False)
    if array.ndim > MAX_DIMS:
        raise WireError(f"an array of {array.ndim} dimensions, at most {MAX_DIMS} allowed")
    meta.append(struct.pack(f"<BBB{array.ndim}Q", tag, code, array.ndim, *array.shape))
    payload.append(plain)


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

    def take(self, form: str) -> tuple[Any, ...]:
        packed = struct.Struct("<" + form)
        if self.at + packed.size > len(self.meta):
            raise WireError("the structure ends in the middle of a value")
        values = packed.unpack_from(self.meta, self.at)
        self.at += packed.size
        return values

    def data(self, limit: int) -> bytes:
        (size,) = self.take("I")
        if size > limit or self.at + size > len(self.meta):
            raise WireError("a text longer than the frame")
        piece = self.meta[self.at : self.at + size]
        self.at += size
        return piece

    def value(self, depth: int) -> object:
        self.items += 1
        if depth > MAX_DEPTH or self.items > MAX_ITEMS:
            raise WireError("nested too deep, or too many values")
        (tag,) = self.take("B")
        match tag:
            case 0:
                return None
            case 1:
                return bool(self.take("B")[0])
            case 2:
                return int(self.take("q")[0])
            case 3:
                return float(self.take("d")[0])
            case 4:
                return self.data(MAX_TEXT).decode("utf-8", "replace")
            case 5:
                return self.array()[0]
            case 6 | 7:
                items = [self.value(depth + 1) for _ in range(self.count())]
                return items if tag == LIST else tuple(items)
            case 8:
                pairs = [
                    (self.data(MAX_TEXT).decode("utf-8", "replace"), self.value(depth + 1))
                    for _ in range(self.count())
                ]
                return dict(pairs)
            case 9:
                name = self.dtype()
                return self.payload_array(name, ())[()]
            case 10:
                array, name = self.array()
                return Tensor(widen_bfloat16(array) if name == "bfloat16" else array, name)
            case 11:
                return Opaque(self.data(MAX_TEXT).decode("utf-8", "replace"))
            case 12:
                return int.from_bytes(self.data(MAX_INT), "little", signed=True)
            case _:
                raise WireError(f"an unknown tag, {tag}")

    def count(self) -> int:
        (count,) = self.take("I")
        if count > MAX_ITEMS:
            raise WireError("too many values")
        return int(count)

    def dtype(self) -> str:
        (code,) = self.take("B")
        if code >= len(DTYPES):
            raise WireError(f"an unknown dtype, {code}")
        return DTYPES[code]

    def array(self) -> tuple[Array, str]:
        name = self.dtype()
        (ndim,) = self.take("B")
        if ndim > MAX_DIMS:
            raise WireError(f"an array of {ndim} dimensions")
        return self.payload_array(name, self.take(f"{ndim}Q")), name

    def payload_array(self, name: str, shape: tuple[int, ...]) -> Array:
        dtype = numpy_dtype(name)
        size = math.prod(shape) * dtype.itemsize
        # An empty array may still claim absurd dimensions, which numpy refuses with an error of
        # its own.
        if self.taken + size > len(self.payload) or any(n > 1 << 48 for n in shape):
            raise WireError("an array larger than the frame")
        piece = self.payload[self.taken : self.taken + size]
        self.taken += size
        try:
            return np.frombuffer(piece, dtype).reshape(shape).copy()
        except ValueError as error:
            raise WireError(f"an array of impossible shape {shape}") from error
