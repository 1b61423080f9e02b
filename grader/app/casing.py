"""A case to be run by hand: its inputs and calls, as a script in the drill's folder."""

from __future__ import annotations

import io
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from grader.app import files, requirements
from grader.app.context import Context
from grader.app.history import history
from grader.app.resolve import Choice, resolve
from grader.model.errors import BankError, UsageError, closest

if TYPE_CHECKING:
    from grader.reports.script import Script

FOLDER = "cases"
_LATEST = 100  # attempts that are looked through for the last try
_MOST_BYTES = 10_000_000  # of a script that may have been changed


@dataclass(frozen=True, slots=True)
class Listed:
    """A case of a question: what it is, and which checks have it."""

    case: str
    about: str
    checks: tuple[str, ...]
    failing: bool  # in the last try


@dataclass(frozen=True, slots=True)
class Case:
    """A case, the script that runs it, and where that is."""

    choice: Choice
    case: str
    about: str
    checks: tuple[str, ...]
    run: str
    other_runs: tuple[str, ...]
    seed: int
    drawn: bool  # whether the seed decides what its inputs are
    script: Script
    path: Path | None  # None: it could not be written
    kept: Path | None  # where the script is that was there before


def cases(ctx: Context, question_id: str | None) -> tuple[Choice, list[Listed]]:
    """Return the cases of a question that some check of the parts that are asked has.

    Raises:
        UsageError: No script can call what is handed in.
    """
    from grader.session.bank_programs import cases as cases_of
    from grader.session.bank_programs import uses

    choice = resolve(ctx, question_id)
    _need_code(choice)
    failing = {case for case, _ in _last(ctx, choice)[1]}
    found = []
    asked = _asked(ctx, choice)
    for name, recipe in cases_of(choice.question).items():
        checks = tuple(check.id for check in uses(choice.question, name, asked))
        if checks:
            found.append(Listed(name, recipe.about, checks, name in failing))
    return choice, found


def _asked(ctx: Context, choice: Choice) -> int:
    """Return how many parts of the question are asked."""
    return ctx.progress(choice.question).asked(len(choice.question.spec.parts))


def _need_code(choice: Choice) -> None:
    """Refuse where no script can call what is handed in, nor may its cases be known."""
    from grader import forms

    form = forms.of(choice.question.spec)
    if form.is_text or form.apart:
        what = "runs your test on hidden implementations" if form.apart else "asks for text"
        raise UsageError(
            f"{choice.question.id} {what}, which no script can call",
            hint=f"Next: drill grade{choice.argument}   drill hint{choice.argument}",
        )


def case(
    ctx: Context,
    name: str,
    question_id: str | None = None,
    *,
    run: str | None = None,
    seed: int | None = None,
) -> Case:
    """Write the script of a case into the drill's folder.

    Args:
        ctx: Where the person is.
        name: Of the case.
        question_id: ID or BANK/ID; None: the drill of `ctx`.
        run: The run to write; None: that of the first check that failed on it in the last try, else
            of the first check that has it.
        seed: From which it is drawn; None: that of the last try, 0 where there is none.

    Raises:
        UsageError: There is no such case or run, or it is not clear which question is meant.
        BankError: The inputs cannot be drawn.
    """
    from grader.evaluation.evaluation import BankFault
    from grader.reports.script import script
    from grader.session.bank_programs import cases as cases_of
    from grader.session.bank_programs import inputs_of, uses

    choice = resolve(ctx, question_id)
    question = choice.question
    _need_code(choice)
    requirements.need_torch(question)
    recipes = cases_of(question)
    asked = _asked(ctx, choice)
    using = uses(question, name, asked) if name in recipes else []
    if not using:
        near = closest(name, [one for one in recipes if uses(question, one, asked)])
        raise UsageError(
            f"{question.id} has no case {name}{f'; did you mean {near}?' if near else ''}",
            hint=f"Next: drill case{choice.argument}",
        )
    runs = list(dict.fromkeys(check.run for check in using))
    if run is not None and run not in runs:
        known = ", ".join(runs)
        raise UsageError(f"--run: the case {name} is of these runs: {known}; found {run}")
    last_seed, failing = _last(ctx, choice)
    seed = next(s for s in (seed, last_seed, 0) if s is not None)
    failed = [check for check in using if (name, check.id) in failing]
    run = run or [*(check.run for check in failed), *runs][0]
    looking = [c for c in failed if c.run == run] or [c for c in using if c.run == run]
    results = dict.fromkeys(result for check in looking for result in check.results)
    try:
        inputs = inputs_of(question, name, run, seed)
    except BankFault as fault:
        raise BankError(str(fault)) from None
    about = recipes[name].about
    drawn = any(recipe.is_drawn for recipe in recipes[name].inputs.values())
    remark = f"drill case {name}{choice.argument}" + (f" --seed {seed}" if drawn else "")
    made = script(question, run, inputs, list(results), f"{remark}: {about}" if about else remark)
    path, kept = None, None
    if choice.workspace is not None:
        path, kept = _written(ctx, choice.workspace.folder, name, made, question.driver)
    others = tuple(other for other in runs if other != run)
    checks = tuple(check.id for check in using)
    return Case(choice, name, about, checks, run, others, seed, drawn, made, path, kept)


def _last(ctx: Context, choice: Choice) -> tuple[int | None, frozenset[tuple[str, str]]]:
    """The seed of the last try at a question, and the cases on which checks failed.

    None fail in a try that went on to a new part: what fails there was not asked yet.
    """
    try:
        rows = history(ctx, choice.called, most=_LATEST)[0]
    except UsageError:  # the records cannot be read
        rows = ()
    last = next((row for row in reversed(rows) if row.attempt.is_try), None)
    if last is None:
        return None, frozenset()
    return last.attempt.seed, frozenset() if last.on else last.failing


def _written(
    ctx: Context, workspace: Path, name: str, made: Script, driver: bytes | None
) -> tuple[Path | None, Path | None]:
    """Write the script and what it needs.

    Returns:
        Its path, None where the folder cannot be written; and where the script is that was there
        before, if it was another.
    """
    from grader.reports.script import module_name

    folder = workspace / FOLDER
    path = folder / f"{module_name(name)}.py"
    kept = None
    try:
        files.refuse_link(folder)
        folder.mkdir(exist_ok=True)
        text = made.text.encode()
        before = files.read_regular(path, _MOST_BYTES)[0] if path.exists() else text
        if before != text:  # it may have been changed by hand
            kept = path.with_name(f"{path.stem}.before.py")
            files.replace(kept, before)
        if made.arrays:
            import numpy as np

            packed = io.BytesIO()
            arrays: dict[str, Any] = dict(made.arrays)
            np.savez(packed, **arrays)
            files.replace(path.with_suffix(".npz"), packed.getvalue())
        if made.driver and driver is not None:
            files.replace(folder / "driver.py", driver.lstrip(b"\n"))
        files.replace(path, text)
    except (OSError, UsageError) as fault:
        reason = fault.message if isinstance(fault, UsageError) else f"{folder}: {fault.strerror}"
        ctx.warn(f"the script is not written: {reason}")
        return None, None
    return path, kept
