"""`drill bank new` and `bank schema`: write a question to begin from, and print the JSON Schema.

The new question passes its audit.  Its spec is a template with marks, such as @ID@, that are
replaced.  All files are written or none, and no file is overwritten.  The spec is written last,
because the question exists as soon as its spec does.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from textwrap import indent
from typing import Annotated

import typer

from grader.bank import bank_names, banks_in_use, has_question
from grader.bank.bank_files import is_id, nearest_id
from grader.commands import files, output
from grader.commands.context import Context
from grader.commands.options import JsonOption, argument, command_context, flag, option
from grader.model.errors import DrillError, UsageError
from grader.model.limits import MAX_ID_LENGTH
from grader.model.number_format import format_count

MAX_PARTS = 9
_ELSEWHERE = "choose a folder that you can write, with --bank DIR"
_SCHEMA_FILE = "question.schema.json"
_TEMPLATES = Path(__file__).parent / "templates"
_COMMENT_ON_FILES = (
    "# The programs are files: drills/@ID@/reference.py, and ideas.py, what is wrong.\n\n"
)
_PROMPT_OF_FIRST_PART = (
    "TODO The story: what goes wrong, for whom, and how it shows. Never the cause."
)
_PROMPT_OF_LATER_PART = (
    "TODO What the interviewer asks next, in a sentence: an edge, then what it costs."
)


def _warn_of_same_id(ctx: Context, question_id: str, bank: Path) -> None:
    """Warn if another bank in use has a question with the ID of a new one."""
    in_use: dict[str, Path] = {}
    with suppress(DrillError):  # a bank that cannot be read does not matter here
        in_use = bank_names(banks_in_use(None, lambda *_: None))
    for name, other in in_use.items():
        if other != bank and has_question(other, question_id):
            own = shlex.quote(ctx.short_path(bank))
            ctx.warn(
                f"the bank {name} has a question {question_id} too",
                f"say --bank {own} in commands about the new one, or choose another id",
            )


def _read_template(
    parts: int | None, form: str, *, one_file: bool
) -> tuple[str, Mapping[str, str]]:
    """Return the template of a spec, and its program files by name, such as "ideas.py".

    There are program files only for the default form, in one part, and not with `one_file`.
    UsageError for an unknown form, and for `parts` with another form than the default.
    """
    from grader.forms import FORM_NAMES

    default_form = FORM_NAMES[0]
    if form not in FORM_NAMES:
        raise UsageError(f"--form: expected one of {', '.join(FORM_NAMES)}, found {form!r}")
    if parts is not None and form != default_form:
        raise UsageError(f"--form {form}: expected no --parts")
    if parts is not None:
        return _parts_template(parts), {}
    if form != default_form:
        return _read_text(f"{form}.yaml"), {}
    programs = {name: _read_text(f"{name}.py") for name in ("reference", "ideas")}
    template = _read_text("question.yaml")
    if not one_file:
        sources = {f"{name}.py": code for name, code in programs.items()}
        return template.replace("@CODE@\n", _COMMENT_ON_FILES), sources
    inline = [f"  {name}: |\n{indent(code, ' ' * 4)}\n" for name, code in programs.items()]
    return template.replace("@CODE@\n", "".join(["code:\n", *inline])), {}


def _read_text(name: str) -> str:
    return (_TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")


def _replace_marks(text: str, marks: Mapping[str, str]) -> str:
    for mark, replacement in marks.items():
        text = text.replace(mark, replacement)
    return text


def _parts_template(count: int) -> str:
    """Return the template of a question in `count` parts, each with one check and one idea.

    UsageError unless `count` is from 2 to `MAX_PARTS`.
    """
    if not 2 <= count <= MAX_PARTS:
        raise UsageError(
            f"--parts: expected a number from 2 to {MAX_PARTS}, found {count}",
            hint="without --parts a question of one part is written",
        )

    def repeat(block: re.Match[str]) -> str:
        texts = []
        points, remainder = divmod(100, count)  # the first part has the remainder as well
        for part in range(1, count + 1):
            marks = {
                "@P@": str(part),
                "@POINTS@": str(points if part > 1 else points + remainder),
                "@FACTOR@": str(part + 1),
                "@PROMPT@": _PROMPT_OF_LATER_PART if part > 1 else _PROMPT_OF_FIRST_PART,
            }
            texts.append(_replace_marks(block[1], marks))
        return "".join(texts)

    text = _read_text("parts.yaml").replace("@N@", str(count))
    return re.sub(r"@EACH@\n(.*?)@END@\n", repeat, text, flags=re.DOTALL)


def _write(
    ctx: Context, spec_path: Path, spec: str, folder: Path, programs: Mapping[str, str]
) -> list[Path]:
    """Write all files or none, the spec last, and return their paths, the spec first.

    UsageError if a file cannot be written, or something is there already: the spec, as .yaml or
    .yml, or the folder that the programs need.
    """
    for path in (spec_path, spec_path.with_suffix(".yml"), folder):
        if os.path.lexists(path) and (programs or path != folder):
            raise UsageError(
                f"{ctx.short_path(path)} is there already, and nothing is ever written over it",
                hint="choose another id, or move it away",
            )
    texts = {folder / name: code for name, code in programs.items()} | {spec_path: spec}
    with ExitStack() as undo:
        if programs:
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
        for path, text in texts.items():
            files.create(path, text.encode(), _ELSEWHERE)
        undo.pop_all()
    return [spec_path, *list(texts)[:-1]]


def new(
    ctx: typer.Context,
    question: Annotated[str, argument("ID")],
    one_file: Annotated[bool, flag("--one-file", "Everything in one YAML file.")] = False,
    parts: Annotated[int | None, option("N", "A skeleton in N parts, from 2 to 9.")] = None,
    form: Annotated[
        str, option("FORM", "fix, estimate, predict, derive, review, diagnose or write-the-test.")
    ] = "fix",
    json: JsonOption = False,
) -> None:
    """Write a question that passes its audit, to begin from."""
    from grader.bank.loading import todo_places
    from grader.grading.kinds.schema import question_schema

    context = command_context(ctx)
    _check_id(context, question)
    # Without `--bank`, the current folder is the bank, or the spec alone if it is one file.
    root = (context.current_folder() / (context.bank or Path()).expanduser()).resolve()
    spec_path = root / "questions" / f"{question}.yaml"
    template, programs = _read_template(parts, form, one_file=one_file)
    bank = root
    if one_file and context.bank is None and not spec_path.parent.is_dir():
        bank = spec_path = root / spec_path.name
    schema_path = root / _SCHEMA_FILE
    schema_in_docs = root / "docs" / _SCHEMA_FILE  # in a checkout of the program
    if bank == root and schema_in_docs.is_file():
        schema_path = schema_in_docs
    marks = {
        "@SCHEMA@": os.path.relpath(schema_path, spec_path.parent).replace(os.sep, "/"),
        "@TITLE@": question.replace("-", " ").capitalize(),
        "@TRACK@": question.partition("-")[0],
        "@ID@": question,
    }
    spec = _replace_marks(template, marks)
    written = _write(context, spec_path, spec, root / "drills" / question, programs)
    todo: list[str] = []
    for path in written:
        todo += todo_places(context.short_path(path), path.read_bytes())
    with suppress(UsageError):  # the schema is for editors only, and may be there already
        if files.create(schema_path, question_schema().encode()):
            written.append(schema_path)
    _warn_of_same_id(context, question, bank)
    if not output.emit_json(
        json, question=question, spec=spec_path, bank=bank, written=written, todo=todo
    ):
        _show_written(context, question, bank, written, todo)


def _check_id(context: Context, question_id: str) -> None:
    """Raise UsageError if a text is not a valid ID of a question."""
    if not is_id(question_id):
        raise UsageError(
            "expected an id of lower-case words joined by hyphens, at most"
            f" {MAX_ID_LENGTH} characters, found {question_id!r}",
            hint=f"drill bank new {nearest_id(question_id) or 'my-norm'}{context.bank_option}",
        )


def _show_written(
    context: Context, question_id: str, bank: Path, written: Sequence[Path], todo: Sequence[str]
) -> None:
    """Show the files of a new question, and the commands that follow."""
    lines = [context.short_path(path) for path in written]
    lines += ["", "next:"]
    if todo:
        places = format_count(len(todo), "place")
        lines.append(f"  fill in the {places} marked TODO; the audit counts what is left")
    bank_path = shlex.quote(context.short_path(bank))
    lines += [
        f"  drill --bank {bank_path} bank audit {question_id}",
        f"  drill --bank {bank_path} start {question_id}",
        f"  drill bank add {bank_path}",
    ]
    output.write("\n".join(lines))


def schema() -> None:
    """Print the JSON Schema of a question, for editors."""
    from grader.grading.kinds.schema import question_schema

    output.write(question_schema().rstrip("\n"))
