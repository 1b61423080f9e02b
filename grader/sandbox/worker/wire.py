"""The wire format: plain data in a fixed frame.

Reading a frame cannot run code, and takes little more memory than its limits allow.

A frame is a 16-byte header (magic, bytes of structure, bytes of payload), the structure, and the
payload.  The structure is JSON.  An object whose only key is empty stands for a value that JSON
does not have, such as `{"": ["array", "float64", [2, 3]]}`.  The contents of arrays are in the
payload, in the order of the structure.  Nothing is pickled, and no class is looked up.
Both sides use this file; the judge does not trust decoded data.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from typing import Any

import numpy as np

from .limits import (
    MAX_DIMS,
    MAX_FRAME_DEPTH,
    MAX_FRAME_ITEMS,
    MAX_INTEGER_BITS,
    MAX_INTEGER_DIGITS,
    MAX_META_BYTES,
    MAX_TEXT_BYTES,
)

MAGIC = b"drl1"
HEADER = struct.Struct("<4sIQ")

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "bfloat16",
)  # fmt: skip

Array = np.ndarray[Any, np.dtype[Any]]


class WireError(Exception):
    """The bytes are not a frame of this protocol, or exceed a limit."""


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """A torch tensor as data."""

    values: Array  # of bfloat16: float32, which holds it exactly
    dtype: str  # of the tensor


@dataclass(frozen=True, slots=True)
class Opaque:
    """A value that is not plain data: only the name of its type leaves the worker."""

    type: str


def without_tensors(value: Any) -> Any:  # noqa: ANN401 any snapshot
    """Return a snapshot with arrays in place of tensors."""
    if isinstance(value, Tensor):
        return value.values
    if isinstance(value, (list, tuple)):
        return type(value)(map(without_tensors, value))
    if isinstance(value, dict):
        return {key: without_tensors(item) for key, item in value.items()}
    return value


class EncodedValue:
    """A value, encoded once to be part of several frames: its JSON and the arrays of its payload.

    `depth` is the number of values around it in a frame, at most.
    """

    def __init__(self, value: object, depth: int = 0) -> None:
        self.count = 0  # values in the tree
        self.payload: list[Array] = []
        self.tree = self._tree(value, depth)

    def _tree(self, value: object, depth: int) -> object:
        self.count += 1
        if depth > MAX_FRAME_DEPTH:
            raise WireError(f"nested deeper than {MAX_FRAME_DEPTH}")
        if self.count > MAX_FRAME_ITEMS:
            raise WireError(f"more than {MAX_FRAME_ITEMS:,} values")
        match value:
            case np.generic():  # first, because np.float64 is also a float
                return self._array("scalar", value.dtype.name, np.asarray(value))
            case None | bool() | float():
                return value
            case str():
                return _text(value)
            case int():
                if value.bit_length() > MAX_INTEGER_BITS:
                    return _special("opaque", "int of more than 300 digits")
                return value
            case EncodedValue():
                self.count += value.count
                self.payload += value.payload
                return value.tree
            case tuple() if hasattr(value, "_fields"):
                return self._tree(message_fields(value), depth)
            case list():
                return [self._tree(item, depth + 1) for item in value]
            case tuple():
                return _special("tuple", [self._tree(item, depth + 1) for item in value])
            case dict():
                items = [
                    (_text(str(key)), self._tree(item, depth + 1)) for key, item in value.items()
                ]
                return _special("dict", items) if "" in value else dict(items)
            case np.ndarray():
                return self._array("array", value.dtype.name, value)
            case Tensor():
                return self._array("tensor", value.dtype, value.values)
            case Opaque():
                return _special("opaque", _text(value.type))
        return _special("opaque", _text(type_name(value)))

    def _array(self, word: str, dtype: str, array: Array) -> object:
        if dtype not in DTYPES:
            name = f"numpy.ndarray of {dtype}" if word == "array" else f"numpy.{dtype}"
            return _special("opaque", name)
        if array.ndim > MAX_DIMS:
            raise WireError(f"an array of {array.ndim} dimensions, at most {MAX_DIMS} allowed")
        if dtype == "bfloat16" and array.dtype != np.uint16:
            array = bfloat16_bits(array)
        plain = np.ascontiguousarray(array.view(np.ndarray))
        self.payload.append(plain.astype(plain.dtype.newbyteorder("<"), copy=False))
        return _special(word, dtype, array.shape)


def message_fields(message: Any) -> dict[str, object]:  # noqa: ANN401 a named tuple
    """Return the fields of a message by name, without those that have their default value."""
    fields = {}
    defaults = message._field_defaults
    for name, value in zip(message._fields, message, strict=True):
        if name not in defaults or value is not defaults[name]:
            fields[name] = value
    return fields


def _special(word: str, *details: object) -> dict[str, object]:
    return {"": (word, *details)}


def _text(text: str) -> str:
    if text.isascii() and len(text) <= MAX_TEXT_BYTES:
        return text
    return text.encode("utf-8", "backslashreplace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore")


def bfloat16_bits(values: Array) -> Array:
    """Return the bit patterns of float32 values that bfloat16 represents exactly."""
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def widen_bfloat16(bits: Array) -> Array:
    """Return the float32 values of bfloat16 bit patterns."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


