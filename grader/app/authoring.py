"""Write a question that is proved already, to be turned into one's own.

Everything is written or nothing is, and never over anything: the drill's folder comes first, then
the spec appears, which is what makes it a question.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.app import files
from grader.app.context import Context
from grader.bank.storage import FOLDER, MOST_LETTERS, NOTHING, found_at, is_id, nearest_id
from grader.model.errors import UsageError

if TYPE_CHECKING:
    from grader.scaffold.template import Template

_ELSEWHERE = "choose a folder that you can write, with --bank DIR"
_SCHEMA = "question.schema.json"


@dataclass(frozen=True, slots=True)
class Written:
    """A new question."""

    bank: Path  # what --bank names
    written: list[Path]  # the spec first
    todo: list[str]  # file:line of what is marked TODO


def new(
    ctx: Context,
    question_id: str,
    *,
    one_file: bool = False,
    parts: int | None = None,
    form: str = "fix",
) -> Written:
    """Write a question to begin from, over nothing.

    Without `--bank` the current folder is the bank; a file by itself is a bank too. `parts` is the
    number of parts of a skeleton, `form` what is handed in; where that is text, the programs stand
    in the spec.

    Raises:
        UsageError: `--bank` is no folder, something is in the way, or no question has so many
            parts.
    """
    from grader.bank.loading import todos
    from grader.kinds import registry
    from grader.scaffold import template

    if fault := id_fault(question_id):
        better = nearest_id(question_id) or "my-norm"
        raise UsageError(fault, hint=f"drill bank new {better}{ctx.option}")
    root = ctx.here() / (ctx.bank or Path()).expanduser()
    if (found := found_at(root)) not in {FOLDER, NOTHING}:
        raise UsageError(
            f"{ctx.bank}: expected a folder to put {question_id} into, found {found}",
            hint="name the folder that is to be the bank; it is made where there is none",
        )
    bank = root = root.resolve()
    spec = root / "questions" / f"{question_id}.yaml"
    begun = _begun(parts, form)
    drill = (
        None if one_file or not begun.programs else root / "drills" / question_id
    )  # None: programs are in the spec
    if one_file and ctx.bank is None and not spec.parent.is_dir():
        bank = spec = root / spec.name
    documented = root / "docs" / _SCHEMA  # where a checkout of the program has it
    schema = documented if bank == root and documented.is_file() else root / _SCHEMA
    _check_free(ctx, spec, drill)
    named = os.path.relpath(schema, spec.parent).replace(os.sep, "/")
    texts = template.files(begun, question_id, schema=named, one_file=one_file)
    written = _write(ctx, spec, drill, texts)
    todo = [at for path in written for at in todos(ctx.near(path), path.read_bytes())]
    with suppress(UsageError):  # for editors; where there is one already it stays
        if files.create(schema, registry.schema().encode()):
            written.append(schema)
    return Written(bank, written, todo)


def _begun(parts: int | None, form: str) -> Template:
    from grader.forms.registry import NAMES
    from grader.scaffold import template

    if form not in NAMES:
        known = ", ".join(NAMES)
        raise UsageError(f"--form: expected one of {known}, found {form!r}")
    if form != NAMES[0]:
        if parts is not None:
            raise UsageError(f"--form {form}: expected no --parts")
        return template.of_form(form)
    if parts is not None:
        from grader.scaffold.parts import begin as begin_parts

        return begin_parts(parts)
    return template.blank()


def id_fault(name: str) -> str:
    """Return what is wrong with the id of a question, nothing where it is a good one."""
    if is_id(name):
        return ""
    return (
        f"expected an id of lower-case words joined by hyphens, at most {MOST_LETTERS} characters,"
        f" found {name!r}"
    )


def _check_free(ctx: Context, spec: Path, drill: Path | None) -> None:
    """Raise UsageError where something is in the way."""
    for path in (spec, spec.with_suffix(".yml"), drill):
        if path is not None and os.path.lexists(path):
            raise UsageError(
                f"{ctx.near(path)} is there already, and nothing is ever written over it",
                hint="choose another id, or move it away",
            )


def _write(ctx: Context, spec: Path, drill: Path | None, texts: Mapping[str, str]) -> list[Path]:
    """Write everything or nothing; return the paths, the spec first."""
    before = f"drills/{spec.stem}/"
    programs = {n.removeprefix(before): t for n, t in texts.items() if n.startswith(before)}
    written = [spec]
    with ExitStack() as undo:
        try:
            spec.parent.mkdir(parents=True, exist_ok=True)
            if drill is not None:
                drill.parent.mkdir(parents=True, exist_ok=True)
                drill.mkdir()  # fails where something is
                undo.callback(shutil.rmtree, drill, ignore_errors=True)
                for name, text in programs.items():
                    written.append(drill / name)
                    written[-1].parent.mkdir(exist_ok=True)
                    written[-1].write_text(text, encoding="utf-8")
        except OSError as fault:
            _check_free(ctx, spec, drill)  # made by somebody else since we looked
            raise UsageError(
                f"{fault.filename or spec}: cannot be written: {fault.strerror or fault}",
                hint=_ELSEWHERE,
            ) from fault
        if files.create(spec, texts[f"questions/{spec.name}"].encode(), _ELSEWHERE):
            undo.pop_all()
            return written
    _check_free(ctx, spec, drill)
    raise UsageError(f"{spec}: it was made by somebody else meanwhile")
