"""Distributions of a class: points, seconds, and when things were handed in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from statistics import median

from grader.model.findings import Count, Spread
from grader.model.numerals import duration, number, quantity

MOST = 10  # intervals of time, and bars of shares
_DAY = timedelta(days=1)
_SECONDS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120)
_HOURS = (  # before the deadline, and after it
    (-7 * 24.0, "more than a week before"), (-72.0, "3 to 7 days before"),
    (-24.0, "1 to 3 days before"), (-6.0, "6 to 24 hours before"), (-1.0, "1 to 6 hours before"),
    (0.0, "in the last hour"), (1.0, "up to an hour late"), (24.0, "1 to 24 hours late"),
)  # fmt: skip
_LATEST = "more than a day late"
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def moment(text: str) -> datetime | None:
    """Read a time; UTC where it has no offset, None where it is none.

    Clocks and archives that know no time say 1970 or 1980.
    """
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    if not 2000 <= found.year < 3000:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Intervals:
    """The time from the first hand-in to the last, in days or in equal parts."""

    start: datetime
    step: timedelta
    labels: tuple[str, ...]

    def of(self, at: datetime) -> int:
        """Return in which one a time lies."""
        if len(self.labels) < 2:
            return 0
        return min(max((at - self.start) // self.step, 0), len(self.labels) - 1)


def intervals(times: Iterable[datetime], deadline: str) -> Intervals | None:
    """Return days, where there are two to ten of them, else up to ten equal parts.

    Days are those of the deadline's offset, of UTC where there is none.
    """
    times = list(times)
    if not times:
        return None
    end = moment(deadline)
    zone: tzinfo | None = end.tzinfo if end is not None else UTC
    first, last = min(times).astimezone(zone), max(times).astimezone(zone)
    days = (last.date() - first.date()).days + 1
    if 2 <= days <= MOST:
        midnight = first.replace(hour=0, minute=0, second=0, microsecond=0)
        return Intervals(midnight, _DAY, tuple(_day(midnight + n * _DAY) for n in range(days)))
    if last - first < timedelta(minutes=MOST):
        return Intervals(first, _DAY, (f"{_day(first)} {first:%H:%M}",))
    step = (last - first) / MOST
    starts = [first + n * step for n in range(MOST)]
    hours = step < 3 * _DAY
    return Intervals(
        first, step, tuple(f"{_day(at)} {at:%H:%M}" if hours else _day(at) for at in starts)
    )


def _day(at: datetime) -> str:
    return f"{_MONTHS[at.month - 1]} {at.day}"


def shares(title: str, values: Sequence[float], note: str = "") -> Spread:
    """Return how many shares (0 to 1) lie in each tenth, and how many are whole."""
    if not values:
        return Spread(title, ())
    found = Counter(MOST if value >= 1 else int(value * MOST + 1e-9) for value in values)
    width = 100 // MOST
    labels = [f"{n * width} to {(n + 1) * width} %" for n in range(MOST)]
    return Spread(title, tuple(Count(s, found[n]) for n, s in enumerate([*labels, "100 %"])), note)


def points(title: str, values: Sequence[int], of: int) -> Spread:
    """Return how many have each number of points, in tenths where there are many numbers."""
    if not values:
        return Spread(title, ())
    found = Counter(values)
    if len(found) > MOST + 1:
        return shares(title, [value / of if of else 0.0 for value in values])
    every = sorted({0, of, *found})
    return Spread(title, tuple(Count(number(value), found[value]) for value in every))


def seconds(title: str, values: Sequence[float]) -> Spread:
    """Return how many grades took how long."""
    if not values:
        return Spread(title, ())
    found = Counter(
        next((n for n, s in enumerate(_SECONDS) if v < s), len(_SECONDS)) for v in values
    )
    edges = [f"under {number(s, 1)} s" for s in _SECONDS]
    labels = [*edges, f"{_SECONDS[-1]} s and more"]
    ordered = sorted(values)
    late = ordered[min(int(0.95 * len(ordered)), len(ordered) - 1)]
    note = (
        f"median {duration(median(ordered))}, 95 of 100 under {duration(late)}, "
        f"the longest {duration(ordered[-1])}, together {duration(sum(ordered))}"
    )
    return Spread(title, _trimmed(Count(s, found[n]) for n, s in enumerate(labels)), note)


def against(
    title: str, times: Sequence[datetime], deadline: str, parts: Intervals | None
) -> Spread:
    """Return when things were handed in: against the deadline, or over time if there is none."""
    end = moment(deadline)
    if end is None:
        if parts is None:
            return Spread(title, ())
        counted = Counter(map(parts.of, times))
        return Spread(title, tuple(Count(s, counted[n]) for n, s in enumerate(parts.labels)))
    hours = [(at - end).total_seconds() / 3600 for at in times]
    found = Counter(
        next((n for n, (most, _) in enumerate(_HOURS) if hour <= most), len(_HOURS))
        for hour in hours
    )
    bars = [Count(s, found[n]) for n, (_, s) in enumerate(_HOURS)]
    late = sum(hour > 0 for hour in hours)
    note = f"deadline {deadline}; {quantity(late, 'file')} late" if times else ""
    return Spread(title, _trimmed([*bars, Count(_LATEST, found[len(_HOURS)])]), note)


def _trimmed(counts: Iterable[Count]) -> tuple[Count, ...]:
    """Bars without the empty ones at both ends."""
    bars = list(counts)
    while bars and not bars[-1].count:
        bars.pop()
    while bars and not bars[0].count:
        del bars[0]
    return tuple(bars)
