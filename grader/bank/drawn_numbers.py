"""Draw a set of numbers from `given`, and fill it into the texts and cases of a question.

The key `given` of a spec is a list of sets with the same names: `{layers: 12, width: 768}`.
A *placeholder* is `{name}`, `{list[0]}` or arithmetic, `{2 * layers / 1e9:.1f}`, which
`cases.amounts` reads.  It becomes text.  If it is the whole value of a key in a case, it becomes a
number, or another value of the set, instead of text.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from grader.bank.yaml_document import one_line
from grader.cases.amounts import AmountError, evaluate_amount
from grader.model.errors import KeyPath, SpecError, SpecErrors
from grader.model.spec import Sets

_PLACEHOLDER = re.compile(r"\{([^{}:]*)(?::([^{}]*))?\}")
_ENTRY = re.compile(r"\b([a-z_]\w*)\[(\d{1,3})\]")
_FORMAT = re.compile(r",?(\.\d[fg])?")
_UNFILLED = {"given", "code", "title"}  # a title is read in lists without the rest
_TYPED = {"cases", "defaults", "array"}  # keys below which values are numbers, not texts
_MAX_INTEGER = 1e15  # larger results of arithmetic are floats


class DrawnNumbers:
    """The set of numbers that a seed draws; without `given`, `sets` is empty."""

    def __init__(self, data: Mapping[str, Any], seed: int) -> None:
        """Draw from the parsed data of a spec."""
        self.sets: list[dict[str, Any]] = []
        with suppress(ValidationError):  # reading the spec reports it
            self.sets = TypeAdapter(Sets).validate_python(data.get("given", []))
        self.misplaced: list[SpecError] = []  # placeholders of the spec that cannot be filled
        self.problems: list[str] = []  # the same in files of programs
        self.set_index = 0
        self._drawn: dict[str, Any] = {}
        if self.sets:
            self.set_index = seed % len(self.sets)
            self._drawn = self.sets[self.set_index]
        self._used: set[str] = set()

    def spec_errors(self) -> SpecErrors:
        """Yield wrong placeholders and sets, and names without a placeholder.

        Call it after everything is filled in: until then, names may seem to be without one.
        """
        yield from self.misplaced
        for i, numbers in enumerate(self.sets):
            unlike = sorted(numbers.keys() ^ self.sets[0].keys())
            first = self.sets.index(numbers)
            if unlike:
                yield ("given", i), f"expected the names of the first set, found {unlike[0]} in one"
            elif first < i:
                yield ("given", i), f"expected each set once, found that of given[{first}] again"
        for name in sorted(self._drawn.keys() - self._used):
            yield ("given", 0, name), f"expected {{{name}}} in a text or a case, found it in none"

    def fill_in(self, data: Any, path: KeyPath = ()) -> Any:  # noqa: ANN401 any YAML value
        """Return data with the numbers filled in; `path` is the place of the data in the spec."""
        if isinstance(data, dict):
            return {
                self.fill_in(key, (*path, "")): self.fill_in(value, (*path, key))
                for key, value in data.items()
            }
        if isinstance(data, list):
            return [self.fill_in(entry, (*path, i)) for i, entry in enumerate(data)]
        if not isinstance(data, str) or path[0] in _UNFILLED:
            return data
        if self.sets and not _TYPED.isdisjoint(path):
            placeholder = _PLACEHOLDER.fullmatch(data)
            if placeholder and placeholder[2] is None:
                return self._value(placeholder[1], path)
        return self.fill_in_text(data, path)

    def fill_in_text(self, text: str, place: KeyPath | str) -> str:
        """Return a text with the numbers filled in.

        Parameters of ideas, such as {EPS}, are left as they are.  The place, for errors, is a path
        of keys, or FILE:LINE.
        """
        if not self.sets:
            return text
        return _PLACEHOLDER.sub(lambda match: self._text_of(match, place), text)

    def _text_of(self, match: re.Match[str], place: KeyPath | str) -> str:
        """Return the text for a placeholder.

        A parameter of an idea, such as {EPS}, and a faulty format stay as they are.
        """
        if match[1].isupper():
            return match[0]
        value = self._value(match[1], place)
        if isinstance(value, list):
            return f"[{', '.join(f'{number:g}' for number in value)}]"
        number_format = match[2] or ""
        if not _FORMAT.fullmatch(number_format) or (number_format and isinstance(value, str)):
            text = f"expected , or .1f or .3g after the colon of a number, found {match[0]}"
            self._add_error(place, text)
            return match[0]
        if number_format or isinstance(value, float):
            return format(value, number_format or "g")
        return str(value)

    def fill_in_answers(self, source: bytes, file: Path) -> bytes:
        """Return right answers with the numbers filled in; errors name the line in `file`."""
        lines = source.decode("utf-8", "surrogateescape").split("\n")
        filled = [
            self.fill_in_text(line, f"{file}:{number}") for number, line in enumerate(lines, 1)
        ]
        return "\n".join(filled).encode("utf-8", "surrogateescape")

    def _add_error(self, place: KeyPath | str, text: str) -> None:
        """Store the fault of a placeholder, by place: FILE:LINE, or a path of keys in the spec."""
        if isinstance(place, str):
            self.problems.append(one_line(f"{place}:1: {text}"))
        else:
            self.misplaced.append((place, text))

    def _value(self, expression: str, place: KeyPath | str) -> Any:  # noqa: ANN401
        """Return the value of a placeholder: an entry of the set, or the result of arithmetic.

        If it cannot be computed, store the fault and return 0.
        """
        self._used.update(re.findall(r"[A-Za-z_]\w*", expression))
        if expression in self._drawn:
            return self._drawn[expression]
        try:
            without_entries = _ENTRY.sub(self._entry_as_number, expression)
            value = evaluate_amount(without_entries, self._drawn)
        except (AmountError, LookupError, TypeError):
            names = ", ".join(self._drawn)
            text = f"expected arithmetic over names of given ({names}), found {{{expression}}}"
            self._add_error(place, text)
            return 0
        return int(value) if value.is_integer() and abs(value) < _MAX_INTEGER else value

    def _entry_as_number(self, match: re.Match[str]) -> str:
        """Return the value of `list[0]` in parentheses, because arithmetic has no lists."""
        return f"({self._drawn[match[1]][int(match[2])]!r})"
