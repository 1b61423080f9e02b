"""A class in the terminal: who passed what, which ideas it holds, what nobody has explained."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from grader.model.findings import Asked, Findings, Held, Spread, Standing
from grader.model.numerals import quantity
from grader.reports import class_words as words
from grader.reports.inert import inert
from grader.reports.sheet import Line, bold, cells, columns, cut, padded, wrapped

_BAR = 24  # cells of the longest one
_NAMES = 8  # students of a group that are named
_NAME = 28  # cells of a name
_LINE = 1000


def class_lines(
    found: Findings, *, width: int, window: int, results: str, plain: bool = False
) -> list[Line]:
    """Everything that follows from a class, as lines.

    Args:
        found: what follows.
        width: cells of a line of prose.
        window: cells of a row of the table of students, where it can be as narrow.
        results: the folder of results, as it is typed in commands.
        plain: a fact per line, without columns and bars.
    """
    lines: list[Line] = [bold(inert(found.terms.title) or "A class")]
    lines += wrapped(words.summary(found), width)
    for name, value in words.about(found):
        lines += wrapped(f"{name}: {inert(value)}", width, indent="    ")
    lines += ["", *_students(found, window, plain=plain)]
    for asked in found.asked:
        lines += ["", *_question(found, asked, width, results, plain=plain)]
    for spread in (found.scores, found.seconds, found.times):
        if spread.counts:
            lines += ["", *_spread(spread, width, plain=plain)]
    return lines


def _students(found: Findings, window: int, *, plain: bool) -> list[Line]:
    """A row for each student; where that is too wide, questions are numbers and late is a mark."""
    whole = _table(found, [one.posed.id for one in found.asked], plain=plain)
    if plain or all(_across(line) <= window for line in whole):
        return whole
    key = [f"`{n} {inert(one.posed.id)}`" for n, one in enumerate(found.asked, 1)]
    late = any(cell.late for student in found.students for cell in student.cells)
    lines = _unbroken(", ".join(key) + ("; * late" if late else ""), window)
    return [*lines, *_table(found, [str(n + 1) for n, _ in enumerate(found.asked)], short=True)]


def _table(
    found: Findings, questions: Sequence[str], *, plain: bool = False, short: bool = False
) -> list[Line]:
    head = ("student", "name", *questions, "points")
    rows = []
    for student in found.students:
        points = f"{words.points(student.so_far)} of {words.points(found.of)}"
        said = [words.cell(cell) for cell in student.cells]
        rows.append((
            _name(student.id),
            "" if short else _name(student.name),
            *(one.replace(", late", "*") if short else one for one in said),
            points if student.points is not None else f"{points} so far",
        ))  # fmt: skip
    return columns(head, rows, plain=plain)


def _unbroken(text: str, width: int, *, first: str = "") -> list[str]:
    """Lines that are not broken between backticks, without these."""
    return [line.replace("`", "") for line in wrapped(text, width, first=first)]


def _across(line: Line) -> int:
    return cells(line if isinstance(line, str) else "".join(text for text, _ in line))


def _question(
    found: Findings, asked: Asked, width: int, results: str, *, plain: bool
) -> Iterator[Line]:
    yield bold(inert(asked.posed.id), f"  {inert(asked.posed.title)}")
    stands = [(str(one), count) for one, count in asked.standings.items() if count]
    yield from _bars(stands, plain=plain)
    yield ""
    if asked.ideas:
        yield bold("Ideas that the class holds", f", of {quantity(asked.judged, 'student')}")
        if asked.standings.get(Standing.STARTER):
            yield from wrapped(words.STARTERS, width, first="  ")
        across = max(cells(inert(idea.id)) for idea in asked.ideas)
        for idea in asked.ideas:
            bar = (
                ""
                if plain
                else padded("#" * _length(len(idea.students), asked.judged), _BAR) + "  "
            )
            facts = ", ".join(filter(None, (words.held_by(idea, asked), words.parts(idea))))
            yield f"  {padded(inert(idea.id), across)}  {bar}{facts}"
            yield from _about_idea(found, asked, idea, width)
    else:
        yield bold("No listed idea shows.")
    yield from _groups(asked, width, results)
    yield from _alike(asked, width)
    if asked.points.counts:
        yield ""
        yield bold("Points")
        yield from _bars([(one.label, one.count) for one in asked.points.counts], plain=plain)


def _about_idea(found: Findings, asked: Asked, idea: Held, width: int) -> Iterator[Line]:
    for line in idea.lines[:1]:
        yield from wrapped(inert(line, _LINE), width, first="      ")
    for remark in words.remarks(idea):
        yield from wrapped(remark, width, first="      ")
    if sum(idea.over_time) and len(found.intervals) > 1:
        counts = zip(found.intervals, idea.over_time, asked.handed_in, strict=True)
        text = ", ".join(f"`{at}` {held} of {of}" for at, held, of in counts if held)
        yield from _unbroken(f"over time, hand-ins that hold it: {text}", width, first="      ")


def _groups(asked: Asked, width: int, results: str) -> Iterator[Line]:
    if not asked.groups:
        return
    yield ""
    yield bold("Equal answers that no listed idea gives")
    several = [group for group in asked.groups if len(group.students) > 1]
    for group in several:
        yield f"  {inert(group.name)}  {inert(group.handle)}  {_people(group.students, width)}"
        yield from wrapped(inert(group.sentence, _LINE), width, first="      ")
        for text in group.also[:2]:
            yield from wrapped(inert(text, _LINE), width, first="      ")
        yield f"      {words.new_idea(group, results)}"
    if single := len(asked.groups) - len(several):
        more = "more " if several else ""
        yield f"  {quantity(single, f'{more}answer', f'{more}answers')} that nobody shares"


def _alike(asked: Asked, width: int) -> Iterator[Line]:
    if asked.rare:
        yield ""
        yield bold("Equal unusual results, for a person to look at")
        yield from wrapped(words.EQUAL_RULE, width, first="  ")
        for group in asked.rare:
            yield f"  {inert(group.handle)}  {_people(group.students, width)}"
    if asked.same:
        yield ""
        yield bold("Identical files, for a person to look at")
        yield from wrapped(words.SAME_RULE, width, first="  ")
        for one in asked.same:
            yield f"  {one.sha256[:8]}  {words.same(one)}  {_people(one.students, width)}"


def _people(students: Sequence[str], width: int) -> str:
    """How many, and the first of them."""
    named = ", ".join(map(_name, students[:_NAMES]))
    more = ", ..." if len(students) > _NAMES else ""
    return f"{quantity(len(students), 'student')}: {cut(named, max(width - 20, 20))}{more}"


def _name(text: str) -> str:
    return cut(inert(text), _NAME)


def _spread(spread: Spread, width: int, *, plain: bool) -> Iterator[Line]:
    yield bold(spread.title)
    yield from _bars([(one.label, one.count) for one in spread.counts], plain=plain)
    if spread.note:
        yield from wrapped(spread.note, width, first="  ")


def _bars(counts: Sequence[tuple[str, int]], *, plain: bool) -> Iterator[Line]:
    """A bar for each count, the largest filling the room there is."""
    if plain:
        yield from (f"{label}: {count}" for label, count in counts)
        return
    most = max((count for _, count in counts), default=0)
    across = max((cells(label) for label, _ in counts), default=0)
    right = len(f"{most:,}")
    for label, count in counts:
        bar = "#" * _length(count, most)
        yield f"  {padded(label, across)}  {count:>{right},}  {bar}".rstrip()


def _length(count: int, most: int) -> int:
    """Cells of a bar: one at least for anything above zero."""
    return max(1, round(_BAR * count / most)) if count else 0
