"""`drill bank new` and `bank schema`: a question that passes its audit, to begin from.

A template is the text of a spec with marks, such as @ID@.  Everything is written or nothing is, and
no file is overwritten.  The spec is written last, because it makes the folder a question.
"""

from __future__ import annotations

import os
import re
import shlex
import shutil
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from textwrap import indent
from typing import Annotated, NamedTuple

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


class NewQuestion(NamedTuple):
    """Result of `drill bank new`."""

    bank: Path  # for `--bank`
    written: list[Path]  # the spec first
    todo: list[str]  # places marked TODO, as file:line


def create_question(
    ctx: Context,
    question_id: str,
    *,
    one_file: bool = False,
    parts: int | None = None,
    form: str = "fix",
) -> NewQuestion:
    """Write a new question in a form, or as a skeleton of several parts.

    Without `--bank` the current folder is the bank; with `one_file`, the spec alone can be the
    bank.  The programs of a text form are in its spec.
    """
    from grader.bank.loading import todo_places
    from grader.grading.kinds.schema import question_schema

    if not is_id(question_id):
        raise UsageError(
            "expected an id of lower-case words joined by hyphens, at most"
            f" {MAX_ID_LENGTH} characters, found {question_id!r}",
            hint=f"drill bank new {nearest_id(question_id) or 'my-norm'}{ctx.bank_option}",
        )
    root = (ctx.current_folder() / (ctx.bank or Path()).expanduser()).resolve()
    spec_path = root / "questions" / f"{question_id}.yaml"
    template, sources = _read_template(parts, form, one_file=one_file)
    folder = root / "drills" / question_id
    bank = root
    if one_file and ctx.bank is None and not spec_path.parent.is_dir():
        bank = spec_path = root / spec_path.name
    schema = root / _SCHEMA_FILE
    schema_in_docs = root / "docs" / _SCHEMA_FILE  # in a checkout of the program
    if bank == root and schema_in_docs.is_file():
        schema = schema_in_docs
    marks = {
        "@SCHEMA@": os.path.relpath(schema, spec_path.parent).replace(os.sep, "/"),
        "@TITLE@": question_id.replace("-", " ").capitalize(),
        "@TRACK@": question_id.partition("-")[0],
        "@ID@": question_id,
    }
    texts = {spec_path: _replace_marks(template, marks)}
    for name, code in sources.items():
        texts[folder / name] = code
    _write(ctx, spec_path, folder if sources else None, texts)
    written = list(texts)
    todo = []
    for path in written:
        todo += todo_places(ctx.short_path(path), path.read_bytes())
    with suppress(UsageError):  # the schema is for editors only, and may be there already
        if files.create(schema, question_schema().encode()):
            written.append(schema)
    _warn_of_same_id(ctx, question_id, bank)
    return NewQuestion(bank, written, todo)


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
    """Return the template of a spec, and the programs outside of the spec by name."""
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
    """Return the template of a question in several parts, each with one check and one idea."""
    if not 2 <= count <= MAX_PARTS:
        raise UsageError(
            f"--parts: expected a number from 2 to {MAX_PARTS}, found {count}",
            hint="without --parts a question of one part is written",
        )

    def repeat(block: re.Match[str]) -> str:
        return "".join(
            _replace_marks(block[1], _part_marks(part, count)) for part in range(1, count + 1)
        )

    text = _read_text("parts.yaml").replace("@N@", str(count))
    return re.sub(r"@EACH@\n(.*?)@END@\n", repeat, text, flags=re.DOTALL)


def _part_marks(part: int, count: int) -> dict[str, str]:
    """Return the marks of one part; the first part has the points that cannot be shared out."""
    points, remainder = divmod(100, count)
    prompt = _PROMPT_OF_LATER_PART
    if part == 1:
        points += remainder
        prompt = _PROMPT_OF_FIRST_PART
    return {
        "@P@": str(part),
        "@POINTS@": str(points),
        "@FACTOR@": str(part + 1),
        "@PROMPT@": prompt,
    }


def _write(ctx: Context, spec_path: Path, folder: Path | None, texts: Mapping[Path, str]) -> None:
    """Write all files or none; the spec, which is the first text, last."""
    for path in filter(None, (spec_path, spec_path.with_suffix(".yml"), folder)):
        if os.path.lexists(path):
            raise UsageError(
                f"{ctx.short_path(path)} is there already, and nothing is ever written over it",
                hint="choose another id, or move it away",
            )
    with ExitStack() as undo:
        if folder:
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
        for path in reversed(list(texts)):
            files.create(path, texts[path].encode(), _ELSEWHERE)
        undo.pop_all()


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
    context = command_context(ctx)
    created = create_question(context, question, one_file=one_file, parts=parts, form=form)
    if output.emit_json(json, question=question, spec=created.written[0], **created._asdict()):
        return
    lines = [context.short_path(path) for path in created.written]
    lines += ["", "next:"]
    if created.todo:
        places = format_count(len(created.todo), "place")
        lines.append(f"  fill in the {places} marked TODO; the audit counts what is left")
    bank = shlex.quote(context.short_path(created.bank))
    lines += [
        f"  drill --bank {bank} bank audit {question}",
        f"  drill --bank {bank} start {question}",
        f"  drill bank add {bank}",
    ]
    output.write("\n".join(lines))


def schema() -> None:
    """Print the JSON Schema of a question, for editors."""
    from grader.grading.kinds.schema import question_schema

    output.write(question_schema().rstrip("\n"))
