"""A YAML file as plain data that remembers where every key and value stands."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from grader.model.errors import BankError

MAX_BYTES = 1 << 20
MAX_NODES = 50_000
MAX_DEPTH = 40
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)

Keys = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed data and, for every path of keys, its place in the file."""

    path: Path
    data: dict[str, Any]
    values: dict[Keys, tuple[int, int]]  # 1-based line and column of the value
    keys: dict[Keys, tuple[int, int]]  # of the key itself, where there is one

    def where(self, at: Keys, *, key: bool = False) -> str:
        """`file:line:column` of a value (or of its key), or of the nearest thing around it."""
        places = (self.keys, self.values) if key else (self.values, self.keys)
        while at:
            for place in places:
                if at in place:
                    line, column = place[at]
                    return f"{self.path}:{line}:{column}"
            at = at[:-1]
        return f"{self.path}:1:1"


def read(path: Path) -> Document:
    """Read a YAML file.

    Raises:
        BankError: it cannot be read, is not YAML, is not a mapping, or repeats a key.
    """
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise BankError(
            f"{path}: expected a file that can be read, found {error.strerror}"
        ) from None
    if len(raw) > MAX_BYTES:
        raise BankError(f"{path}: expected at most {MAX_BYTES:,} bytes, found {len(raw):,}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        raise BankError(
            f"{path}:{line}:1: expected UTF-8 text, found the byte 0x{raw[error.start]:02x}"
        ) from None
    try:
        _limit_depth(path, text)
        root = yaml.compose(text, Loader=_LOADER)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}:{mark.column + 1}" if mark else str(path)
        problem = " ".join(str(p) for p in (error.context, error.problem) if p)
        raise BankError(f"{place}: expected YAML, found a mistake in it: {problem}") from None
    except (yaml.YAMLError, RecursionError) as error:
        raise BankError(f"{path}: expected YAML, found a mistake in it: {error}") from None
    if not isinstance(root, yaml.MappingNode):
        found = (
            "nothing"
            if root is None
            else "a list"
            if isinstance(root, yaml.SequenceNode)
            else "a single value"
        )
        raise BankError(f"{path}:1:1: expected a mapping of keys such as 'title:', found {found}")
    builder = _Builder(path)
    data = builder.build(root, (), 0)
    assert isinstance(data, dict)
    return Document(path, data, builder.values, builder.keys)


def _limit_depth(path: Path, text: str) -> None:
    """Refuse what nests too deep before composing it: the C library composes by recursion, unguarded."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            depth += 1
            if depth > MAX_DEPTH:
                mark = event.start_mark
                place = f"{path}:{mark.line + 1}:{mark.column + 1}"
                raise BankError(f"{place}: expected a question, found more than {MAX_DEPTH} levels")
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            depth -= 1


class _Builder:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.values: dict[Keys, tuple[int, int]] = {}
        self.keys: dict[Keys, tuple[int, int]] = {}
        self.nodes = 0
        self.scalars = yaml.SafeLoader("")

    def build(self, node: yaml.Node, at: Keys, depth: int) -> Any:  # noqa: ANN401 whatever YAML holds
        self.nodes += 1
        place = _place(node)
        if self.nodes > MAX_NODES or depth > MAX_DEPTH:
            raise BankError(
                f"{self.path}:{place[0]}:{place[1]}: expected a question, "
                "found a file that repeats or nests itself without end"
            )
        self.values[at] = place
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, at, depth)
        if isinstance(node, yaml.SequenceNode):
            return [self.build(item, (*at, i), depth + 1) for i, item in enumerate(node.value)]
        try:
            return self.scalars.construct_object(node)
        except (yaml.YAMLError, ValueError) as error:
            raise BankError(
                f"{self.path}:{place[0]}:{place[1]}: expected a plain value, "
                f"found {node.value!r} ({error})"
            ) from None

    def _mapping(self, node: yaml.MappingNode, at: Keys, depth: int) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in node.value:
            line, column = _place(key_node)
            where = f"{self.path}:{line}:{column}"
            if not isinstance(key_node, yaml.ScalarNode):
                raise BankError(f"{where}: expected a word as a key, found a list or a mapping")
            # A key is the word as written: `on`, `no` and `1` are not turned into something else.
            key = str(key_node.value)
            if key == "<<":
                raise BankError(f"{where}: expected plain keys, found '<<'; in cases, use extends")
            if key in data:
                first = self.keys[(*at, key)]
                raise BankError(
                    f"{where}: expected each key once, "
                    f"found {key!r} again (first at line {first[0]})"
                )
            self.keys[(*at, key)] = (line, column)
            data[key] = self.build(value_node, (*at, key), depth + 1)
        return data


def _place(node: yaml.Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1
