"""Reading YAML: whatever the bytes are, plain data with places or one error that says where."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from grader.bank import document
from grader.model.errors import BankError


def read(path: Path) -> document.Document:
    """Return the document of a file that nothing is wrong with."""
    doc = document.parse(path.read_bytes(), path)
    if doc.problems:
        raise doc.complaint(doc.problems)
    return doc


def fault(tmp_path: Path, data: str | bytes) -> str:
    """Return the message about a file, its path left out."""
    path = tmp_path / "q.yaml"
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    with pytest.raises(BankError) as raised:
        read(path)
    assert raised.value.message.startswith(f"{path}:")
    assert "\n" not in raised.value.message
    assert len(raised.value.message) < len(str(path)) + 250
    return raised.value.message.removeprefix(f"{path}:").strip()


def test_a_document_remembers_where_keys_and_values_stand(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text("title: T\ncases:\n  small: {x: [1, 2]}\n", encoding="utf-8")
    doc = read(path)
    assert doc.data == {"title": "T", "cases": {"small": {"x": [1, 2]}}}
    assert doc.position(("title",)) == (1, 8)
    assert doc.position(("title",), key=True) == (1, 1)
    assert doc.position(("cases", "small", "x", 1)) == (3, 18)
    assert doc.position(("cases", "small", "nothing", "below")) == (3, 10)
    assert doc.position(()) == (1, 1)


def test_a_byte_order_mark_and_windows_line_ends_are_read(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_bytes(b"\xef\xbb\xbftitle: T\r\nminutes: 5\r\n")
    assert read(path).data == {"title": "T", "minutes": 5}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: expected a mapping of keys such as 'title:', found nothing"),
        ("just words", "1:1: expected a mapping of keys such as 'title:', found a single value"),
        ("- 1\n- 2\n", "1:1: expected a mapping of keys such as 'title:', found a list"),
        ("a: 1\nb: 2\na: 3\n", "3:1: expected each key once, found 'a' again (first at line 1)"),
        ("? [1]\n: 2\n", "1:3: expected a word as a key, found a list or a mapping"),
    ],
)
def test_what_is_no_mapping_of_unique_words_is_refused(
    tmp_path: Path, text: str, message: str
) -> None:
    assert fault(tmp_path, text) == message


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", "3:2", "expected ',' or ']'"),
        ("a:\n\tb: 1\n", "2:1", "a tab, and YAML indents with blanks"),
        ("a: b: c\n", "1:5", "mapping values are not allowed in this context"),
        ("a: 'open\n", "1:4", "end of stream"),
        ("a: *nowhere\n", "1:4", "undefined alias"),
        ("a: &x 1\nb: &x 2\n", "2:4", "duplicate anchor"),
        ("a: 1\n---\nb: 2\n", "2:1", "another document"),
        ("a: b: c\n", "1:5", "mapping values are not allowed"),
        ('a: "\\ud800"\n', "1:7", "Unicode"),
        ("%YAML 9.9\n---\na: 1\n", "1:1", "incompatible YAML document"),
    ],
)
def test_broken_yaml_is_placed_to_the_column(
    tmp_path: Path, text: str, place: str, problem: str
) -> None:
    said = fault(tmp_path, text)
    assert said.startswith(f"{place}: expected YAML, found a mistake in it: ")
    assert problem in said


@pytest.mark.parametrize(
    ("text", "said", "excerpt"),
    [
        ("a:\n\tb: 1\n", "2:1 a tab, and YAML indents with blanks", (" b: 1", "^")),
        (
            "checks:\n  - id: a\n    kind: outputs\n   of: y\n",
            "4:4 while parsing a block collection did not find expected '-' indicator; is the line "
            "indented right?",
            ("   of: y", "   ^"),
        ),
        (
            "a: b: c\n",
            "1:5 mapping values are not allowed in this context; is the line indented right? "
            "A text that holds ': ' needs quotes",
            ("a: b: c", "    ^"),
        ),
        (
            "x: {a: b,\n   c: d: e}\n",
            "2:8 while parsing a flow mapping did not find expected ',' or '}'",
            ("   c: d: e}", "       ^"),
        ),
        ("a: b\nc: 'open\nd: 1\n", "2:4 while scanning a quoted scalar", ("c: 'open", "   ^")),
        (f"a: {'x' * 80}: \u200by\n", "1:84 mapping", (f"{'x' * 50}:  y", " " * 50 + "^")),
    ],
)
def test_a_mistake_is_shown_with_its_line_and_a_caret(
    text: str, said: str, excerpt: tuple[str, ...]
) -> None:
    with pytest.raises(BankError) as raised:
        document.parse(text.encode(), Path("q.yaml"))
    place, _, problem = said.partition(" ")
    assert raised.value.message.startswith(
        f"q.yaml:{place}: expected YAML, found a mistake in it: {problem}"
    )
    assert raised.value.excerpt == excerpt


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"a: 1\nb: \xff\xfe\n", "2:1: expected UTF-8 text, found the byte 0xff"),
        ("a: caf\u00e9".encode("latin-1"), "1:1: expected UTF-8 text, found the byte 0xe9"),
        ("a: 1".encode("utf-16"), "1:1: expected UTF-8 text, found the byte 0xff"),
        (b"\x7fELF\x02\x01\x00", "1:1: expected text without control characters, found U+007F"),
        (b"a: 1\nb: x\x00", "2:5: expected text without control characters, found U+0000"),
        (b"x" * (2 << 20), "1:1: expected at most 1,048,576 bytes, found 2,097,152"),
    ],
)
def test_what_is_not_text_is_refused(tmp_path: Path, data: bytes, message: str) -> None:
    assert fault(tmp_path, data) == message


@pytest.mark.parametrize(
    "text",
    [
        "a: &a [*a]\n",
        "a: &a [x, x, x, x, x, x, x, x, x]\n"
        + "".join(
            f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]\n"
            for old, new in zip("abcdefgh", "bcdefghi", strict=True)
        ),
        "a:\n" + "".join("  " * i + "- \n" for i in range(1, 60)),
        "a: " + "[" * 300_000,
    ],
)
def test_what_nests_or_repeats_itself_without_end_is_refused_in_time(
    tmp_path: Path, text: str
) -> None:
    assert fault(tmp_path, text).endswith(
        ": expected a question, found a file that repeats or nests itself without end"
    )


@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("!!binary aGk=", "'aGk='; put a text in quotes"),
        ("!!set {b}", "the tag tag:yaml.org,2002:set; put a text in quotes"),
        ("!!python/name:os.system ''", "the tag tag:yaml.org,2002:python/name:os.system"),
        ("!!python/object/apply:os.system [ls]", "the tag tag:yaml.org,2002:python/object"),
        ("!mine [1]", "the tag !mine"),
    ],
)
def test_only_plain_values_are_read(tmp_path: Path, value: str, found: str) -> None:
    said = fault(tmp_path, f"a: {value}\n")
    assert said.startswith(f"1:4: expected text, a number, true, false or null, found {found}")


@pytest.mark.parametrize("text", ["!mine\na: 1\n", "!!set {a}\n"])
def test_a_spec_that_is_tagged_as_a_whole_is_refused(tmp_path: Path, text: str) -> None:
    said = fault(tmp_path, text)
    assert said.startswith("1:1: expected text, a number, true, false or null, found the tag ")


@pytest.mark.parametrize("value", ["!!int ''", "!!float ''", "0x_"])
def test_numbers_that_are_none_are_refused(tmp_path: Path, value: str) -> None:
    said = fault(tmp_path, f"a: {value}\n")
    assert said.startswith("1:4: expected text, a number, true, false or null, found ")
    assert said.endswith("; it cannot be read as a number")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"), ("On", "On"), ("yes", "yes"), ("true", True), ("FALSE", False), ("~", None),
        ("1:30", "1:30"), ("010", 10), ("-007", -7), ("00", 0), ("08", 8), ("'010'", "010"),
        ("1_000", 1000), ("1e-5", 1e-5), ("0x1f", 31), (".inf", float("inf")),
        ("2024-01-01", "2024-01-01"), ("=", "="),
    ],
)  # fmt: skip
def test_plain_values_are_read_as_yaml_1_2_has_them(written: str, value: object) -> None:
    doc = document.parse(f"a: {written}\n".encode(), Path("q.yaml"))
    assert repr(doc.data["a"]) == repr(value)
    assert not doc.problems


def test_everything_that_yaml_allows_and_a_spec_does_not_is_said_at_once(tmp_path: Path) -> None:
    path = tmp_path / "q.yaml"
    path.write_text("a: 1\na: 2\nb: !mine x\n? [x]\n: 3\nc: {<<: 1}\n", encoding="utf-8")
    doc = document.parse(path.read_bytes(), path)
    assert [problem[:2] for problem in doc.problems] == [(2, 1), (3, 4), (4, 3), (6, 5)]
    assert doc.data == {"a": 1, "b": None, "c": {}}


@pytest.mark.parametrize(
    ("text", "line"), [("a: |\n  x\n", 2), ("a: >\n  x\n", 2), ("a: x\n", 1), ("a:\n  'x'\n", 2)]
)
def test_the_line_on_which_a_text_begins(tmp_path: Path, text: str, line: int) -> None:
    path = tmp_path / "q.yaml"
    path.write_text(text, encoding="utf-8")
    assert read(path).spots[("a",)].first_line == line


@pytest.mark.parametrize("value", ["a", "[]", "{}", "*t"])
def test_values_are_counted_before_a_tree_is_made_of_them(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    composed: list[object] = []
    monkeypatch.setattr(yaml, "compose", lambda *given, **_: composed.append(given))
    text = f"t: &t 1\nx: [{f'{value} , ' * document.MAX_NODES}]"
    with pytest.raises(BankError, match="expected at most 50,000 values, found more"):
        document.parse(text.encode(), Path("q.yaml"))
    assert not composed
