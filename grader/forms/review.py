"""Form `review`: a diff; the lines that are wrong, each with a reason, and whether to approve."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from grader.forms.base import (
    Form,
    Material,
    UnreadableAnswer,
    UnreadLines,
    as_word,
    comment_lines,
    raise_or_collect,
    read_answers,
)
from grader.model.errors import did_you_mean
from grader.model.question import Question
from grader.model.spec import KeyPath, Spec

APPROVE = "approve"


class ReviewForm(Form):
    """A function of no arguments gives the dict of what was written: a reason by line, approve."""

    def starter(self, spec: Spec) -> bytes:
        """The reasons to choose from, and nothing answered."""
        reasons = [
            line
            for name, text in spec.reasons.items()
            for line in comment_lines(f"{name}: {text}", "    ")
        ]
        head = "# For each line of the diff that is wrong: its number = the reason, one of"
        return "\n".join([head, *reasons, "", "# yes or no", f"{APPROVE} = ?", ""]).encode()

    def materials(self, spec: Spec) -> Iterator[Material]:
        """The diff, its lines numbered, and the reasons to choose from."""
        lines = spec.diff.splitlines()
        width = len(str(len(lines)))
        shown = (f"{number:>{width}}  {line}".rstrip() for number, line in enumerate(lines, 1))
        yield Material("Diff", "\n".join(shown), "diff")
        yield Material("Reasons", rows=tuple(spec.reasons.items()))

    def reference(self, spec: Spec) -> bytes:
        """Every fault at its first line."""
        faults = (fault for check in spec.checks for fault in getattr(check, "wrong", ()))
        return _program({str(f.lines[0]): f.reason for f in faults} | {APPROVE: "no"}, spec)

    def program(
        self, text: bytes, question: Question, unread: UnreadLines = None, *, literal: bool = False
    ) -> bytes:
        """A function that gives what was written."""
        spec = question.spec
        marks = line_marks(spec.diff)
        names = [APPROVE, *map(str, range(1, len(marks) + 1))]
        found, faults = dict[str, str](), list[UnreadableAnswer]()
        reasons = ", ".join(spec.reasons)
        words = [*spec.reasons, "yes", "no"]
        expected = f"LINE = REASON (lines: 1 to {len(marks)}; reasons: {reasons})"
        written = read_answers(text, names, needed=[APPROVE], expected=expected, unread=unread,
                       literal=literal, words=words)  # fmt: skip
        for name, given in written.items():
            value = given.value
            if not literal:
                value = as_word(value, words)
            with given.collect_errors(faults=faults):
                if name == APPROVE:
                    if value not in {"yes", "no"}:
                        raise UnreadableAnswer(f"{APPROVE}: expected yes or no, found {value[:40]}")
                elif value not in spec.reasons:
                    raise UnreadableAnswer(f"{value[:40]} is no reason; reasons are {reasons}")
                elif marks[int(name) - 1] == "-":
                    raise UnreadableAnswer(f"line {name} was removed and cannot be wrong any more")
                found[name] = value
        raise_or_collect(faults, unread)
        if APPROVE not in found and unread is None:
            raise UnreadableAnswer(f"{APPROVE} has no answer yet; write {APPROVE} = yes or no")
        return _program(found, spec) if found else b""

    def spec_errors(self, spec: Spec) -> Iterator[tuple[KeyPath, str]]:
        """A diff without lines, reasons that no fault has, and faults in lines there are not."""
        marks = line_marks(spec.diff)
        if not spec.diff or not spec.reasons:
            yield ("form",), "expected diff and reasons, which a review is about"
        wrong = [
            (check.id, fault) for check in spec.checks for fault in getattr(check, "wrong", ())
        ]
        if not wrong:
            yield ("form",), "expected a check of kind findings, which says what is wrong"
        for check, fault in wrong:
            if fault.reason not in spec.reasons:
                near = did_you_mean(fault.reason, list(spec.reasons))
                yield ("reasons",), f"expected {fault.reason} of {check}{near}"
            for line in fault.lines:
                if not 1 <= line <= len(marks) or marks[line - 1] == "-":
                    yield ("diff",), f"expected a line {line}, which {check} calls wrong"


def line_marks(diff: str) -> list[str]:
    """The mark of every line of a diff: " ", "+" or "-"."""
    return [line[:1] or " " for line in diff.splitlines()]


def _program(found: Mapping[str, str], spec: Spec) -> bytes:
    """The function that the first step of the first run calls, giving this."""
    first = next(iter(spec.runs.values()))[0]
    function = first.partition("=")[2].partition("(")[0].strip()
    return f"def {function}():\n    return {json.dumps(found)}\n".encode()
