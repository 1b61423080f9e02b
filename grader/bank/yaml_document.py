"""Read a YAML file as plain data with the position of every key and value, or only its head.

The *head* of a spec is its beginning, with the keys that a list of questions shows.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import yaml
from yaml.reader import Reader

from grader.model.errors import BankError, KeyPath, SpecError
from grader.model.limits import (
    MAX_HEAD_EVENTS,
    MAX_SOURCE,
    MAX_YAML_DEPTH,
    MAX_YAML_ENTRIES,
    MAX_YAML_NODES,
    MAX_YAML_PROBLEMS,
    MAX_YAML_WORD,
)

MAX_SENTENCE = 600  # letters, before unprintable ones are replaced by their codes
REQUIRED_HEAD = {"title", "track", "level", "uses"}
_ENDLESS = "expected a question, found a file that repeats or nests itself without end"
_KIND = "tag:yaml.org,2002:"


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Loader of YAML 1.1 (PyYAML) with the plain values of YAML 1.2: `no` and `1:30` are texts.

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


Place = tuple[int, int]  # line and column, from 1


class Position(NamedTuple):
    """Position of a key or of an entry of a list, and the first line of its text."""

    place: Place
    first_line: int  # for a text below | or >: the next line
    style: str  # | or > for a text below such a mark, else ""


Positions = dict[KeyPath, Position]


@dataclass(frozen=True, slots=True)
class Document:
    """Parsed data and, for every path of keys, its position in the file."""

    path: Path
    data: dict[str, Any]
    positions: Positions

    def to_bank_error(self, faults: Iterable[SpecError], whole: str) -> BankError:
        """Return an error: the topmost fault is its message, `problems` has all of them.

        A fault without a key is one of the `whole`, such as "the question".
        """
        problems = self.problems(faults, whole)
        return BankError(problems[0], problems=problems)

    def problems(self, faults: Iterable[SpecError], whole: str = "the question") -> list[str]:
        """Return each of the first faults as `FILE:LINE:COLUMN: KEY: TEXT`, sorted by place.

        `whole` stands in for the key of a fault that has none.
        """
        placed = []
        for path, text in islice(faults, MAX_YAML_PROBLEMS):
            nearest = self.nearest_path(path)
            key = format_key_path(nearest) or whole
            line = one_line(f"{self.path}:{self.place_text(nearest)}: {key}: {text}")
            placed.append((self.positions[nearest].place, line))
        placed.sort(key=itemgetter(0))
        return list(dict.fromkeys(line for _, line in placed))

    def nearest_path(self, path: KeyPath) -> KeyPath:
        """Return the path, or the longest beginning of it that the file has."""
        while path not in self.positions:
            path = path[:-1]
        return path

    def place_text(self, path: KeyPath) -> str:
        """Return `line:column` of a path that the file has."""
        line, column = self.positions[path].place
        return f"{line}:{column}"


class UnreadableYaml(yaml.YAMLError):
    """The file is not text or not a question, or uses YAML that a spec may not use."""

    def __init__(self, text: str, place: Place = (1, 1)) -> None:
        """Store a sentence on the fault, and its line and column."""
        super().__init__(text)
        self.place = place


def parse_yaml(raw: bytes, path: Path) -> Document:
    """Return the document in the bytes of a YAML file; the path is for messages.

    Raises:
        BankError: it is not YAML, or not a mapping of plain values.
    """
    try:
        text = _decoded(raw)
        for _ in yaml_events(text):  # composing is recursive, in C: it would end the process
            pass
        root = yaml.compose(text, Loader=_Loader)
        if not isinstance(root, yaml.MappingNode):
            raise UnreadableYaml(
                f"expected a mapping of keys such as 'title:', found {_root_in_words(root)}"
            )
        positions: Positions = {(): Position((1, 1), 1, "")}
        return Document(path, _mapping(root, (), positions), positions)
    except UnreadableYaml as error:
        line, column = error.place
        raise BankError(one_line(f"{path}:{line}:{column}: {error}")) from None
    except (yaml.YAMLError, RecursionError) as error:
        sentence, excerpt = _syntax_error(error, text)
        raise BankError(f"{path}:{sentence}", excerpt=excerpt) from None


def _root_in_words(root: yaml.Node | None) -> str:
    if root is None:
        return "nothing"
    return "a list" if isinstance(root, yaml.SequenceNode) else "a single value"


def read_head(data: bytes) -> dict[str, Any]:
    """Return the first keys of a spec, up to the last one that a list of questions needs.

    Values are texts, lists and mappings: numbers are texts, too.  Reading stops after
    `MAX_HEAD_EVENTS`.  If the data is not YAML, no key is returned.
    """
    head: dict[str, Any] = {}
    text = data.decode("utf-8", "ignore")
    events = islice(yaml.parse(text, Loader=_Loader), MAX_HEAD_EVENTS)
    try:
        while not isinstance(event := next(events), yaml.NodeEvent):
            pass  # the start of the stream and of the document
        while isinstance(event, yaml.MappingStartEvent) and not _is_complete(head):
            key = str(_read_node(next(events), events))
            head[key] = _read_node(next(events), events)
    except StopIteration:
        return head
    except (yaml.YAMLError, RecursionError):
        return {}
    return head


def _is_complete(head: dict[str, Any]) -> bool:
    """Return True if a head has every key that a list needs; minutes may be inside `parts`."""
    return head.keys() >= REQUIRED_HEAD and ("minutes" in head or "parts" in head)


def _read_node(event: yaml.Event, events: Iterator[yaml.Event]) -> Any:  # noqa: ANN401 any YAML value
    """Return the text, list or mapping that begins with an event; an alias is "" here."""
    if not isinstance(event, yaml.CollectionStartEvent):
        return getattr(event, "value", "")
    nodes = []
    while not isinstance(item := next(events), yaml.CollectionEndEvent):
        nodes.append(_read_node(item, events))
    if isinstance(event, yaml.SequenceStartEvent):
        return nodes
    keys = map(str, nodes[::2])
    return dict(zip(keys, nodes[1::2], strict=True))


def yaml_events(text: str) -> Iterator[yaml.Event]:
    """Yield the events of a YAML text.

    Raises:
        yaml.YAMLError: it is not YAML, nests too deep, or has more values than any question.
    """
    depth = 0
    values = 0
    for event in yaml.parse(text, Loader=_Loader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        if depth > MAX_YAML_DEPTH:
            raise UnreadableYaml(_ENDLESS, _place(event))
        if isinstance(event, yaml.NodeEvent):
            values += 1
        if values > MAX_YAML_NODES:  # composing takes ten times as long as counting
            raise UnreadableYaml(
                f"expected at most {MAX_YAML_NODES:,} values, found more", _place(event)
            )
        yield event


def format_key_path(path: KeyPath) -> str:
    """Return a path as `checks[1].at_most`."""
    text = ""
    for step in path:
        text += f"[{step}]" if isinstance(step, int) else f".{step}"
    return text.removeprefix(".")


def shorten(text: str) -> str:
    """Return a text for a message, cut to 40 characters."""
    return text if len(text) <= 40 else f"{text[:37]}..."


def one_line(text: str) -> str:
    """Cut a sentence to MAX_SENTENCE letters; write those that are not printable as codes."""
    if len(text) > MAX_SENTENCE:
        text = f"{text[:MAX_SENTENCE]}..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def _decoded(raw: bytes) -> str:
    if len(raw) > MAX_SOURCE:
        raise UnreadableYaml(f"expected at most {MAX_SOURCE:,} bytes, found {len(raw):,}")
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        sentence = f"expected UTF-8 text, found the byte 0x{raw[error.start]:02x}"
        raise UnreadableYaml(sentence, (line, 1)) from None
    if control := Reader.NON_PRINTABLE.search(text):
        start = control.start()
        line = text.count("\n", 0, start) + 1
        place = (line, start - text.rfind("\n", 0, start))
        codepoint = f"U+{ord(control.group()):04X}"
        raise UnreadableYaml(f"expected text without control characters, found {codepoint}", place)
    return text


def _syntax_error(error: Exception, text: str) -> tuple[str, tuple[str, ...]]:
    """Return `line:column: sentence` for text that is not YAML, and an excerpt with a caret."""
    expected = "expected YAML, found a mistake in it: "
    mark = getattr(error, "problem_mark", None) or getattr(error, "context_mark", None)
    if not isinstance(error, yaml.MarkedYAMLError) or mark is None:
        return f"1:1: {expected}{error}", ()
    lines = [*text.splitlines(), ""]
    if not lines[mark.line].strip():  # the end: show where it began
        mark = error.context_mark or mark
    line = lines[mark.line]
    problem = _likely_cause(error, line, mark.column)
    sentence = one_line(f"{mark.line + 1}:{mark.column + 1}: {expected}{problem}")
    if not line.strip():
        return sentence, ()
    start = max(0, mark.column - 50)
    part = "".join(c if c.isprintable() else " " for c in line[start : start + 70])
    return sentence, (part, " " * (mark.column - start) + "^")


def _likely_cause(error: yaml.MarkedYAMLError, line: str, column: int) -> str:
    """Return the author's probable mistake, or the message of PyYAML."""
    problem = " ".join(str(part) for part in (error.context, error.problem) if part)
    before = line[:column]
    if line[column : column + 1] == "\t":
        return "a tab, and YAML indents with blanks"
    if "mapping values" in problem:
        if ": " in before:
            return "a text that holds ': ', which needs quotes"
        return "a key too many; is the line indented right?"
    if re.search(r"\{[^{}]*: *\w+$", before) and line[column] == "[":
        return "a text that holds [ ], which needs quotes inside { }"
    if re.search(r"\{.*\} *$", before):
        return "a text that begins with {, which needs quotes"
    if "block" in problem:
        return f"{problem}; is the line indented right?"
    return problem


