"""What is said of a class, in the terminal and on its page alike."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import UTC, datetime

from grader.model.findings import Asked, Cell, Findings, Group, Held, Same, Standing
from grader.model.numerals import quantity

EQUAL_RULE = (
    "These results are wrong, equal to each other in every failing case, given by no listed idea, "
    "and shared by two to four students from different files. Similar mistakes come up "
    "independently too: it is a reason to look, and says nothing of anybody."
)
SAME_RULE = (
    "These files are equal, byte for byte, and not the starter. A short answer is often equal to "
    "another one by itself."
)
STARTERS = "The starter holds its ideas by design: who hands it in unchanged counts for none."
STOPPED = "Stopped: it raised, ran into a limit or was flagged for review, and no idea is known."
GROUPS_RULE = (
    "Answers that no listed idea gives, together where everything that they compute wrongly is "
    "equal. One feedback serves a whole group: the command makes a new idea of it."
)
COLUMNS = {  # the heads of a table in which each student stands in one column
    Standing.PASSED: "passed",
    Standing.IDEA: "listed idea",
    Standing.EXPLAINED: "explained otherwise",
    Standing.UNEXPLAINED: "not explained",
    Standing.STOPPED: "stopped",
    Standing.STARTER: "starter unchanged",
    Standing.NO_PROGRAM: "no program",
    Standing.NOT_GRADED: "not graded",
    Standing.MISSING: "nothing handed in",
}
SHORT = {
    Standing.PASSED: "pass",
    Standing.NO_PROGRAM: "no program",
    Standing.NOT_GRADED: "not graded",
    Standing.MISSING: "-",
}


def points(value: float) -> str:
    """Points as they are written: whole ones whole."""
    return f"{value:,.2f}".rstrip("0").rstrip(".")


def when(at: str, deadline: str) -> str:
    """A time to the minute as it is where the deadline is, in UTC where there is none."""
    try:
        zone = datetime.fromisoformat(deadline).tzinfo if deadline else UTC
        return f"{datetime.fromisoformat(at).astimezone(zone or UTC):%Y-%m-%d %H:%M}"
    except (ValueError, OverflowError):
        return at


def share(value: float) -> str:
    """A share in whole percent."""
    return f"{round(100 * value)} %"


def cell(one: Cell) -> str:
    """A student's cell: points, verdict, whether it came late."""
    said = SHORT.get(one.standing, one.verdict)
    if one.standing not in {Standing.NOT_GRADED, Standing.MISSING} and one.points is not None:
        said = f"{one.points} {said}"
    return f"{said}, late" if one.late else said


def summary(found: Findings) -> str:
    """The class in a sentence or two."""
    texts = [
        quantity(len(found.students), "student"),
        f"{found.passed} passed {'all questions' if len(found.asked) > 1 else ''}".rstrip(),
    ]
    if found.mean is not None and found.median is not None:
        texts.append(
            f"mean {found.mean:.1f} and median {found.median:.1f} of {points(found.of)} points"
        )
    return " ".join([f"{', '.join(texts)}.", *open_ends(found)])


def open_ends(found: Findings) -> Iterator[str]:
    """What is not known of the class."""
    if left := len(found.students) - found.complete:
        counts = (
            "has something that is not graded yet and counts"
            if left == 1
            else ("have something that is not graded yet and count")
        )
        yield f"{quantity(left, 'student')} {counts} in no average."
    if found.unreadable:
        yield f"{quantity(found.unreadable, 'line')} of the results cannot be read."


def about(found: Findings) -> Iterator[tuple[str, str]]:
    """How the class was graded, as names and values."""
    terms = found.terms
    if terms.deadline:
        yield "deadline", f"{terms.deadline}; what came later is marked and costs nothing"
    yield "times", "with the deadline's offset from UTC" if terms.deadline else "UTC"
    yield "counts", f"the {terms.counts} of what a student handed in for a question"
    yield "seed", f"{terms.seed}, the same for everybody"
    yield "isolation", f"{terms.level} at least"
    yield "drill", terms.program


def parts(idea: Held) -> str:
    """In which parts an idea shows: "part 1: 3, part 2: 1"."""
    return ", ".join(f"part {number}: {count}" for number, count in idea.by_part.items())


def remarks(idea: Held) -> Iterator[str]:
    """What else is to be said of who holds an idea."""
    if idea.shared:
        yield f"{len(idea.shared)} of them: another idea gives the same numbers"
    if idea.unsure:
        yield f"{len(idea.unsure)} more: it fits a part of what is wrong"
    if idea.gone:
        does = "does" if len(idea.gone) == 1 else "do"
        yield f"{len(idea.gone)} more held it before and now {does} right what it gets wrong"


def held_by(idea: Held, asked: Asked) -> str:
    """How many hold an idea, and of whom."""
    return f"{len(idea.students)} of {asked.judged}, {share(idea.share)}"


def new_idea(group: Group, results: str) -> str:
    """The command that makes a listed idea of a group."""
    return (
        f"drill bank new-idea {shlex.quote(group.question)} --from {shlex.quote(results)} "
        f"{shlex.quote(group.handle)} --name NAME"
    )


def same(one: Same) -> str:
    """What equal files come to."""
    return "pass" if one.passes else "do not pass"
