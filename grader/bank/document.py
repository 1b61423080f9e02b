"""A YAML file as plain data that remembers where every key and value stands."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.reader import Reader

from grader.bank.storage import MAX_SOURCE
from grader.model.errors import BankError

MAX_NODES = 50_000
MAX_DEPTH = 40
MAX_ENTRIES = 200  # of a mapping, or a list that is none of numbers: checks, cases, steps
MAX_KEY = 100  # letters
MAX_NUMBER = 100  # letters; Python's own limits are further off, and are no faults with a place
MAX_SENTENCE = 600  # letters, before those that cannot be printed are spelled out
MAX_PROBLEMS = 100  # that are listed of one file
_ENDLESS = "expected a question, found a file that repeats or nests itself without end"
_KIND = "tag:yaml.org,2002:"
_NESTED = {f"{_KIND}map", f"{_KIND}seq"}

Keys = tuple[str | int, ...]
Fault = tuple[Keys, str]  # what is wrong at a path of keys
Problem = tuple[int, int, str]  # the same at a 1-based line and column


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML, which speaks YAML 1.1, with the plain values of YAML 1.2: `no` and `1:30` are texts.

    A number may have underscores, as in 1.1.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 as PyYAML has it


for _name, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?([0-9][0-9_]*|0x[0-9a-fA-F_]+|0b[01_]+)", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|"
        r"\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
):
    _Loader.add_implicit_resolver(f"{_KIND}{_name}", re.compile(rf"^({_pattern})$"), _first)


class Spot(NamedTuple):
    """Where a value stands: 1-based lines and columns."""

    value: tuple[int, int]
    key: tuple[int, int] | None = None  # of its key, where it has one
    style: str = ""  # of a block scalar: | or >

    @property
    def first_line(self) -> int:
        """The line on which a text begins: below the mark of a block, else where it stands."""
        return self.value[0] + bool(self.style)


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed data and, for every path of keys, its place in the file."""

    path: Path
    data: dict[str, Any]
    spots: dict[Keys, Spot]
    problems: tuple[Problem, ...] = ()  # what YAML allows and a spec does not

    def position(self, at: Keys, *, key: bool = False) -> tuple[int, int]:
        """Line and column of a value (or of its key), or of the nearest thing around it."""
        while at:
            if spot := self.spots.get(at):
                return spot.key if key and spot.key else spot.value
            at = at[:-1]
        return 1, 1

    def complaint(self, problems: Iterable[Problem], faults: Iterable[Fault] = ()) -> BankError:
        """The first of all faults of the file, in its order, each with its place."""
        placed = [*problems, *((*self.position(at), text) for at, text in faults)]
        texts = (
            one_line(f"{self.path}:{line}:{column}: {text}")
            for line, column, text in sorted(placed, key=lambda problem: problem[:2])
        )
        found = tuple(dict.fromkeys(texts))[:MAX_PROBLEMS]
        return BankError(found[0], problems=found)


def parse(raw: bytes, path: Path) -> Document:
    """Read the bytes of a YAML file that goes by a path.

    What YAML allows and a spec does not (a key twice, tags) is in `problems` of the document.

    Raises:
        BankError: it is not YAML, or not a mapping.
    """
    try:
        text = _decoded(raw)
        for _ in events(text):  # composing is recursive, in C: it would end the process
            pass
        root = yaml.compose(text, Loader=_Loader)
        if not isinstance(root, yaml.MappingNode):
            single = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
            found = "nothing" if root is None else single
            raise Unreadable(f"expected a mapping of keys such as 'title:', found {found}")
        builder = _Builder()
        data = builder.build(root)
    except Unreadable as error:
        line, column = error.place
        raise BankError(f"{path}:{line}:{column}: {error}") from None
    except (yaml.YAMLError, RecursionError) as error:
        said, excerpt = _mistake(error, text)
        raise BankError(f"{path}:{said}", excerpt=excerpt) from None
    doc = Document(path, data or {}, builder.spots, tuple(builder.problems))
    if data is None:  # the whole has a tag
        raise doc.complaint(doc.problems)
    return doc


