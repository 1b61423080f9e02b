"""Form `derive`: formulas line by line, each evaluated on every case."""

from __future__ import annotations

from collections.abc import Iterator
from keyword import iskeyword

from grader.forms import answers
from grader.forms.answers import Given
from grader.forms.base import Form, Path
from grader.forms.formulas import TAKEN, FormulaError, python
from grader.model.question import Question
from grader.model.spec import Answer, Spec

_ARRAYS = (  # by number of indices
    "{formula}",
    "np.array([{formula} for {i} in range(n_)], dtype=float)",
    "np.array([[{formula} for {j} in range(n_)] for {i} in range(n_)], dtype=float)",
)
_BODY = "import numpy as np; from math import exp, log; n_ = len({first}); return {array}"


class Derive(Form):
    """Each answer is a function of the symbols that its step passes; `over` are its indices."""

    def starter(self, spec: Spec) -> bytes:
        """Every line open."""
        return answers.template({shown(n, a.over): a for n, a in spec.answers.items()}, {})

    def program(self, text: bytes, question: Question) -> bytes:
        """Functions that compute what was written, each in the line in which it was."""
        asked = question.spec.answers
        given = answers.read(text, [shown(name, one.over) for name, one in asked.items()])
        lines = [""] * max((one.line for one in given.values()), default=0)
        for name, one in asked.items():
            symbols, mark = _symbols(question, name), shown(name, one.over)
            if (answer := given.get(mark)) is not None:
                body = _body(answer, mark, one, symbols)
                lines[answer.line - 1] = f"def {name}({', '.join(symbols)}): {body}"
        return "\n".join([*lines, ""]).encode()

    def asked_by(self, function: str, question: Question) -> list[str]:
        """Its line."""
        one = question.spec.answers.get(function)
        return [function if one is None else shown(function, one.over)]

    def faults(self, spec: Spec) -> Iterator[tuple[Path, str]]:
        """Lines with more indices than two, or a unit."""
        yield from answers.faults(spec)
        for name, one in spec.answers.items():
            if len(one.over) > 2 or len(set(one.over)) < len(one.over):
                yield ("answers", name), f"{name}: expected at most two indices, each once, in over"
            if one.unit != "1":
                yield ("answers", name), f"{name}: expected no unit in a formula, found {one.unit}"
            if not name.isidentifier():
                yield ("answers", name), f"{name}: expected a name; indices stand in over"
            for word in (name, *one.over):
                if word in TAKEN or iskeyword(word):
                    yield ("answers", name), f"{name}: expected another name than {word}"


def shown(name: str, over: list[str]) -> str:
    """What a line is called in the file: `dp_dz[i,j]`."""
    return f"{name}[{','.join(over)}]" if over else name


def _body(answer: Given, mark: str, asked: Answer, symbols: list[str]) -> str:
    """What a function does that computes an answer."""
    try:
        formula, used = python(answer.value, symbols, asked.over)
    except FormulaError as error:
        raise answer.wrong(f"{error}", error.at) from None
    for word in asked.must_use:
        if word not in used:
            raise answer.wrong(f"{mark} is to be written with {word}")
    for word in asked.may_not_use:
        if word in used:
            raise answer.wrong(f"{mark} is to be written without {word}")
    indices = dict(zip("ij", asked.over, strict=False))
    array = _ARRAYS[len(asked.over)].format(formula=formula, **indices)
    return _BODY.format(first=symbols[0], array=array)


def _symbols(question: Question, name: str) -> list[str]:
    """What the step of an answer passes."""
    for steps in question.runs.values():
        for step in steps:
            if step.owner == "submission" and step.function == name:
                return [read for argument in step.arguments for read in argument.reads]
    return ["_"]
