"""Names that an interface asks a file to define, with their signatures."""

from __future__ import annotations

import re

_FUNCTION = re.compile(r"^def\s+(\w+)\s*(?=\()")
_CLASS = re.compile(r"^class\s+(\w+)")
_METHOD = re.compile(r"^\s+def\s+(\w+)\s*(?=\()")
_CONSTANT = re.compile(r"^([A-Za-z_]\w*)\s*=(?!=)")
_SELF = re.compile(r"^\(self(?:,\s*)?")


def required_signatures(interface: str) -> dict[str, str]:
    """Map each name that an interface asks for to its signature.

    A method is CLASS.METHOD: {"Cache": "class Cache", "Cache.new": "Cache.new(size)"}.  Methods
    such as __init__ are left out, because every class has them.
    """
    signatures = {}
    lines = interface.split("\n")
    owner = ""  # the class of the methods that follow
    for number, line in enumerate(lines):
        if match := _CLASS.match(line):
            owner = match[1]
            signatures[owner] = f"class {owner}"
        elif match := _FUNCTION.match(line):
            owner = ""
            parameters = _parameters("\n".join(lines[number:])[match.end() :])
            signatures[match[1]] = match[1] + parameters
        elif match := _CONSTANT.match(line):
            owner = ""
            signatures[match[1]] = match[1]
        elif owner and (match := _METHOD.match(line)) and not match[1].startswith("__"):
            name = f"{owner}.{match[1]}"
            parameters = _parameters("\n".join(lines[number:])[match.end() :])
            signatures[name] = name + _SELF.sub("(", parameters)
    return signatures


def _parameters(text: str) -> str:
    """Return the parentheses at the start of a text on one line; "(...)" if they never close."""
    depth = 0
    for end, sign in enumerate(text, 1):
        if sign in "([{":
            depth += 1
        elif sign in ")]}":
            depth -= 1
        if depth == 0:
            return " ".join(text[:end].split())
    return "(...)"