class Unreadable(yaml.YAMLError):
    """A file is no text, no question, or nests deeper than any question does."""

    def __init__(self, text: str, place: tuple[int, int] = (1, 1)) -> None:
        """Store what is wrong, and the line and column."""
        super().__init__(text)
        self.place = place


def events(text: str) -> Iterator[yaml.Event]:
    """The events of a YAML text.

    Raises:
        yaml.YAMLError: it is none, nests too deep, or has more values than any question.
    """
    depth = count = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise Unreadable(_ENDLESS, _place(event))
        count += isinstance(event, yaml.NodeEvent)
        if count > MAX_NODES:  # composing takes ten times as long as counting
            raise Unreadable(f"expected at most {MAX_NODES:,} values, found more", _place(event))
        yield event


def pointed_at(line: str, column: int) -> tuple[str, str]:
    """The part of a line around a column, and a caret below it."""
    first = max(0, column - 50)
    part = "".join(c if c.isprintable() else " " for c in line[first : first + 70])
    return part, " " * (column - first) + "^"


def dotted(at: Keys) -> str:
    """`checks[1].at_most`."""
    text = ""
    for step in at:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else str(step)
    return text


def shortened(text: str) -> str:
    """The beginning of a text that somebody wrote."""
    return text if len(text) <= 40 else f"{text[:37]}..."


