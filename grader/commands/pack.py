"""`drill pack`: questions as files, for people who solve them without `drill`.

The folder of a question has README.md with the question, the file to work in and its helpers, and
a few cases as scripts that print the expected results.  Nothing else of the bank is in it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from grader.commands import files, output
from grader.commands.case import results_of_run
from grader.commands.context import Context
from grader.commands.options import JsonOption, Seed, argument, command_context, option
from grader.commands.show import bank_session
from grader.model.errors import UsageError
from grader.model.number_format import format_count

if TYPE_CHECKING:
    from grader.cases.recipe import CaseRecipe
    from grader.grading.evaluation import Evaluation
    from grader.model.question import Question
    from grader.model.spec import Part

EXAMPLES_FOLDER = "examples"
MAX_EXAMPLES = 2  # cases of the first check of a part
_SEED = 0
_ELSEWHERE = "name another place with --out"


class Pack(NamedTuple):
    """What `drill pack` wrote, and where."""

    out: Path
    questions: tuple[str, ...]
    files: tuple[str, ...]  # paths in the folder or zip file


def write_pack(
    ctx: Context,
    question_ids: Sequence[str],
    out: Path,
    *,
    part: int | None = None,
    seed: int = 0,
) -> Pack:
    """Write a folder for each question into `out`, a new or empty folder or a new .zip file.

    `part` is the last part to write (default: all parts).  `seed` draws the numbers in the texts.
    UsageError, and nothing is written, if something is in `out`, two questions have the same ID, or
    a question has no such part.
    """
    questions = [ctx.load(name, seed) for name in dict.fromkeys(question_ids)]
    names = [question.id for question in questions]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(
                f"{name}: expected one question of this id, found {names.count(name)}",
                hint="a pack has a folder for each id: make another pack",
            )
    out = ctx.current_folder() / out.expanduser()
    is_zip = out.suffix.lower() == ".zip"
    is_taken = os.path.lexists(out)
    if not is_zip:
        with suppress(OSError):  # the folder is missing or cannot be read
            is_taken = any(out.iterdir())
    if is_taken:
        raise UsageError(f"{out}: it is there already", hint=_ELSEWHERE)
    content: dict[str, bytes] = {}
    for question in questions:
        parts = len(question.spec.parts)
        if part is not None and not 1 <= part <= parts:
            raise UsageError(f"--part: {question.id} has parts from 1 to {parts}, found {part}")
        for path, data in _question_files(question, part or parts).items():
            content[f"{question.id}/{path}"] = data
    if is_zip:
        files.create(out, files.zip_files(content), _ELSEWHERE)
    else:
        for path, data in content.items():
            files.create(out / path, data, _ELSEWHERE)
    return Pack(out, tuple(names), tuple(content))


def _question_files(question: Question, parts: int) -> dict[str, bytes]:
    """Return the content of a question's files by path, for its first `parts` parts."""
    from grader import forms
    from grader.reports.question import handed_out_markdown

    form = forms.form_of(question.spec)
    examples: dict[str, bytes] = {}
    # No examples: answers in a text have no functions to call, the cases of a question that runs in
    # two processes are secret, and a diagnosis has a log instead.
    has_examples = not (form.is_text or form.runs_in_two_processes)
    if has_examples and question.spec.form != "diagnose":
        examples = dict(_examples(question, question.spec.parts[:parts]))
    scripts = [
        path for path in examples if path.endswith(".py") and path != f"{EXAMPLES_FOLDER}/driver.py"
    ]
    return {
        "README.md": handed_out_markdown(question, parts, scripts).encode(),
        form.file: question.without_leading_blank_lines(question.starter),
        **question.companion_files,
        **examples,
    }


def _examples(question: Question, parts: Sequence[Part]) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of the examples of all parts; a case of several parts comes once."""
    written_cases: set[str] = set()
    with bank_session(question) as session:
        starter = question.without_leading_blank_lines(question.starter)
        report = session.grade(starter, seed=_SEED)
        failing = {check.id: check.failing[0] for check in report.checks if check.failing}
        evaluation = session.new_evaluation(session.bank.reference, _SEED)
        for number, part in enumerate(parts, 1):
            for run, case, results in _example_cases(evaluation, part, failing):
                if case.name in written_cases:
                    continue
                written_cases.add(case.name)
                about = f": {case.about}" if case.about else ""
                yield from _example_files(evaluation, run, case, results, f"part {number}{about}")


def _example_cases(
    evaluation: Evaluation, part: Part, failing: dict[str, str]
) -> Iterator[tuple[str, CaseRecipe, list[str]]]:
    """Yield run, case and names of the results to print, for the examples of a part.

    These are the first cases of its first check.  If the starter passes that check but fails
    another, the smallest case that it fails there is added.  `failing` has the smallest failing
    case by the ID of the check.
    """
    from grader.grading.kinds import registry

    checks = [
        check
        for check in part.checks
        if registry.kind_named(check.kind).judges_values and not check.stretch
    ]
    for check in checks[:1]:
        for case in evaluation.cases_of(check)[:MAX_EXAMPLES]:
            yield check.run, case, results_of_run(checks, check.run)
    failed_checks = [check for check in checks if check.id in failing]
    failed_checks.sort(key=lambda check: check.run != checks[0].run)
    for check in failed_checks[:1]:
        if check is checks[0]:
            continue
        for case in evaluation.cases_of(check):
            if case.name == failing[check.id]:
                yield check.run, case, results_of_run(checks, check.run)


def _example_files(
    evaluation: Evaluation, run: str, case: CaseRecipe, results: Sequence[str], remark: str
) -> Iterator[tuple[str, bytes]]:
    """Yield path and content of a case's files: a script with the expected results, and its data.

    `remark` is a comment in the script, such as "part 1: three tokens, one expert".
    """
    from grader.reports.case_script import module_name, write_script

    question = evaluation.question
    values = evaluation.reference_outcome(run, case).values
    expected = {name: values[name] for name in results if name in values}
    inputs = evaluation.inputs(case, run)
    script = write_script(question, run, inputs, results, remark, expected)
    for file, content in script.files(module_name(case.name)).items():
        yield f"{EXAMPLES_FOLDER}/{file}", content


def pack(
    ctx: typer.Context,
    questions: Annotated[list[str], argument("ID...", "The questions.")],
    out: Annotated[Path, option("PATH", "A new folder or .zip file.", show_default=False)],
    part: Annotated[int | None, option("N", "Up to this part.")] = None,
    seed: Seed = None,
    json: JsonOption = False,
) -> None:
    """Write questions as files, without their solutions."""
    context = command_context(ctx)
    packed = write_pack(context, questions, out, part=part, seed=seed or 0)
    if output.emit_json(json, **packed._asdict()):
        return
    names = ", ".join(packed.questions)
    count = format_count(len(packed.files), "file")
    output.write(f"{packed.out}: {names}; {count}, no solution among them")
    command = f"drill grade {questions[0]}{context.bank_option} --file FILE"
    if part is not None:
        command += f" --parts {','.join(map(str, range(1, part + 1)))}"
    if seed is not None:
        command += f" --seed {seed}"
    output.write_next_steps(command)
