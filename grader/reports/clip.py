"""Which part of a large array to show: the one around what matters."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from grader.model.report import Panel

Entry = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Clip:
    """Rows and columns that are shown, out of how many."""

    rows: range
    columns: range
    height: int
    width: int

    @property
    def note(self) -> str:
        """What was cut, in words; empty when nothing was."""
        parts = [
            f"{name} {span[0]} to {span[-1]} of {total}"
            for name, span, total in (
                ("rows", self.rows, self.height),
                ("columns", self.columns, self.width),
            )
            if 0 < len(span) < total
        ]
        return ", ".join(parts)


def size(panel: Panel) -> Entry:
    """Rows and columns of a panel."""
    return len(panel.rows), max((len(row) for row in panel.rows), default=0)


def anchors(panel: Panel, panels: Sequence[Panel]) -> Collection[Entry]:
    """The entries a clip of this panel must be around.

    Its focus; else that of a panel of the same size, so that yours and expected show the
    same part; else the wrong entries, by the same rule.
    """
    alike = [panel, *(p for p in panels if size(p) == size(panel))]
    for marks in ([p.focus for p in alike], [p.wrong for p in alike]):
        for found in marks:
            if found:
                return found
    return ()


def clip(panel: Panel, around: Collection[Entry], rows: int, columns: int) -> Clip:
    """At most so many rows and columns of a panel, around the given entries."""
    height, width = size(panel)
    return Clip(
        rows=_span(height, [r for r, _ in around], rows),
        columns=_span(width, [c for _, c in around], columns),
        height=height,
        width=width,
    )


def _span(total: int, around: Sequence[int], most: int) -> range:
    """`most` places out of `total`, centered on those given, or beginning at the first of them."""
    if total <= most:
        return range(total)
    first, last = (min(around), max(around)) if around else (0, 0)
    spread = last - first + 1
    start = first - (most - spread) // 2 if spread <= most else first
    start = min(max(start, 0), total - most)
    return range(start, start + most)