_json = json.JSONEncoder(check_circular=False, ensure_ascii=False, separators=(",", ":")).encode


def encode(value: object) -> bytes:
    """Return the frame of a value.

    Raises:
        WireError: the value is too large for a frame.
    """
    encoded = EncodedValue(value)
    meta = _json(encoded.tree).encode()
    if len(meta) > MAX_META_BYTES:
        raise WireError(f"{len(meta):,} bytes of structure, at most {MAX_META_BYTES:,} allowed")
    size = sum(array.nbytes for array in encoded.payload)
    content = [array.data for array in encoded.payload]
    return b"".join([HEADER.pack(MAGIC, len(meta), size), meta, *content])


def type_name(value: object) -> str:
    """Return the readable name of a value's type: `generator`, `torch.Tensor`."""
    kind = type(value)
    try:
        module, name = str(kind.__module__), str(kind.__qualname__)
    except BaseException:  # noqa: BLE001 a hostile metaclass may raise anything
        return "object"
    return name if module in {"builtins", "submission"} else f"{module}.{name}"


def _integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS + 1:  # and a sign
        raise WireError("an integer too long")
    return int(digits)


_parse = json.JSONDecoder(parse_int=_integer).decode


def decode(meta: bytes, payload: memoryview) -> object:
    """Return the value of a frame, given its structure (`meta`) and its payload.

    Raises:
        WireError: the bytes are wrong in any way; no input raises anything else.
    """
    try:
        parsed = _parse(meta.decode())
    except (ValueError, RecursionError) as error:
        raise WireError(f"no JSON: {error}") from None
    reader = _FrameReader(payload)
    value = reader.value(parsed, 0)
    if reader.taken != len(payload):
        raise WireError("bytes left over after the value")
    return value


def _printable(text: object) -> str:
    """Return a text; raise WireError if it is not a `str` or has half of a surrogate pair."""
    if not isinstance(text, str):
        raise WireError("a key that is no text")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise WireError("a text with half a character") from None
    return text


class _FrameReader:
    """Rebuilds a value from a frame: its parsed JSON and the bytes of its arrays.

    The sender is not trusted: a malformed frame raises WireError.
    """

    def __init__(self, payload: memoryview) -> None:
        self.payload = payload
        self.taken = 0  # bytes of the payload that arrays have used
        self.items = 0

    def value(self, parsed: object, depth: int) -> object:
        self.items += 1
        if depth > MAX_FRAME_DEPTH or self.items > MAX_FRAME_ITEMS:
            raise WireError("nested too deep, or too many values")
        if isinstance(parsed, str):
            return _printable(parsed)
        if isinstance(parsed, list):
            return [self.value(item, depth + 1) for item in parsed]
        if isinstance(parsed, dict):
            if "" in parsed:
                return self.special(parsed, depth)
            return {_printable(key): self.value(item, depth + 1) for key, item in parsed.items()}
        return parsed

    def special(self, parsed: dict[str, object], depth: int) -> object:
        match parsed[""] if len(parsed) == 1 else None:
            case ["opaque", str(name)]:
                return Opaque(_printable(name))
            case ["tuple", list(items)]:
                return tuple([self.value(item, depth + 1) for item in items])
            case ["dict", list(pairs)] if all(type(p) is list and len(p) == 2 for p in pairs):
                return {_printable(key): self.value(item, depth + 1) for key, item in pairs}
            case ["array" | "scalar" | "tensor" as word, str(dtype), list(shape)]:
                array = self.array(dtype, shape)
                if word == "tensor":
                    return Tensor(array, dtype)
                return array[()] if word == "scalar" else array
        raise WireError("an unknown special value")

    def array(self, dtype: str, shape: list[object]) -> Array:
        # An empty array may have absurd dimensions, for which numpy raises a ValueError below.
        sizes = [size for size in shape if type(size) is int and 0 <= size <= 1 << 48]
        if dtype not in DTYPES or len(shape) > MAX_DIMS or len(sizes) < len(shape):
            raise WireError(f"an array of {len(shape)} dimensions that cannot be")
        kind = np.dtype("uint16" if dtype == "bfloat16" else dtype)
        nbytes = math.prod(sizes) * kind.itemsize
        if self.taken + nbytes > len(self.payload):
            raise WireError("an array larger than the frame")
        piece = self.payload[self.taken : self.taken + nbytes]
        self.taken += nbytes
        try:
            array = np.frombuffer(piece, kind).reshape(sizes).copy()
        except ValueError as error:
            raise WireError(f"an array of impossible shape {sizes}") from error
        return widen_bfloat16(array) if dtype == "bfloat16" else array
