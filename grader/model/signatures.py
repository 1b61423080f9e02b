"""Names that an interface asks a file to define, with their signatures."""

from __future__ import annotations

import re
from collections.abc import Iterator

_FUNCTION = re.compile(r"^def\s+(\w+)\s*(?=\()")
_CLASS = re.compile(r"^class\s+(\w+)")
_METHOD = re.compile(r"^\s+def\s+(\w+)\s*(?=\()")
_CONSTANT = re.compile(r"^([A-Za-z_]\w*)\s*=(?!=)")
_SELF = re.compile(r"^\(self(?:,\s*)?")


def required_signatures(interface: str) -> dict[str, str]:
    """Map each name that an interface asks for to its signature.

    A method is called CLASS.METHOD: {"Cache": "class Cache", "Cache.new": "Cache.new(size)"}.
    Methods as __init__, which every class has, are left out.
    """
    return dict(_names(interface))


def _names(interface: str) -> Iterator[tuple[str, str]]:
    lines, owner = interface.split("\n"), ""
    for number, line in enumerate(lines):
        if found := _CLASS.match(line):
            owner = found[1]
            yield owner, f"class {owner}"
        elif found := _FUNCTION.match(line):
            owner = ""
            yield found[1], found[1] + _parameters("\n".join(lines[number:])[found.end() :])
        elif found := _CONSTANT.match(line):
            owner = ""
            yield found[1], found[1]
        elif owner and (found := _METHOD.match(line)) and not found[1].startswith("__"):
            name = f"{owner}.{found[1]}"
            given = _parameters("\n".join(lines[number:])[found.end() :])
            yield name, name + _SELF.sub("(", given)


def _parameters(text: str) -> str:
    """Return the parenthesis that a text begins with, on one line."""
    depth = 0
    for end, sign in enumerate(text, 1):
        depth += (sign in "([{") - (sign in ")]}")
        if depth == 0:
            return " ".join(text[:end].split())
    return "(...)"
