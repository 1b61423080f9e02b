"""Write a question that is proved already, to be turned into one's own.

A template is the text of a spec with marks for what differs: the id, and where the programs go,
which are files or stand in the spec.  Everything is written or nothing is, and never over anything:
the drill's folder comes first, then the spec appears, which is what makes it a question.
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
from typing import NamedTuple

from grader.bank import bank_names, banks_in_use, has_question
from grader.bank.bank_files import is_id, nearest_id
from grader.commands import files
from grader.commands.context import Context
from grader.model.errors import DrillError, UsageError
from grader.model.limits import MAX_ID_LENGTH

MAX_PARTS = 9
_ELSEWHERE = "choose a folder that you can write, with --bank DIR"
_SCHEMA = "question.schema.json"
_TEMPLATES = Path(__file__).parent / "templates"
_IN_FILES = "# The programs are files: drills/@ID@/reference.py, and ideas.py, what is wrong.\n\n"
_FIRST = "TODO The story: what goes wrong, for whom, and how it shows. Never the cause."
_LATER = "TODO What the interviewer asks next, in a sentence: an edge, then what it costs."


class NewQuestion(NamedTuple):
    """A new question."""

    bank: Path  # what --bank names
    written: list[Path]  # the spec first
    todo: list[str]  # file:line of what is marked TODO


def create_question(
    ctx: Context,
    question_id: str,
    *,
    one_file: bool = False,
    parts: int | None = None,
    form: str = "fix",
) -> NewQuestion:
    """Write a question to begin from, over nothing.

    Without `--bank` the current folder is the bank; a file by itself is a bank too. `parts` is the
    number of parts of a skeleton, `form` what is handed in; where that is text, the programs stand
    in the spec.
    """
    from grader.bank.loading import todo_places
    from grader.grading.kinds.schema import question_schema as question_schema

    if not is_id(question_id):
        raise UsageError(
            "expected an id of lower-case words joined by hyphens, at most"
            f" {MAX_ID_LENGTH} characters, found {question_id!r}",
            hint=f"drill bank new {nearest_id(question_id) or 'my-norm'}{ctx.bank_option}",
        )
    bank = root = (ctx.current_folder() / (ctx.bank or Path()).expanduser()).resolve()
    spec = root / "questions" / f"{question_id}.yaml"
    template, sources = _template(parts, form, one_file=one_file)
    drill = root / "drills" / question_id
    if one_file and ctx.bank is None and not spec.parent.is_dir():
        bank = spec = root / spec.name
    documented = root / "docs" / _SCHEMA  # where a checkout of the program has it
    schema = documented if bank == root and documented.is_file() else root / _SCHEMA
    marks = {
        "@SCHEMA@": os.path.relpath(schema, spec.parent).replace(os.sep, "/"),
        "@TITLE@": question_id.replace("-", " ").capitalize(),
        "@TRACK@": question_id.partition("-")[0],
        "@ID@": question_id,
    }
    programs = {drill / name: code for name, code in sources.items()}
    _write(ctx, spec, drill if programs else None, {spec: _marked(template, marks), **programs})
    written = [spec, *programs]
    todo = [at for path in written for at in todo_places(ctx.short_path(path), path.read_bytes())]
    with suppress(UsageError):  # for editors; where there is one already it stays
        if files.create(schema, question_schema().encode()):
            written.append(schema)
    _warn_of_taken(ctx, question_id, bank)
    return NewQuestion(bank, written, todo)


def _warn_of_taken(ctx: Context, question_id: str, bank: Path) -> None:
    """Warn if another bank in use has a question of the name of a new one."""
    in_use: dict[str, Path] = {}
    with suppress(DrillError):  # a bank that cannot be read is no matter here
        in_use = bank_names(banks_in_use(None, lambda *_: None))
    for name, other in in_use.items():
        if other != bank and has_question(other, question_id):
            own = shlex.quote(ctx.short_path(bank))
            ctx.warn(
                f"the bank {name} has a question {question_id} too",
                f"say --bank {own} in commands about the new one, or choose another id",
            )


def _template(parts: int | None, form: str, *, one_file: bool) -> tuple[str, Mapping[str, str]]:
    """The text of a spec with marks in it, and by name its programs that are not in it."""
    from grader.forms import FORM_NAMES

    if form not in FORM_NAMES:
        raise UsageError(f"--form: expected one of {', '.join(FORM_NAMES)}, found {form!r}")
    if parts is not None and form != FORM_NAMES[0]:
        raise UsageError(f"--form {form}: expected no --parts")
    if parts is not None:
        return _in_parts(parts), {}
    if form != FORM_NAMES[0]:
        return _text(f"{form}.yaml"), {}
    programs = {name: _text(f"{name}.py") for name in ("reference", "ideas")}
    inline = [f"  {name}: |\n{indent(code, ' ' * 4)}\n" for name, code in programs.items()]
    code = "".join(["code:\n", *inline]) if one_file else _IN_FILES
    files = {} if one_file else {f"{name}.py": code for name, code in programs.items()}
    return _text("question.yaml").replace("@CODE@\n", code), files


def _text(name: str) -> str:
    return (_TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")


def _marked(text: str, marks: Mapping[str, str]) -> str:
    for mark, instead in marks.items():
        text = text.replace(mark, instead)
    return text


def _in_parts(count: int) -> str:
    """A skeleton of a question in parts, each with one check and one idea."""
    if not 2 <= count <= MAX_PARTS:
        raise UsageError(
            f"--parts: expected a number from 2 to {MAX_PARTS}, found {count}",
            hint="without --parts a question of one part is written",
        )
    marks = [
        {
            "@P@": str(p),
            "@POINTS@": str(100 // count + (100 % count if p == 1 else 0)),
            "@FACTOR@": str(p + 1),
            "@PROMPT@": _FIRST if p == 1 else _LATER,
        }
        for p in range(1, count + 1)
    ]
    return re.sub(
        r"@EACH@\n(.*?)@END@\n",
        lambda block: "".join(_marked(block[1], each) for each in marks),
        _text("parts.yaml").replace("@N@", str(count)),
        flags=re.DOTALL,
    )


def _write(ctx: Context, spec: Path, drill: Path | None, texts: dict[Path, str]) -> None:
    """Write everything or nothing, the spec, which comes first, last."""
    for path in filter(None, (spec, spec.with_suffix(".yml"), drill)):
        if os.path.lexists(path):
            raise UsageError(
                f"{ctx.short_path(path)} is there already, and nothing is ever written over it",
                hint="choose another id, or move it away",
            )
    with ExitStack() as undo:
        if drill:
            undo.callback(shutil.rmtree, drill, ignore_errors=True)
        for path, text in reversed(texts.items()):
            files.create(path, text.encode(), _ELSEWHERE)
        undo.pop_all()
