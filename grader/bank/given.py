"""The numbers of a question that are drawn: one set of `given`, put into its texts and cases.

A place is `{name}`, `{list[0]}` or arithmetic, `{2 * layers / 1e9:.1f}`, as `size_expr` reads it.
It becomes text, and in cases, where it is the whole of a value, the value itself.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from grader.bank.document import Fault, Keys
from grader.cases import size_expr
from grader.model.errors import did_you_mean

_PLACE = re.compile(r"\{([^{}:]*)(?::([^{}]*))?\}")
_ENTRY = re.compile(r"\b([a-z_]\w*)\[(\d{1,3})\]")
_FORMAT = re.compile(r",?(\.\d[fg])?")
_PARAMETER = re.compile(r"[A-Z][A-Z0-9_]*")  # of an idea, in its feedback
_AS_THEY_ARE = {"given", "code", "title", "run"}  # a title is read in lists without the rest
_FORMS = {"estimate", "predict"}
_TYPED = {"cases", "defaults", "array"}  # keys below which values are meant, and no texts
_MOST_EXACT = 1e15


class Given:
    """The set that a seed draws, and what is wrong with the sets and the places."""

    def __init__(self, data: Mapping[str, Any], seed: int) -> None:
        """Draw from the parsed data of a spec, which has no sets where nothing is drawn."""
        sets = data.get("given") if data.get("form") in _FORMS else None
        known = isinstance(sets, list) and all(isinstance(one, dict) for one in sets)
        self._sets: list[dict[str, Any]] = list(sets or ()) if known else []
        self.number = seed % (len(self._sets) or 1)
        self._numbers = self._sets[self.number] if self._sets else {}
        self._used: set[str] = set()

    @property
    def is_drawn(self) -> bool:
        """Whether there are numbers to draw."""
        return bool(self._sets)

    def faults(self) -> Iterator[Fault]:
        """Sets that are not like the first one, or are there twice."""
        for i, one in enumerate(self._sets):
            if unlike := sorted(one.keys() ^ self._sets[0].keys()):
                yield ("given", i), f"expected the names of the first set, found {unlike[0]} in one"
            elif (first := self._sets.index(one)) < i:
                yield ("given", i), f"expected each set once, found that of given[{first}] again"

    def unused(self) -> Iterator[Fault]:
        """Names that no place has, once every text was filled."""
        for name in sorted(self._numbers.keys() - self._used):
            yield ("given", 0, name), f"expected a place {{{name}}} in a text or a case, found none"

    def filled(self, data: Mapping[str, Any], note: Callable[[Keys, str], None]) -> dict[str, Any]:
        """The data with the numbers in place; what is wrong is noted with the path of its key."""

        def fill(found: Any, at: Keys) -> Any:  # noqa: ANN401 - whatever YAML holds
            match found:
                case str():
                    place = _PLACE.fullmatch(found)
                    if place and place[2] is None and _TYPED & {*at}:
                        return self._value(place[1], lambda text: note(at, text))
                    return self.text(found, lambda text: note(at, text))
                case list():
                    return [fill(one, (*at, i)) for i, one in enumerate(found)]
                case dict():
                    return {fill(k, (*at, "")): fill(v, (*at, k)) for k, v in found.items()}
            return found

        kept = {k: v for k, v in data.items() if k in _AS_THEY_ARE or not self._sets}
        return {k: kept[k] if k in kept else fill(v, (k,)) for k, v in data.items()}

    def text(self, text: str, note: Callable[[str], None]) -> str:
        """A text with the numbers in place, and the parameters of ideas left where they are."""

        def shown(place: re.Match[str]) -> str:
            if _PARAMETER.fullmatch(place[1]):
                return place[0]
            value, how = self._value(place[1], note), place[2] or ""
            if isinstance(value, list):
                return f"[{', '.join(f'{one:g}' for one in value)}]"
            if isinstance(value, str) or not _FORMAT.fullmatch(how):
                if how:
                    note(f"expected , or .1f or .3g after the colon of a number, found {place[0]}")
                return str(value)
            return format(value, how or ("g" if isinstance(value, float) else ""))

        return _PLACE.sub(shown, text) if self._sets else text

    def _value(self, place: str, note: Callable[[str], None]) -> Any:  # noqa: ANN401
        """What stands in a place: a value of the set, or the result of arithmetic."""
        if place in self._numbers:
            self._used.add(place)
            return self._numbers[place]

        def entry(found: re.Match[str]) -> str:
            self._used.add(found[1])
            return f"({self._numbers[found[1]][int(found[2])]!r})"

        try:
            words = _ENTRY.sub(entry, place)
            self._used |= size_expr.names(words)
            value = size_expr.value(words, self._numbers)
        except (size_expr.AmountError, LookupError, TypeError):
            unknown = [n for n in re.findall(r"[A-Za-z_]\w*", place) if n not in self._numbers]
            near = "".join(did_you_mean(name, self._numbers) for name in unknown[:1])
            note(f"expected arithmetic over names of given, found {{{place}}}{near}")
            return 0
        return int(value) if value.is_integer() and abs(value) < _MOST_EXACT else value
