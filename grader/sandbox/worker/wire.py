"""The protocol: plain data in a fixed frame, which can be read without running anything.

Reading a reply can neither run code nor take much more memory than was allowed.

A frame is a 16-byte header (magic, bytes of structure, bytes of payload), the structure, and the
payload.  The structure is JSON, in which an object with the empty key alone stands for what JSON
has no word for: `{"": ["array", "float64", [2, 3]]}`, say.  Array contents lie in the payload in
the order in which the structure names them.  There is no pickle, no npy header, and no class
lookup.  Both sides use this file; the judge trusts none of what it decodes.
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
MAX_JOINED_PAYLOAD = (
    1 << 18
)  # bytes of payload up to which one copy is cheaper than many system calls

DTYPES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
    "float16", "float32", "float64", "complex64", "complex128", "bfloat16",
)  # fmt: skip

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
    """A value as JSON has it, which can be part of any number of frames."""

    def __init__(self, value: object, depth: int = 0) -> None:
        self.count = 0
        self.payload: list[Array] = []
        self.tree = self._tree(value, depth)

    def _tree(self, value: object, depth: int) -> object:
        self.count += 1
        if depth > MAX_FRAME_DEPTH:
            raise WireError(f"nested deeper than {MAX_FRAME_DEPTH}")
        if self.count > MAX_FRAME_ITEMS:
            raise WireError(f"more than {MAX_FRAME_ITEMS:,} values")
        match value:
            case None | bool():
                return value
            case np.generic():  # before the classes of Python's that some of them derive from
                return self._array("scalar", value.dtype.name, np.asarray(value))
            case str():
                return _text(value)
            case int():
                fits = value.bit_length() <= MAX_INTEGER_BITS
                return value if fits else _special("opaque", "int of more than 300 digits")
            case float():
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
                items = [(_text(str(k)), self._tree(v, depth + 1)) for k, v in value.items()]
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
            of = f"numpy.ndarray of {dtype}" if word == "array" else f"numpy.{dtype}"
            return _special("opaque", of)
        if array.ndim > MAX_DIMS:
            raise WireError(f"an array of {array.ndim} dimensions, at most {MAX_DIMS} allowed")
        if dtype == "bfloat16" and array.dtype != np.uint16:
            array = bfloat16_bits(array)
        plain = np.ascontiguousarray(array.view(np.ndarray))
        self.payload.append(plain.astype(plain.dtype.newbyteorder("<"), copy=False))
        return _special(word, dtype, array.shape)


def message_fields(message: Any) -> dict[str, object]:  # noqa: ANN401 a named tuple
    """The fields of a message by name, but not those that are as they are by default."""
    usual = message._field_defaults
    named = zip(message._fields, message, strict=True)
    return {name: value for name, value in named if value is not usual.get(name, usual)}


def _special(word: str, *about: object) -> dict[str, object]:
    return {"": (word, *about)}


def _text(text: str) -> str:
    if text.isascii() and len(text) <= MAX_TEXT_BYTES:
        return text
    return text.encode("utf-8", "backslashreplace")[:MAX_TEXT_BYTES].decode("utf-8", "ignore")


def bfloat16_bits(values: Array) -> Array:
    """The upper halves of float32 values that are exactly representable in bfloat16."""
    return (np.ascontiguousarray(values, np.float32).view(np.uint32) >> 16).astype(np.uint16)


def widen_bfloat16(bits: Array) -> Array:
    """The float32 values of bfloat16 bit patterns."""
    return (bits.astype(np.uint32) << 16).view(np.float32)


_json = json.JSONEncoder(check_circular=False, ensure_ascii=False, separators=(",", ":")).encode


def encode(value: object) -> list[bytes | memoryview]:
    """Return the pieces of one frame, to be sent in order.

    Raises:
        WireError: the value is too much for one.
    """
    encoded = EncodedValue(value)
    meta, payload = _json(encoded.tree).encode(), encoded.payload
    if len(meta) > MAX_META_BYTES:
        raise WireError(f"{len(meta):,} bytes of structure, at most {MAX_META_BYTES:,} allowed")
    size = sum(a.nbytes for a in payload)
    contents: list[bytes | memoryview] = [
        a.reshape(-1).view(np.uint8).data for a in payload if a.nbytes
    ]
    contents[:0] = [HEADER.pack(MAGIC, len(meta), size), meta]
    return contents if size > MAX_JOINED_PAYLOAD else [b"".join(contents)]


def type_name(value: object) -> str:
    """The name of a value's type as a person would say it: `generator`, `torch.Tensor`."""
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
    """Read one frame's value.

    Raises:
        WireError: whatever is wrong with the bytes; nothing else is raised for any input.
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


def _checked(text: object) -> str:
    """A text that can be printed and written: JSON can spell halves of characters."""
    if not isinstance(text, str):
        raise WireError("a key that is no text")
    if not text.isascii():
        try:
            text.encode()
        except UnicodeEncodeError:
            raise WireError("a text with half a character") from None
    return text


class _FrameReader:
    """Takes parsed JSON, which may be anything, for a value."""

    def __init__(self, payload: memoryview) -> None:
        self.payload = payload
        self.taken = self.items = 0

    def value(self, found: object, depth: int) -> object:
        self.items += 1
        if depth > MAX_FRAME_DEPTH or self.items > MAX_FRAME_ITEMS:
            raise WireError("nested too deep, or too many values")
        if isinstance(found, str):
            return _checked(found)
        if isinstance(found, list):
            return [self.value(item, depth + 1) for item in found]
        if isinstance(found, dict):
            if "" in found:
                return self.special(found, depth)
            return {_checked(key): self.value(item, depth + 1) for key, item in found.items()}
        return found

    def special(self, found: dict[str, object], depth: int) -> object:
        match found[""] if len(found) == 1 else None:
            case ["opaque", str(name)]:
                return Opaque(_checked(name))
            case ["tuple", list(items)]:
                return tuple([self.value(item, depth + 1) for item in items])
            case ["dict", list(items)] if all(type(i) is list and len(i) == 2 for i in items):
                return {_checked(key): self.value(item, depth + 1) for key, item in items}
            case ["array" | "scalar" | "tensor" as word, str(dtype), list(shape)]:
                array = self.array(dtype, shape)
                if word == "tensor":
                    return Tensor(array, dtype)
                return array[()] if word == "scalar" else array
        raise WireError("an unknown special value")

    def array(self, dtype: str, shape: list[object]) -> Array:
        # An empty array may still claim absurd dimensions, which numpy refuses with an error of
        # its own.
        sizes = [n for n in shape if type(n) is int and 0 <= n <= 1 << 48]
        if dtype not in DTYPES or len(shape) > MAX_DIMS or len(sizes) < len(shape):
            raise WireError(f"an array of {len(shape)} dimensions that cannot be")
        kind = np.dtype("uint16" if dtype == "bfloat16" else dtype)
        size = math.prod(sizes) * kind.itemsize
        if self.taken + size > len(self.payload):
            raise WireError("an array larger than the frame")
        piece = self.payload[self.taken : self.taken + size]
        self.taken += size
        try:
            array = np.frombuffer(piece, kind).reshape(sizes).copy()
        except ValueError as error:
            raise WireError(f"an array of impossible shape {sizes}") from error
        return widen_bfloat16(array) if dtype == "bfloat16" else array