def one_line(text: str) -> str:
    """A sentence about a file with whatever the file put into it made printable, and not long."""
    text = text if len(text) <= MAX_SENTENCE else f"{text[:MAX_SENTENCE]}..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _decoded(raw: bytes) -> str:
    if len(raw) > MAX_SOURCE:
        raise Unreadable(f"expected at most {MAX_SOURCE:,} bytes, found {len(raw):,}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        found = f"found the byte 0x{raw[error.start]:02x}"
        raise Unreadable(f"expected UTF-8 text, {found}", (line, 1)) from None
    if odd := Reader.NON_PRINTABLE.search(text):
        at = odd.start()
        place = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        found = f"found U+{ord(odd.group()):04X}"
        raise Unreadable(f"expected text without control characters, {found}", place)
    return text


def _mistake(error: Exception, text: str) -> tuple[str, tuple[str, ...]]:
    """Where a text is no YAML, and in what way; and the line, with a caret below the place."""
    found = "expected YAML, found a mistake in it: "
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if not isinstance(error, yaml.MarkedYAMLError) or mark is None:
        return f"1:1: {found}{error}", ()
    problem = " ".join(str(p) for p in (error.context, error.problem) if p)
    lines = text.splitlines()
    if not "".join(lines[mark.line : mark.line + 1]).strip():  # the end: show where it began
        mark = error.context_mark or mark
    line = next(iter(lines[mark.line : mark.line + 1]), "")
    if line[mark.column : mark.column + 1] == "\t":
        problem = "a tab, and YAML indents with blanks"
    elif "mapping values" in problem:
        problem += "; is the line indented right? A text that holds ': ' needs quotes"
    elif "block" in problem:
        problem += "; is the line indented right?"
    said = one_line(f"{mark.line + 1}:{mark.column + 1}: {found}{problem}")
    return said, pointed_at(line, mark.column) if line.strip() else ()


class _Builder:
    """Makes plain data of a tree, noting where everything stands and what does not belong."""

    def __init__(self) -> None:
        self.spots: dict[Keys, Spot] = {}
        self.problems: list[Problem] = []

    def build(self, node: yaml.Node, at: Keys = (), key: yaml.Node | None = None) -> Any:  # noqa: ANN401 whatever YAML holds
        if len(self.spots) >= MAX_NODES or len(at) > MAX_DEPTH:
            raise Unreadable(_ENDLESS, _place(node))
        style = getattr(node, "style", None)
        block = style if style in {"|", ">"} else ""
        self.spots[at] = Spot(_place(node), None if key is None else _place(key), block)
        if isinstance(node, yaml.ScalarNode):
            return self._scalar(node)
        if node.tag not in _NESTED:
            return self._refuse(node, "put a text in quotes")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, at)
        assert isinstance(node, yaml.SequenceNode)
        listed = [item for item in node.value if item.tag.endswith((":str", ":map"))]
        items = self._first(node) if len(listed) > MAX_ENTRIES else node.value
        return [self.build(item, (*at, i)) for i, item in enumerate(items)]

    def _scalar(self, node: yaml.ScalarNode) -> Any:  # noqa: ANN401 or what it is refused as
        text, plain = str(node.value), node.value.replace("_", "").lower()
        match node.tag.removeprefix(_KIND):
            case "str":
                return text
            case "null":
                return None
            case "bool" if plain in {"true", "false"}:
                return plain == "true"
            case "int" | "float" as kind:
                if len(text) > MAX_NUMBER:
                    return self._refuse(node, f"a number has at most {MAX_NUMBER} digits")
                try:
                    value = _number(plain, kind)
                except ValueError:
                    return self._refuse(node, "it cannot be read as a number")
                if math.isinf(value) and "inf" not in plain:
                    return self._refuse(node, "no float64 is so large; infinity is .inf")
                return value
        return self._refuse(node, "put a text in quotes")

    def _mapping(self, node: yaml.MappingNode, at: Keys) -> dict[str, Any]:
        data: dict[str, Any] = {}
        for key_node, value_node in self._first(node):
            if not isinstance(key_node, yaml.ScalarNode):
                self._note(key_node, "expected a word as a key, found a list or a mapping")
                continue
            # A key is the word as written: `on`, `no` and `1` are not turned into something else.
            key = str(key_node.value)
            if len(key) > MAX_KEY:
                found = f"one of {len(key):,} letters, {key[:20]!r}..."
                self._note(key_node, f"expected a key of at most {MAX_KEY} letters, found {found}")
            elif key == "<<":
                self._note(key_node, "expected plain keys, found '<<'; in cases, use extends")
            elif key in data:
                line, _ = self.spots[(*at, key)].key or (0, 0)
                found = f"found {key!r} again (first at line {line})"
                self._note(key_node, f"expected each key once, {found}")
            else:
                data[key] = self.build(value_node, (*at, key), key_node)
        return data

    def _first(self, node: yaml.CollectionNode) -> list[Any]:
        """The entries of a collection, as many as one may have: work grows with their product."""
        if len(node.value) > MAX_ENTRIES:
            self._note(node, f"expected at most {MAX_ENTRIES} entries, found {len(node.value):,}")
        return list(node.value[:MAX_ENTRIES])

    def _refuse(self, node: yaml.Node, advice: str) -> Any:  # noqa: ANN401 None, in its place
        text = node.value if isinstance(node, yaml.ScalarNode) else ""
        found = repr(shortened(text)) if text else f"the tag {node.tag}"
        self._note(node, f"expected text, a number, true, false or null, found {found}; {advice}")

    def _note(self, node: yaml.Node, text: str) -> None:
        self.problems.append((*_place(node), text))


def _number(text: str, kind: str) -> int | float:
    """A number without underscores, in lower case; ValueError where it is none."""
    if kind == "float":
        return float(text.replace(".inf", "inf").replace(".nan", "nan"))
    digits = text.lstrip("-+")
    base = {"0x": 16, "0b": 2}.get(digits[:2], 10)
    return int(text, base)


def _place(node: yaml.Node | yaml.Event) -> tuple[int, int]:
    assert node.start_mark is not None
    return node.start_mark.line + 1, node.start_mark.column + 1
