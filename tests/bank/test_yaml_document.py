"""Reading YAML: whatever the bytes are, plain data with places or one error that says where."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from grader.bank import yaml_document
from grader.model.errors import BankError
from grader.model.limits import MAX_YAML_NODES, MAX_YAML_PROBLEMS


def read(text: str | bytes) -> yaml_document.Document:
    """Return the document of a file."""
    return yaml_document.parse_yaml(
        text if isinstance(text, bytes) else text.encode(), Path("q.yaml")
    )


def fault(text: str | bytes) -> BankError:
    """Return what is said of a file: one short line."""
    with pytest.raises(BankError) as raised:
        read(text)
    assert raised.value.message.startswith("q.yaml:")
    assert "\n" not in raised.value.message
    assert len(raised.value.message) < 250
    return raised.value


def test_a_document_remembers_where_keys_and_entries_stand() -> None:
    doc = read(b"\xef\xbb\xbftitle: T\r\ncases:\r\n  small: {x: [1, 2]}\r\n")
    assert doc.data == {"title": "T", "cases": {"small": {"x": [1, 2]}}}
    assert doc.place_text(("title",)) == doc.place_text(()) == "1:1"
    assert doc.place_text(("cases", "small", "x", 1)) == "3:18"
    assert doc.nearest_path(("cases", "small", "nothing", "below")) == ("cases", "small")


def test_faults_stand_in_the_order_of_the_file_each_once_and_in_one_line() -> None:
    doc = read("a: {b: [1, 2]}\nc: 3\n")
    faults = [(("c",), "last"), (("a", "b", 1), "x\n" * 400), ((), "first"), (("c", "d"), "last")]
    first, second, third = doc.problems(iter(faults), "the class")
    assert (first, third) == ("q.yaml:1:1: the class: first", "q.yaml:2:1: c: last")
    assert second.startswith("q.yaml:1:12: a.b[1]: x\\nx\\nx")
    assert second.isprintable()
    assert len(second) < 1000
    assert len(doc.problems(((), str(n)) for n in range(10**9))) == MAX_YAML_PROBLEMS


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "1:1: expected a mapping of keys such as 'title:', found nothing"),
        ("just words", "1:1: expected a mapping of keys such as 'title:', found a single value"),
        ("- 1\n- 2\n", "1:1: expected a mapping of keys such as 'title:', found a list"),
        ("a: 1\nb: 2\na: 3\n", "3:1: expected each key once, found 'a' again (first at line 1)"),
        ("? [1]\n: 2\n", "1:3: expected a word as a key, found a list or a mapping"),
        ("a: {<<: 1}", "1:5: expected plain keys, found '<<'; in cases, use extends"),
        (f"? {'k' * 101}\n: 1\n", "1:3: expected a key of at most 100 letters, found one of 101"),
        (b"a: 1\nb: \xff\xfe\n", "2:1: expected UTF-8 text, found the byte 0xff"),
        ("a: caf\u00e9".encode("latin-1"), "1:1: expected UTF-8 text, found the byte 0xe9"),
        ("a: 1".encode("utf-16"), "1:1: expected UTF-8 text, found the byte 0xff"),
        (b"\x7fELF\x02\x01", "1:1: expected text without control characters, found U+007F"),
        (b"a: 1\nb: x\x00", "2:5: expected text without control characters, found U+0000"),
        (b"x" * (2 << 20), "1:1: expected at most 1,048,576 bytes, found 2,097,152"),
    ],
)
def test_only_text_with_a_mapping_of_unique_words_is_accepted(
    text: str | bytes, message: str
) -> None:
    assert fault(text).message == f"q.yaml:{message}"


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
            "1:5 a text that holds ': ', which needs quotes",
            ("a: b: c", "    ^"),
        ),
        (
            "x: {a: b,\n   c: d: e}\n",
            "2:8 while parsing a flow mapping did not find expected ',' or '}'",
            ("   c: d: e}", "       ^"),
        ),
        ("a: b\nc: 'open\nd: 1\n", "2:4 while scanning a quoted scalar", ("c: 'open", "   ^")),
        (f"a: {'x' * 80}: \u200by\n", "1:84 a text", (f"{'x' * 50}:  y", " " * 50 + "^")),
        (
            "a: [{n} b]\n",
            "1:9 a text that begins with {, which needs quotes",
            ("a: [{n} b]", "        ^"),
        ),
        ("a: *nowhere\n", "1:4 found undefined alias", ("a: *nowhere", "   ^")),
        ("a: &x 1\nb: &x 2\n", "2:4 found duplicate anchor", ("b: &x 2", "   ^")),
        ("a: 1\n---\nb: 2\n", "2:1 expected a single document", ("---", "^")),
        ('a: "\\ud800"\n', "1:7 while parsing a quoted scalar", ('a: "\\ud800"', "      ^")),
        ("%YAML 9.9\n---\na: 1\n", "1:1 found incompatible YAML document", ("%YAML 9.9", "^")),
    ],
)
def test_a_mistake_is_shown_with_its_line_and_a_caret(
    text: str, said: str, excerpt: tuple[str, ...]
) -> None:
    error = fault(text)
    place, _, problem = said.partition(" ")
    assert error.message.startswith(f"q.yaml:{place}: expected YAML, found a mistake in it: ")
    assert problem in error.message
    assert error.excerpt == excerpt


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
    ids=["itself", "laughs", "deep", "deeper"],
)
def test_endless_nesting_and_repetition_are_refused_in_time(text: str) -> None:
    end = ": expected a question, found a file that repeats or nests itself without end"
    assert fault(text).message.endswith(end)


@pytest.mark.parametrize("value", ["a", "[]", "{}", "*t"])
def test_values_are_counted_before_a_tree_is_made_of_them(
    monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    composed: list[object] = []
    monkeypatch.setattr(yaml, "compose", lambda *given, **_: composed.append(given))
    text = f"t: &t 1\nx: [{f'{value} , ' * MAX_YAML_NODES}]"
    assert "expected at most 50,000 values, found more" in fault(text).message
    assert not composed


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("a: !!binary aGk=", "'aGk='"),
        ("a: !!set {b}", "the tag tag:yaml.org,2002:set"),
        ("a: !!python/name:os.system ''", "the tag tag:yaml.org,2002:python/name:os.system"),
        ("a: !!python/object/apply:os.system [ls]", "the tag tag:yaml.org,2002:python/object"),
        ("a: !mine [1]", "the tag !mine"),
        ("!mine\na: 1\n", "the tag !mine"),
        ("a: !!int ''", "the tag tag:yaml.org,2002:int"),
        ("a: !!float x", "'x'"),
        ("a: !!bool x", "'x'"),
        (f"a: {'1' * 401}", f"'{'1' * 37}...'"),
        (f"a: 1.{'0' * 401}", f"'1.{'0' * 35}...'"),
        ("a: -1.0e+999", "'-1.0e+999'"),
    ],
)
def test_only_plain_values_are_read(text: str, found: str) -> None:
    place = "1:1" if text.startswith("!") else "1:4"
    message = fault(text).message
    assert message.startswith(f"q.yaml:{place}: expected text, a number that a float64 holds in ")
    assert f" letters, true, false or null, found {found}" in message
    assert message.endswith("; put a text in quotes")


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("no", "no"), ("On", "On"), ("yes", "yes"), ("true", True), ("FALSE", False), ("~", None),
        ("1:30", "1:30"), ("010", 10), ("-007", -7), ("00", 0), ("08", 8), ("'010'", "010"),
        ("1_000", 1000), ("1e-5", 1e-5), ("0x1f", "0x1f"), (".inf", float("inf")),
        ("-.Inf", float("-inf")), (".NaN", float("nan")), ("2024-01-01", "2024-01-01"), ("=", "="),
    ],
)  # fmt: skip
def test_plain_values_are_read_as_yaml_1_2_has_them(written: str, value: object) -> None:
    assert repr(read(f"a: {written}\n").data["a"]) == repr(value)


@pytest.mark.parametrize(
    ("text", "line"), [("a: |\n  x\n", 2), ("a: >\n  x\n", 2), ("a: x\n", 1), ("a:\n  'x'\n", 2)]
)
def test_the_line_on_which_a_text_begins(text: str, line: int) -> None:
    assert read(text).positions[("a",)].first_line == line
