"""Form `review`: a diff; the lines that are wrong, each with a reason, and whether to approve."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import count

from grader.forms import answers
from grader.forms.base import Form, Material, Path, Unreadable
from grader.model.errors import did_you_mean
from grader.model.question import Question
from grader.model.spec import Spec

APPROVE = "approve"


class Review(Form):
    """A function of no arguments gives the dict of what was written: a reason by line, approve."""

    def starter(self, spec: Spec) -> bytes:
        """The reasons to choose from, and nothing answered."""
        width = max(map(len, spec.reasons), default=0)
        lines = [
            "# For each line of the diff that is wrong: its number = the reason, one of",
            *(
                f"#   {name:<{width}}  {' '.join(text.split())}"
                for name, text in spec.reasons.items()
            ),
            "",
            "# yes or no",
            f"{APPROVE} = ?",
        ]
        return ("\n".join(lines) + "\n").encode()

    def materials(self, spec: Spec) -> Iterator[Material]:
        """The diff, its lines numbered, and the reasons to choose from."""
        yield Material("Diff", _with_numbers(spec.diff), "diff")
        yield Material("Reasons", rows=tuple(spec.reasons.items()))

    def reference(self, spec: Spec) -> bytes:
        """Every fault at its first line."""
        faults = (fault for check in spec.checks for fault in getattr(check, "wrong", ()))
        found = {str(fault.lines[0]): fault.reason for fault in faults} | {APPROVE: "no"}
        return _program(found, _function_of(spec))

    def program(self, text: bytes, question: Question) -> bytes:
        """A function that gives what was written."""
        spec = question.spec
        marks = numbered(spec.diff)
        names = [APPROVE, *map(str, range(1, len(marks) + 1))]
        found: dict[str, str] = {}
        for name, given in answers.read(
            text, names, needed=[APPROVE], unknown=f"the diff has lines 1 to {len(marks)}"
        ).items():
            value = given.value
            if name == APPROVE and value not in {"yes", "no"}:
                raise given.wrong(f"{APPROVE}: expected yes or no, found {value[:40]}")
            if name != APPROVE and value not in spec.reasons:
                near = did_you_mean(value, list(spec.reasons))
                raise given.wrong(f"{value[:40]} is no reason{near}")
            if name != APPROVE and marks[int(name) - 1] == "-":
                raise given.wrong(f"line {name} was removed and cannot be wrong any more")
            found[name] = value
        if APPROVE not in found:
            raise Unreadable(f"{APPROVE} has no answer yet; write {APPROVE} = yes or no")
        return _program(found, _function_of(spec))

    def faults(self, spec: Spec) -> Iterator[tuple[Path, str]]:
        """A diff without lines, reasons that no fault has, and faults in lines there are not."""
        marks = numbered(spec.diff)
        if not spec.diff or not spec.reasons:
            yield ("form",), "form: expected diff and reasons, which a review is about"
        if not any(getattr(check, "wrong", ()) for check in spec.checks):
            yield ("form",), "form: expected a check of kind findings, which says what is wrong"
        for check in spec.checks:
            for fault in getattr(check, "wrong", ()):
                if fault.reason not in spec.reasons:
                    near = did_you_mean(fault.reason, list(spec.reasons))
                    yield ("reasons",), f"reasons: expected {fault.reason} of {check.id}{near}"
                for line in fault.lines:
                    if not 1 <= line <= len(marks) or marks[line - 1] == "-":
                        yield (
                            ("diff",),
                            f"diff: expected a line {line}, which {check.id} calls wrong",
                        )


def numbered(diff: str) -> list[str]:
    """The mark of every line of a diff: " ", "+" or "-"."""
    return [line[:1] or " " for line in diff.splitlines()]


def _with_numbers(diff: str) -> str:
    lines = diff.splitlines()
    width = len(str(len(lines)))
    return "\n".join(
        f"{n:>{width}}  {line}".rstrip() for n, line in zip(count(1), lines, strict=False)
    )


def _function_of(spec: Spec) -> str:
    """The function that the first step of the first run calls."""
    first = next(iter(spec.runs.values()))[0]
    return first.partition("=")[2].partition("(")[0].strip()


def _program(found: Mapping[str, str], function: str) -> bytes:
    return f"def {function}():\n    return {json.dumps(found)}\n".encode()