def _value(
    node: yaml.Node,
    path: KeyPath,
    positions: Positions,
    key: yaml.Node | None = None,
) -> Any:  # noqa: ANN401 any YAML value
    """Return the data of a node; add to `positions` those of the node and of all nodes in it."""
    if len(positions) >= MAX_YAML_NODES or len(path) > MAX_YAML_DEPTH:
        raise UnreadableYaml(_ENDLESS, _place(node))
    first_line, _ = _place(node)
    style = getattr(node, "style", None) or ""
    if style in {"|", ">"}:
        first_line += 1
    else:
        style = ""
    positions[path] = Position(_place(key or node), first_line, style)
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node)
    if isinstance(node, yaml.MappingNode):
        return _mapping(node, path, positions)
    assert isinstance(node, yaml.SequenceNode)
    counted = [item for item in node.value if item.tag.endswith((":str", ":map"))]
    _check_collection(node, counted)
    return [_value(item, (*path, i), positions) for i, item in enumerate(node.value)]


def _mapping(node: yaml.MappingNode, path: KeyPath, positions: Positions) -> dict[str, Any]:
    _check_collection(node, node.value)
    data: dict[str, Any] = {}
    for key_node, value_node in node.value:
        # A key is the word as written: `on`, `no` and `1` are not turned into something else.
        key = str(key_node.value)
        fault = ""
        if not isinstance(key_node, yaml.ScalarNode):
            fault = "expected a word as a key, found a list or a mapping"
        elif len(key) > MAX_YAML_WORD:
            fault = f"expected a key of at most {MAX_YAML_WORD} letters, found one of {len(key):,}"
        elif key == "<<":
            fault = "expected plain keys, found '<<'; in cases, use extends"
        elif key in data:
            line, _ = positions[(*path, key)].place
            fault = f"expected each key once, found {key!r} again (first at line {line})"
            if key.isdigit():
                fault += "; a number has no commas"
        if fault:
            raise UnreadableYaml(fault, _place(key_node))
        data[key] = _value(value_node, (*path, key), positions, key_node)
    return data


