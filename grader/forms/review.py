"""Form `review`: a diff; the candidate lists wrong lines with reasons, and approves or not."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from grader.forms.base import (
    Form,
    Material,
    UnreadableAnswer,
    UnreadLines,
    comment_lines,
    intended_word,
    raise_or_collect,
    read_answers,
)
from grader.model.errors import SpecErrors, did_you_mean
from grader.model.question import Question
from grader.model.spec import Spec

APPROVE = "approve"


class ReviewForm(Form):
    """A file of lines such as `13 = off-by-one`, and `approve = no`.

    The program is one function without arguments, which returns them as a dict of strings.
    """

    def starter(self, spec: Spec) -> bytes:
        """Return a file with the reasons to choose from as comments, and `approve = ?`."""
        lines = ["# For each line of the diff that is wrong: its number = the reason, one of"]
        for name, text in spec.reasons.items():
            lines += comment_lines(f"{name}: {text}", "    ")
        lines += ["", "# yes or no", f"{APPROVE} = ?", ""]
        return "\n".join(lines).encode()

    def materials(self, spec: Spec) -> Iterator[Material]:
        """Yield the diff with line numbers, and the reasons to choose from."""
        lines = spec.diff.splitlines()
        width = len(str(len(lines)))
        numbered = [f"{number:>{width}}  {line}".rstrip() for number, line in enumerate(lines, 1)]
        yield Material("Diff", "\n".join(numbered), "diff")
        yield Material("Reasons", rows=tuple(spec.reasons.items()))

    def reference(self, spec: Spec) -> bytes:
        """Return the program of a review that lists every fault at its first line."""
        review = {
            str(fault.lines[0]): fault.reason
            for check in spec.checks
            for fault in getattr(check, "wrong", ())
        }
        review[APPROVE] = "no"
        return _program(review, spec)

    def program(
        self, text: bytes, question: Question, unread: UnreadLines = None, *, literal: bool = False
    ) -> bytes:
        """Return a program with one function that returns the review; b"" if it is empty."""
        spec = question.spec
        marks = line_marks(spec.diff)
        words = [*spec.reasons, "yes", "no"]
        reasons = ", ".join(spec.reasons)
        written = read_answers(
            text,
            [APPROVE, *(str(number) for number, _ in enumerate(marks, 1))],
            needed=[APPROVE],
            expected=f"LINE = REASON (lines: 1 to {len(marks)}; reasons: {reasons})",
            unread=unread,
            literal=literal,
            words=words,
        )
        review: dict[str, str] = {}
        faults: list[UnreadableAnswer] = []
        for name, answer in written.items():
            value = answer.value
            if not literal:
                value = intended_word(value, words)
            with answer.collect_errors(faults=faults):
                if name == APPROVE:
                    if value not in {"yes", "no"}:
                        raise UnreadableAnswer(f"{APPROVE}: expected yes or no, found {value[:40]}")
                elif value not in spec.reasons:
                    raise UnreadableAnswer(f"{value[:40]} is no reason; reasons are {reasons}")
                elif marks[int(name) - 1] == "-":
                    raise UnreadableAnswer(f"line {name} was removed and cannot be wrong any more")
                review[name] = value
        raise_or_collect(faults, unread)
        if APPROVE not in review and unread is None:
            raise UnreadableAnswer(f"{APPROVE} has no answer yet; write {APPROVE} = yes or no")
        return _program(review, spec) if review else b""

    def spec_errors(self, spec: Spec) -> SpecErrors:
        """Yield a missing diff or findings check, and findings with an unknown reason or line."""
        marks = line_marks(spec.diff)
        if not spec.diff or not spec.reasons:
            yield ("form",), "expected diff and reasons, which a review is about"
        faults = [
            (check.id, fault) for check in spec.checks for fault in getattr(check, "wrong", ())
        ]
        if not faults:
            yield ("form",), "expected a check of kind findings, which says what is wrong"
        for check, fault in faults:
            if fault.reason not in spec.reasons:
                near = did_you_mean(fault.reason, list(spec.reasons))
                yield ("reasons",), f"expected {fault.reason} of {check}{near}"
            for line in fault.lines:
                if not 1 <= line <= len(marks) or marks[line - 1] == "-":
                    yield ("diff",), f"expected a line {line}, which {check} calls wrong"


def line_marks(diff: str) -> list[str]:
    """Return the mark of every line of a diff: " ", "+" or "-"."""
    return [line[:1] or " " for line in diff.splitlines()]


def _program(review: Mapping[str, str], spec: Spec) -> bytes:
    """Return the program of a review: the function that the spec's first step calls."""
    first_step = next(iter(spec.runs.values()))[0]
    function = first_step.partition("=")[2].partition("(")[0].strip()
    return f"def {function}():\n    return {json.dumps(review)}\n".encode()
