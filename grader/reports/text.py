"""Text in spans of one style each, cell by cell: what the lines of a page are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Self

from grader.reports.sheet import Spans, cells

Part = str | tuple[str, str]  # a text, or one with its style: SGR, or '' for none


class Text:
    """A line that grows at its end."""

    def __init__(self, text: str = "", style: str = "") -> None:
        """Begin with one span."""
        self._spans: list[tuple[str, str]] = [(text, style)] if text else []

    @classmethod
    def assemble(cls, *parts: Part) -> Text:
        """Put spans one after another."""
        made = cls()
        for part in parts:
            made.append(*(part if isinstance(part, tuple) else (part,)))
        return made

    @property
    def plain(self) -> str:
        """What it says."""
        return "".join(text for text, _ in self._spans)

    @property
    def cell_len(self) -> int:
        """The columns that it takes."""
        return cells(self.plain)

    @property
    def spans(self) -> Spans:
        """The same for who writes it."""
        return tuple(self._spans)

    def append(self, text: str, style: str = "") -> Self:
        """Go on in a style."""
        if text:
            self._spans.append((text, style))
        return self

    def append_text(self, other: Text) -> Self:
        """Go on with another one."""
        self._spans += other._spans
        return self

    def rstrip(self) -> None:
        """Take the blanks at the end away."""
        while self._spans:
            text, style = self._spans.pop()
            if kept := text.rstrip():
                self._spans.append((kept, style))
                return

    def stylize(self, style: str, start: int, end: int) -> None:
        """Give some characters another style."""
        whole: list[tuple[str, str]] = []
        at = 0
        for text, old in self._spans:
            first, last = (min(max(edge - at, 0), len(text)) for edge in (start, end))
            whole += [(text[:first], old), (text[first:last], style), (text[last:], old)]
            at += len(text)
        self._spans = [(text, old) for text, old in whole if text]


def chopped(text: str, width: int) -> list[str]:
    """A text in pieces of at most `width` cells, one character in each at least."""
    pieces, current = [], ""
    for char in text:
        if current and cells(current + char) > width:
            pieces.append(current)
            current = ""
        current += char
    return [*pieces, current]


def plain(lines: Iterable[Text] | Sequence[Text]) -> str:
    """What lines say, each with its end."""
    return "".join(f"{line.plain.rstrip(' ')}\n" for line in lines)