def _check_collection(node: yaml.CollectionNode, counted: list[Any]) -> None:
    """Raise UnreadableYaml for a tag, or for too many `counted` entries (MAX_YAML_ENTRIES).

    The work on a spec grows with the product of the numbers of checks, cases and steps.
    """
    if node.tag not in {f"{_KIND}map", f"{_KIND}seq"}:
        raise _refusal(node, f"the tag {node.tag}")
    if len(counted) > MAX_YAML_ENTRIES:
        text = f"expected at most {MAX_YAML_ENTRIES} entries, found {len(node.value):,}"
        raise UnreadableYaml(text, _place(node))


def _scalar(node: yaml.ScalarNode) -> str | bool | int | float | None:
    text = str(node.value)
    kind = node.tag.removeprefix(_KIND)
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
    raise _refusal(node, repr(shorten(text)) if text else f"the tag {node.tag}")


def _refusal(node: yaml.Node, text: str) -> UnreadableYaml:
    expected = (
        f"text, a number that a float64 holds in {MAX_YAML_WORD} letters, true, false or null"
    )
    return UnreadableYaml(f"expected {expected}, found {text}; put a text in quotes", _place(node))


def _place(node: yaml.Node | yaml.Event) -> Place:
    assert node.start_mark is not None
    return node.start_mark.line + 1, node.start_mark.column + 1
