"""What somebody is given who is to solve a question and must not see its solution.

For each question a folder: README.md with what is asked, the file to work in, what comes beside it,
and a few cases as scripts that say what is expected.  Nothing else of the bank is in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from grader import forms
from grader.cases.recipe import CaseRecipe
from grader.commands import files
from grader.commands.context import Context, require_torch
from grader.grading.evaluation import BankProgramError, Evaluation
from grader.model.errors import BankError, UsageError
from grader.model.question import Question
from grader.model.spec import Part

EXAMPLES_FOLDER = "examples"
_OF_A_PART = 2  # examples
_SEED = 0
_ELSEWHERE = "name another place with --out"


class Pack(NamedTuple):
    """What was packed: the questions, and every file of the folder or zip file."""

    out: Path
    questions: tuple[str, ...]
    files: tuple[str, ...]


def write_pack(
    ctx: Context, ids: Sequence[str], out: Path, *, part: int | None = None, seed: int = 0
) -> Pack:
    """Write questions, with the numbers of a seed, into a new folder or zip file, up to a part."""
    questions = [ctx.load(name, seed) for name in dict.fromkeys(ids)]
    names = [one.id for one in questions]
    if alike := [name for name in names if names.count(name) > 1]:
        raise UsageError(
            f"{alike[0]}: expected one question of this id, found {names.count(alike[0])}",
            hint="a pack has a folder for each id: make another pack",
        )
    out = ctx.current_folder() / out.expanduser()
    is_zip = out.suffix.lower() == ".zip"
    try:
        empty = not is_zip and not any(out.iterdir())
    except OSError:  # it is not there, is no folder or cannot be read
        empty = False
    if os.path.lexists(out) and not empty:
        raise UsageError(f"{out}: it is there already", hint=_ELSEWHERE)
    content: dict[str, bytes] = {}
    for question in questions:
        last = len(question.spec.parts)
        if part is not None and not 1 <= part <= last:
            raise UsageError(f"--part: {question.id} has parts from 1 to {last}, found {part}")
        for name, text_of in _content(question, part or last).items():
            content[f"{question.id}/{name}"] = text_of
    if is_zip:
        files.create(out, files.zip_files(content), _ELSEWHERE)
    for name, text_of in () if is_zip else content.items():
        files.create(out / name, text_of, _ELSEWHERE)
    return Pack(out, tuple(names), tuple(content))


def _content(question: Question, last: int) -> dict[str, bytes]:
    """Everything of a question up to a part, by path."""
    from grader.reports.question import handed_out_markdown

    form = forms.form_of(question.spec)
    examples = {}
    # Of these there is nothing that a script can call, nothing that may be known, or a log instead.
    if not (form.is_text or form.runs_in_two_processes or question.spec.form == "diagnose"):
        examples = dict(_examples(question, question.spec.parts[:last]))
    shown = [
        name for name in examples if name.endswith(".py") and name != f"{EXAMPLES_FOLDER}/driver.py"
    ]
    return {
        "README.md": handed_out_markdown(question, last, shown).encode(),
        form.file: question.without_leading_blank_lines(question.starter),
        **question.companion_files,
        **examples,
    }


def _examples(question: Question, parts: Sequence[Part]) -> Iterator[tuple[str, bytes]]:
    """Cases as scripts: of each part the smallest of its first check, and one that fails as yet."""
    import numpy as np

    from grader.explain.session import GradingSession
    from grader.grading.kinds import registry

    require_torch(question)
    known = set[str]()
    try:
        with GradingSession(question) as session, np.errstate(all="ignore"):
            starter = session.grade(
                question.without_leading_blank_lines(question.starter), seed=_SEED
            )
            failing = {one.id: one.failing[:1] for one in starter.checks if one.failing}
            evaluation = session.bank.new_evaluation(session.bank.reference, _SEED)
            for number, part in enumerate(parts, 1):
                judging = [
                    check
                    for check in part.checks
                    if registry.kind_named(check.kind).judges_values and not check.stretch
                ]
                wrong = [check for check in judging if check.id in failing]
                wrong.sort(key=lambda one: one.run != judging[0].run)  # results as they are first
                for check in judging[:1] + [one for one in wrong[:1] if one is not judging[0]]:
                    cases = evaluation.cases_of(check)
                    chosen = [case for case in cases if case.name in failing.get(check.id, ())]
                    alike = [one for one in judging if one.run == check.run]
                    results = dict.fromkeys(name for one in alike for name in one.results)
                    for case in cases[:_OF_A_PART] if check is judging[0] else chosen:
                        if case.name not in known:
                            known.add(case.name)
                            about = f"part {number}" + (f": {case.about}" if case.about else "")
                            yield from _example(evaluation, check.run, case, [*results], about)
    except BankProgramError as fault:
        raise BankError(f"{question.spec_path}: {fault}") from None


def _example(
    evaluation: Evaluation, run: str, case: CaseRecipe, results: Sequence[str], about: str
) -> Iterator[tuple[str, bytes]]:
    """A case with what the reference gives, and what the script needs beside it."""
    from grader.reports.case_script import module_name, write_script

    question = evaluation.question
    found = evaluation.reference_outcome(run, case).values
    expected = {name: found[name] for name in results if name in found}
    made = write_script(question, run, evaluation.inputs(case, run), results, about, expected)
    for file, content in made.files(module_name(case.name)).items():
        yield f"{EXAMPLES_FOLDER}/{file}", content
