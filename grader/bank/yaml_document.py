"""A YAML file as plain data that remembers where every key and value stands; or its head alone."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.reader import Reader

from grader.model.errors import BankError
from grader.model.limits import (
    MAX_HEAD_EVENTS,
    MAX_PARTS_EVENTS,
    MAX_SOURCE,
    MAX_YAML_DEPTH,
    MAX_YAML_ENTRIES,
    MAX_YAML_NODES,
    MAX_YAML_PROBLEMS,
    MAX_YAML_WORD,
)

MAX_SENTENCE = 600  # letters, before those that cannot be printed are spelled out
REQUIRED_HEAD = {"title", "track", "level", "minutes", "uses"}
OPTIONAL_HEAD = {"prerequisites", "form", "roles"}  # which a spec may have, above the last of them
_LONGEST = 200  # letters of a value in a head
_ENDLESS = "expected a question, found a file that repeats or nests itself without end"
_KIND = "tag:yaml.org,2002:"

DocumentPath = tuple[str | int, ...]
SpecError = tuple[
    DocumentPath, str
]  # where something is wrong, as a path of keys; what was expected and found


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """PyYAML, which speaks YAML 1.1, with the plain values of YAML 1.2: `no` and `1:30` are texts.

    A number may have underscores, as in 1.1.
    """

    yaml_implicit_resolvers: dict[str, Any] = {}  # noqa: RUF012 as PyYAML has it


for _name, _pattern, _first in (
    ("null", r"~|null|Null|NULL|", ["~", "n", "N", ""]),
    ("bool", r"true|True|TRUE|false|False|FALSE", list("tTfF")),
    ("int", r"[-+]?[0-9][0-9_]*", list("-+0123456789")),
    (
        "float",
        r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)([eE][-+]?[0-9]+)?|[-+]?\.(inf|Inf|INF)|"
        r"\.(nan|NaN|NAN)",
        list("-+.0123456789"),
    ),
):
    _Loader.add_implicit_resolver(f"{_KIND}{_name}", re.compile(rf"^({_pattern})$"), _first)


class Position(NamedTuple):
    """Where a key, or a value without one, stands, and on which line its text begins."""

    place: tuple[int, int]  # 1-based line and column
    first_line: int  # below the mark of a block
    style: str  # of a block scalar: | or >


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed data and, for every path of keys, its place in the file."""

    path: Path
    data: dict[str, Any]
    positions: dict[DocumentPath, Position]

    def to_bank_error(self, faults: Iterable[SpecError], whole: str = "the question") -> BankError:
        """The first of all faults of the file, in its order, each with its place."""
        placed = [(self.nearest_path(at), text) for at, text in islice(faults, MAX_YAML_PROBLEMS)]
        placed.sort(key=lambda fault: self.positions[fault[0]].place)
        texts = (
            one_line(f"{self.path}:{self.place_text(at)}: {format_key_path(at) or whole}: {text}")
            for at, text in placed
        )
        found = tuple(dict.fromkeys(texts))
        return BankError(found[0], problems=found)

    def nearest_path(self, at: DocumentPath) -> DocumentPath:
        """The path itself, or that of the nearest thing around it that is there."""
        while at not in self.positions:
            at = at[:-1]
        return at

    def place_text(self, at: DocumentPath) -> str:
        """`line:column` of a key or an entry that is there."""
        return ":".join(map(str, self.positions[at].place))


class UnreadableYaml(yaml.YAMLError):
    """A file is no text, no question, or holds what YAML allows and a spec does not."""

    def __init__(self, text: str, place: tuple[int, int] = (1, 1)) -> None:
        """Store what is wrong, and the line and column."""
        super().__init__(text)
        self.place = place


def parse_yaml(raw: bytes, path: Path) -> Document:
    """Read the bytes of a YAML file that goes by a path.

    Raises:
        BankError: it is not YAML, or not a mapping of plain values.
    """
    try:
        text = _decoded(raw)
        for _ in yaml_events(text):  # composing is recursive, in C: it would end the process
            pass
        root = yaml.compose(text, Loader=_Loader)
        if not isinstance(root, yaml.MappingNode):
            single = "a list" if isinstance(root, yaml.SequenceNode) else "a single value"
            found = "nothing" if root is None else single
            raise UnreadableYaml(f"expected a mapping of keys such as 'title:', found {found}")
        spots: dict[DocumentPath, Position] = {(): Position((1, 1), 1, "")}
        return Document(path, _mapping(root, (), spots), spots)
    except UnreadableYaml as error:
        line, column = error.place
        raise BankError(one_line(f"{path}:{line}:{column}: {error}")) from None
    except (yaml.YAMLError, RecursionError) as error:
        said, excerpt = _mistake(error, text)
        raise BankError(f"{path}:{said}", excerpt=excerpt) from None


