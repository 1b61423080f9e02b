"""What a command knows of a grade besides its report, for the page."""

from __future__ import annotations

from dataclasses import dataclass

from grader.model.numerals import quantity


@dataclass(frozen=True, slots=True)
class Request:
    """The next part of a question, which is asked when the one before it passes."""

    number: int  # from 1
    of: int
    minutes: int
    points: int
    prompt: str  # the interviewer's words
    clauses: tuple[str, ...] = ()
    first: int = 1  # the number of the first clause
    questions: int = 0  # to be answered by choosing

    @property
    def headline(self) -> str:
        """What is asked, and how much there is to earn."""
        time, points = quantity(self.minutes, "minute"), quantity(self.points, "point")
        return f"Part {self.number} of {self.of}, {time}, {points}. The interviewer:"

    @property
    def in_force(self) -> str:
        """Which parts hold from now on."""
        before = f"Parts 1 to {self.number - 1} stay" if self.number > 2 else "Part 1 stays"
        holds = f"part {self.number}"
        if self.questions:
            holds += f" and {quantity(self.questions, 'question')} to choose an answer to"
        return f"{before} in force. QUESTION.md now holds {holds}."


@dataclass(frozen=True, slots=True)
class Around:
    """Where a page is shown, what stands on it besides the report, and how much of it.

    Its texts are the command's own; those that come from elsewhere are made harmless on the page.
    """

    file: str = "submission.py"  # as it is called from the current folder
    tries: int = 0  # of one's own, with this one; 0 where it counts as none
    time: str = ""  # of a pass: "14 minutes (15 planned)"
    everything: str = "drill grade --full"  # the command that shows what is left out
    steps: tuple[str, ...] = ()  # commands to go on with
    request: Request | None = None  # a part that passes for the first time leads to this one
    full: bool = False  # everything, however long
    explain: bool = False  # an untouched starter too
    plain: bool = False  # a fact per line, without columns, bars and marks
