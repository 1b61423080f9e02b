"""The numbers of a question that are drawn: one set of `given`, put into its texts and cases.

A place is `{name}`, `{list[0]}` or arithmetic, `{2 * layers / 1e9:.1f}`, as `size_expr` reads it.
It becomes text, and in cases, where it is the whole of a value, the value itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from grader.bank.yaml_document import DocumentPath, SpecError, one_line
from grader.cases import size_expr
from grader.model.spec import Sets

_PLACE = re.compile(r"\{([^{}:]*)(?::([^{}]*))?\}")
_ENTRY = re.compile(r"\b([a-z_]\w*)\[(\d{1,3})\]")
_FORMAT = re.compile(r",?(\.\d[fg])?")
_AS_THEY_ARE = {"given", "code", "title"}  # a title is read in lists without the rest
_TYPED = {"cases", "defaults", "array"}  # keys below which values are meant, and no texts


class DrawnNumbers:
    """The set that a seed draws; no `sets` where a question has none."""

    def __init__(self, data: Mapping[str, Any], seed: int) -> None:
        """Draw from the parsed data of a spec."""
        self.sets: list[dict[str, Any]] = []
        with suppress(ValidationError):  # which reading the spec says
            self.sets = TypeAdapter(Sets).validate_python(data.get("given", []))
        self.misplaced: list[SpecError] = []  # places that cannot be filled
        self.problems: list[str] = []  # the same in files of programs
        self.number = seed % (len(self.sets) or 1)
        self._drawn: dict[str, Any] = self.sets[self.number] if self.sets else {}
        self._used: set[str] = set()

    def spec_errors(self) -> Iterator[SpecError]:
        """What is wrong with the places and the sets, and names that no text had until now."""
        yield from self.misplaced
        for i, one in enumerate(self.sets):
            if unlike := sorted(one.keys() ^ self.sets[0].keys()):
                yield ("given", i), f"expected the names of the first set, found {unlike[0]} in one"
            elif (first := self.sets.index(one)) < i:
                yield ("given", i), f"expected each set once, found that of given[{first}] again"
        for name in sorted(self._drawn.keys() - self._used):
            yield ("given", 0, name), f"expected {{{name}}} in a text or a case, found it in none"

    def fill_in(self, found: Any, at: DocumentPath = ()) -> Any:  # noqa: ANN401 whatever YAML holds
        """Data with the numbers in place; `at` is the path of its key."""
        if isinstance(found, dict):
            each = {key: self.fill_in(one, (*at, key)) for key, one in found.items()}
            return {self.fill_in(key, (*at, "")): one for key, one in each.items()}
        if isinstance(found, list):
            return [self.fill_in(one, (*at, i)) for i, one in enumerate(found)]
        if not isinstance(found, str) or at[0] in _AS_THEY_ARE:
            return found
        place = _PLACE.fullmatch(found) if self.sets and _TYPED & {*at} else None
        return (
            self._value(place[1], at)
            if place and place[2] is None
            else self.fill_in_text(found, at)
        )

    def fill_in_text(self, text: str, at: DocumentPath | str) -> str:
        """A text with the numbers in place, and the parameters of ideas, {EPS}, where they are.

        It stands `at` a path of keys, or at FILE:LINE.
        """

        def shown(place: re.Match[str]) -> str:
            if place[1].isupper():
                return place[0]
            value, how = self._value(place[1], at), place[2] or ""
            if isinstance(value, list):
                return f"[{', '.join(f'{one:g}' for one in value)}]"
            if not _FORMAT.fullmatch(how) or (how and isinstance(value, str)):
                text = f"expected , or .1f or .3g after the colon of a number, found {place[0]}"
                self._note(at, text)
                return place[0]
            return format(value, how or "g") if how or isinstance(value, float) else str(value)

        return _PLACE.sub(shown, text) if self.sets else text

    def fill_in_answers(self, source: bytes, file: Path) -> bytes:
        """Right answers, whose lines are those of a file, with the numbers in place."""
        lines = source.decode("utf-8", "surrogateescape").split("\n")
        filled = (
            self.fill_in_text(line, f"{file}:{number}") for number, line in enumerate(lines, 1)
        )
        return "\n".join(filled).encode("utf-8", "surrogateescape")

    def _note(self, at: DocumentPath | str, text: str) -> None:
        """Note what is wrong with a place."""
        if isinstance(at, str):
            self.problems.append(one_line(f"{at}:1: {text}"))
        else:
            self.misplaced.append((at, text))

    def _value(self, place: str, at: DocumentPath | str) -> Any:  # noqa: ANN401
        """What stands in a place: a value of the set, or the result of arithmetic."""
        self._used |= {*re.findall(r"[A-Za-z_]\w*", place)}
        if place in self._drawn:
            return self._drawn[place]
        try:
            words = _ENTRY.sub(lambda one: f"({self._drawn[one[1]][int(one[2])]!r})", place)
            value = size_expr.evaluate_amount(words, self._drawn)
        except (size_expr.AmountError, LookupError, TypeError):
            names = ", ".join(self._drawn)
            text = f"expected arithmetic over names of given ({names}), found {{{place}}}"
            self._note(at, text)
            return 0
        return int(value) if value.is_integer() and abs(value) < 1e15 else value