def read_head(data: bytes) -> dict[str, str]:
    """What a list shows of a question, from the first bytes of its spec: the keys that are there.

    YAML is parsed as a stream of events and left as soon as the five keys are there, which they are
    in the first lines of a spec, or behind its parts, each of which has minutes of its own.  A list
    is its items with spaces; `parts` is the number of parts, `minutes` a whole number or 0.
    """
    found: dict[str, str] = {}
    depth = minutes = parts = 0
    keys: dict[int, str | None] = {1: None, 3: None}  # of which the value comes next, by depth
    try:
        spec = data.decode("utf-8", "ignore")
        for number, event in enumerate(yaml.parse(spec, Loader=_Loader), 1):
            if depth > 3 and type(event) is yaml.ScalarEvent:  # most of a spec
                continue
            text = event.value if isinstance(event, yaml.ScalarEvent) else None
            is_key = text is not None and keys.get(depth, "") is None
            if is_key:
                keys[depth] = text
            elif text is not None and depth == 3 and parts and keys[3] == "minutes":
                minutes += _whole(text)
            elif text is not None and keys[1] in REQUIRED_HEAD | OPTIONAL_HEAD and depth <= 2:
                words = f"{found.get(keys[1], '')} {text[:_LONGEST]}".split()
                found[keys[1]] = one_line(" ".join(words))[:_LONGEST]
            depth += isinstance(event, yaml.CollectionStartEvent)
            depth -= isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.MappingStartEvent) and depth == 3 and keys[1] == "parts":
                parts += 1
            if depth <= 3 and not is_key:
                keys[3] = None
            if depth <= 1 and not is_key:
                keys[1] = None
                if parts:
                    found |= {"minutes": str(minutes), "parts": str(parts)}
                if found.keys() >= REQUIRED_HEAD:
                    break
            if number >= (MAX_PARTS_EVENTS if parts else MAX_HEAD_EVENTS):
                break
    except yaml.YAMLError:
        return {}
    return found | {"minutes": str(_whole(found.get("minutes", "")))}


def yaml_events(text: str) -> Iterator[yaml.Event]:
    """The events of a YAML text.

    Raises:
        yaml.YAMLError: it is none, nests too deep, or has more values than any question.
    """
    depth = count = 0
    for event in yaml.parse(text, Loader=_Loader):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_YAML_DEPTH:
            raise UnreadableYaml(_ENDLESS, _place(event))
        count += isinstance(event, yaml.NodeEvent)
        if count > MAX_YAML_NODES:  # composing takes ten times as long as counting
            raise UnreadableYaml(
                f"expected at most {MAX_YAML_NODES:,} values, found more", _place(event)
            )
        yield event


def format_key_path(at: DocumentPath) -> str:
    """`checks[1].at_most`."""
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in at)
    return text.removeprefix(".")


def shorten(text: str) -> str:
    """The beginning of a text that somebody wrote."""
    return text if len(text) <= 40 else f"{text[:37]}..."


