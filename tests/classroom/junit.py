"""The schema of Jenkins for JUnit XML (junit-4.xsd), as far as it says anything, in a table.

Of every element: the attributes it may have, those it must have, and what may stand in it, in this
order and how often. Text may stand where nothing else may.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

MANY = 10**9
_COUNTS = {"tests", "failures", "errors", "skipped", "disabled"}


@dataclass(frozen=True, slots=True)
class Rule:
    """What an element may be like."""

    may: frozenset[str] = frozenset()
    must: frozenset[str] = frozenset()
    inside: Mapping[str, tuple[int, int]] = field(default_factory=dict)  # least and most, in order


def rule(may: str = "", must: str = "", **inside: tuple[int, int]) -> Rule:
    names = {name.replace("_", "-"): bounds for name, bounds in inside.items()}
    return Rule(frozenset(may.split()) | {*must.split()}, frozenset(must.split()), names)


RULES = {
    "testsuites": rule("name time tests failures disabled errors", testsuite=(0, MANY)),
    "testsuite": rule(
        "failures errors time disabled skipped timestamp hostname id package", "name tests",
        properties=(0, 1), testcase=(0, MANY), system_out=(0, 1), system_err=(0, 1),
    ),
    "testcase": rule(
        "assertions time classname status", "name", skipped=(0, 1), error=(0, MANY),
        failure=(0, MANY), system_out=(0, MANY), system_err=(0, MANY),
    ),
    "properties": rule(property=(1, MANY)),
    "property": rule("", "name value"),
    "failure": rule("type message"),
    "error": rule("type message"),
    "skipped": rule(), "system-out": rule(), "system-err": rule(),
}  # fmt: skip


def faults(element: ET.Element) -> Iterator[str]:
    """What the schema has against a document, and what the counts in it have."""
    known = RULES.get(element.tag)
    if known is None:
        yield f"no element {element.tag}"
        return
    given = {*element.keys()}
    if wrong := given - known.may:
        yield f"{element.tag} has {sorted(wrong)}"
    if lacking := known.must - given:
        yield f"{element.tag} lacks {sorted(lacking)}"
    tags = [child.tag for child in element]
    order = [name for name in known.inside for _ in range(tags.count(name))]
    if tags != order:
        yield f"in {element.tag}: {tags}"
    for name, (least, most) in known.inside.items():
        if not least <= tags.count(name) <= most:
            yield f"in {element.tag}: {tags.count(name)} {name}"
    if known.inside and (element.text or "").strip():
        yield f"text in {element.tag}"
    if element.tag == "testsuite":
        yield from _miscounted(element)
    for name in _COUNTS & given:
        if not re.fullmatch(r"\d+", element.attrib[name]):
            yield f"{name} is {element.attrib[name]}"
    for child in element:
        yield from faults(child)


def _miscounted(suite: ET.Element) -> Iterator[str]:
    counted = {
        "tests": len(suite.findall("testcase")),
        "failures": len(suite.findall("testcase/failure/..")),
        "errors": len(suite.findall("testcase/error/..")),
        "skipped": len(suite.findall("testcase/skipped/..")),
    }
    for name, count in counted.items():
        if suite.get(name) != str(count):
            yield f"{suite.get('name')}: {name} is {suite.get(name)}, counted {count}"