def one_line(text: str) -> str:
    """A sentence about a file with whatever the file put into it made printable, and not long."""
    text = text if len(text) <= MAX_SENTENCE else f"{text[:MAX_SENTENCE]}..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _whole(text: str) -> int:
    """A number of minutes, or 0 where it is none."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0


def _decoded(raw: bytes) -> str:
    if len(raw) > MAX_SOURCE:
        raise UnreadableYaml(f"expected at most {MAX_SOURCE:,} bytes, found {len(raw):,}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        found = f"found the byte 0x{raw[error.start]:02x}"
        raise UnreadableYaml(f"expected UTF-8 text, {found}", (line, 1)) from None
    if odd := Reader.NON_PRINTABLE.search(text):
        at = odd.start()
        place = text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)
        found = f"found U+{ord(odd.group()):04X}"
        raise UnreadableYaml(f"expected text without control characters, {found}", place)
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
        second = re.search(r": ", line[: mark.column]) is not None
        problem = "a text that holds ': ', which needs quotes"
        problem = problem if second else "a key too many; is the line indented right?"
    elif re.search(r"\{[^{}]*: *\w+$", line[: mark.column]) and line[mark.column] == "[":
        problem = "a text that holds [ ], which needs quotes inside { }"
    elif re.search(r"\{.*\} *$", line[: mark.column]):
        problem = "a text that begins with {, which needs quotes"
    elif "block" in problem:
        problem += "; is the line indented right?"
    first = max(0, mark.column - 50)
    part = "".join(c if c.isprintable() else " " for c in line[first : first + 70])
    excerpt = (part, " " * (mark.column - first) + "^") if line.strip() else ()
    return one_line(f"{mark.line + 1}:{mark.column + 1}: {found}{problem}"), excerpt


def _value(
    node: yaml.Node,
    at: DocumentPath,
    spots: dict[DocumentPath, Position],
    key: yaml.Node | None = None,
) -> Any:  # noqa: ANN401 whatever YAML holds
    """The data of a node; its place, and those of all in it, go into `spots`."""
    if len(spots) >= MAX_YAML_NODES or len(at) > MAX_YAML_DEPTH:
        raise UnreadableYaml(_ENDLESS, _place(node))
    style = getattr(node, "style", None) or ""
    style = style if style in "|>" else ""
    spots[at] = Position(_place(key or node), _place(node)[0] + bool(style), style)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, at, spots)
    assert isinstance(node, yaml.SequenceNode)
    _check(node, [item for item in node.value if item.tag.endswith((":str", ":map"))])
    return [_value(item, (*at, i), spots) for i, item in enumerate(node.value)]


def _mapping(
    node: yaml.MappingNode, at: DocumentPath, spots: dict[DocumentPath, Position]
) -> dict[str, Any]:
    _check(node, node.value)
    data: dict[str, Any] = {}
    for key_node, value_node in node.value:
        # A key is the word as written: `on`, `no` and `1` are not turned into something else.
        key = str(key_node.value)
        wrong = ""
        if not isinstance(key_node, yaml.ScalarNode):
            wrong = "expected a word as a key, found a list or a mapping"
        elif len(key) > MAX_YAML_WORD:
            wrong = f"expected a key of at most {MAX_YAML_WORD} letters, found one of {len(key):,}"
        elif key == "<<":
            wrong = "expected plain keys, found '<<'; in cases, use extends"
        elif key in data:
            line, _ = spots[(*at, key)].place
            wrong = f"expected each key once, found {key!r} again (first at line {line})"
            wrong += "; a number has no commas" * key.isdigit()
        if wrong:
            raise UnreadableYaml(wrong, _place(key_node))
        data[key] = _value(value_node, (*at, key), spots, key_node)
    return data


def _check(node: yaml.CollectionNode, counted: list[Any]) -> None:
    """Refuse a tag, and more entries than one may have: work grows with their product."""
    if node.tag not in {f"{_KIND}map", f"{_KIND}seq"}:
        raise _refused(node, f"the tag {node.tag}")
    if len(counted) > MAX_YAML_ENTRIES:
        found = f"expected at most {MAX_YAML_ENTRIES} entries, found {len(node.value):,}"
        raise UnreadableYaml(found, _place(node))


def _scalar(node: yaml.ScalarNode) -> str | bool | int | float | None:
    text, kind = str(node.value), node.tag.removeprefix(_KIND)
    plain = text.replace("_", "").lower()
    if kind == "str":
        return text
    if kind == "null":
        return None
    if kind == "bool" and plain in {"true", "false"}:
        return plain == "true"
    if kind in {"int", "float"} and len(text) <= MAX_YAML_WORD:
        with suppress(ValueError):
            value = int(plain) if kind == "int" else float(re.sub(r"\.(inf|nan)", r"\1", plain))
            if not math.isinf(value) or "inf" in plain:
                return value
    raise _refused(node, repr(shorten(text)) if text else f"the tag {node.tag}")


def _refused(node: yaml.Node, found: str) -> UnreadableYaml:
    expected = (
        f"text, a number that a float64 holds in {MAX_YAML_WORD} letters, true, false or null"
    )
    return UnreadableYaml(f"expected {expected}, found {found}; put a text in quotes", _place(node))


def _place(node: yaml.Node | yaml.Event) -> tuple[int, int]:
    assert node.start_mark is not None
    return node.start_mark.line + 1, node.start_mark.column + 1
