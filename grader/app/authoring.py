"""Write a question that is proved already, to be turned into one's own.

A template is the text of a spec with marks for what differs: the id, and where the programs go,
which are files or stand in the spec.  Everything is written or nothing is, and never over anything:
the drill's folder comes first, then the spec appears, which is what makes it a question.
"""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Mapping
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

from grader.app import files
from grader.app.context import Context
from grader.bank.storage import MOST_LETTERS, is_id, nearest_id
from grader.model.errors import UsageError

MOST_PARTS = 9
_ELSEWHERE = "choose a folder that you can write, with --bank DIR"
_SCHEMA = "question.schema.json"
_TEMPLATES = Path(__file__).parent / "templates"
_ENDING = ".py.txt"
_HEAD = ("reference", "starter")
_IN_FILES = (
    "# The programs are files: drills/@ID@/reference.py, starter.py, and misconceptions/*.py.\n\n"
)
_INLINE = "# The programs. A misconception has its own below its feedback.\ncode:\n"
_FIRST = "TODO The story: what goes wrong, for whom, and how it shows. Never the cause."
_LATER = "TODO What the interviewer asks next, in a sentence: an edge, then what it costs."


@dataclass(frozen=True, slots=True)
class Written:
    """A new question."""

    bank: Path  # what --bank names
    written: list[Path]  # the spec first
    todo: list[str]  # file:line of what is marked TODO


@dataclass(frozen=True, slots=True)
class Template:
    """A spec with marks in it, and its programs by name: reference, starter, misconceptions."""

    spec: str
    programs: Mapping[str, str]


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
    from grader.kinds.schema import schema as question_schema

    if fault := id_fault(question_id):
        better = nearest_id(question_id) or "my-norm"
        raise UsageError(fault, hint=f"drill bank new {better}{ctx.option}")
    root = ctx.here() / (ctx.bank or Path()).expanduser()
    if os.path.lexists(root) and not os.path.isdir(root):  # noqa: PTH112 never raises
        raise UsageError(
            f"{ctx.bank}: expected a folder to put {question_id} into, found a file",
            hint="name the folder that is to be the bank; it is made where there is none",
        )
    bank = root = root.resolve()
    spec = root / "questions" / f"{question_id}.yaml"
    template = _template(parts, form)
    inline = one_file or not template.programs
    drill = None if inline else root / "drills" / question_id
    if one_file and ctx.bank is None and not spec.parent.is_dir():
        bank = spec = root / spec.name
    documented = root / "docs" / _SCHEMA  # where a checkout of the program has it
    schema = documented if bank == root and documented.is_file() else root / _SCHEMA
    _check_free(ctx, spec, drill)
    named = os.path.relpath(schema, spec.parent).replace(os.sep, "/")
    text = _filled(template, question_id, schema=named, inline=inline)
    programs = {drill / _file(n): t for n, t in template.programs.items()} if drill else {}
    _write(ctx, spec, drill, {spec: text, **programs})
    written = [spec, *programs]
    todo = [at for path in written for at in todos(ctx.near(path), path.read_bytes())]
    with suppress(UsageError):  # for editors; where there is one already it stays
        if files.create(schema, question_schema().encode()):
            written.append(schema)
    return Written(bank, written, todo)


def id_fault(name: str) -> str:
    """Return what is wrong with the id of a question, nothing where it is a good one."""
    if is_id(name):
        return ""
    return (
        f"expected an id of lower-case words joined by hyphens, at most {MOST_LETTERS} characters,"
        f" found {name!r}"
    )


def _template(parts: int | None, form: str) -> Template:
    from grader.forms import NAMES

    if form not in NAMES:
        raise UsageError(f"--form: expected one of {', '.join(NAMES)}, found {form!r}")
    if parts is not None:
        if form != NAMES[0]:
            raise UsageError(f"--form {form}: expected no --parts")
        return _in_parts(parts)
    if form != NAMES[0]:
        return Template(_text(f"{form}.yaml"), {})
    names = sorted(path.name.removesuffix(".txt") for path in _TEMPLATES.glob(f"*{_ENDING}"))
    return Template(_text("question.yaml"), {n.removesuffix(".py"): _text(n) for n in names})


def _text(name: str) -> str:
    return (_TEMPLATES / f"{name}.txt").read_text(encoding="utf-8")


def _in_parts(count: int) -> Template:
    """A skeleton of a question in parts, each with one check and one idea."""
    if not 2 <= count <= MOST_PARTS:
        raise UsageError(
            f"--parts: expected a number from 2 to {MOST_PARTS}, found {count}",
            hint="without --parts a question of one part is written",
        )
    numbers = range(1, count + 1)

    def each(block: re.Match[str]) -> str:
        return "".join(
            block[1]
            .replace("@P@", str(p))
            .replace("@POINTS@", str(100 // count + (100 % count if p == 1 else 0)))
            .replace("@FACTOR@", str(p + 1))
            .replace("@PROMPT@", _FIRST if p == 1 else _LATER)
            for p in numbers
        )

    text = _text("parts.yaml").replace("@N@", str(count))
    spec = re.sub(r"@EACH@\n(.*?)@END@\n", each, text, flags=re.DOTALL)
    head = '"""TODO what is asked."""\n\n\n'
    right = "\n\n".join(f"def answer_{p}(x):\n    return {p + 1} * x\n" for p in numbers)
    wrong = {f"idea-{p}": f"def answer_{p}(x):\n    return x + {p + 1}\n" for p in numbers}
    starter = f"{head}# TODO code that looks plausible and holds idea-1\n{wrong['idea-1']}"
    ideas = {name: f"# TODO a wrong idea\n{code}" for name, code in wrong.items()}
    return Template(spec, {"reference": head + right, "starter": starter, **ideas})


def _filled(template: Template, question_id: str, *, schema: str, inline: bool) -> str:
    """The spec, with its marks filled; the programs are in it where they are `inline`."""
    code = "".join(
        f"  {name}: |\n{indent(template.programs.get(name, ''), ' ' * 4)}\n" for name in _HEAD
    )
    marks = {"@CODE@\n": _INLINE + code if inline else _IN_FILES}
    for name in template.programs.keys() - {*_HEAD}:
        idea = "    code: |\n" + indent(template.programs[name], " " * 6)
        marks[f"@CODE {name}@\n"] = idea if inline else ""
    marks |= {
        "@SCHEMA@": schema,
        "@TITLE@": question_id.replace("-", " ").capitalize(),
        "@TRACK@": question_id.partition("-")[0],
        "@ID@": question_id,
    }
    spec = template.spec
    for mark, text in marks.items():
        spec = spec.replace(mark, text)
    return spec


def _file(program: str) -> str:
    name = f"{program.replace('-', '_')}.py"
    return name if program in _HEAD else f"misconceptions/{name}"


def _check_free(ctx: Context, spec: Path, drill: Path | None) -> None:
    """Raise UsageError where something is in the way."""
    for path in (spec, spec.with_suffix(".yml"), drill):
        if path is not None and os.path.lexists(path):
            raise UsageError(
                f"{ctx.near(path)} is there already, and nothing is ever written over it",
                hint="choose another id, or move it away",
            )


def _write(ctx: Context, spec: Path, drill: Path | None, texts: Mapping[Path, str]) -> None:
    """Write everything or nothing, the spec last."""
    with ExitStack() as undo:
        try:
            spec.parent.mkdir(parents=True, exist_ok=True)
            if drill is not None:
                drill.parent.mkdir(parents=True, exist_ok=True)
                drill.mkdir()  # fails where something is
                undo.callback(shutil.rmtree, drill, ignore_errors=True)
            for path, text in texts.items():
                if path != spec:
                    path.parent.mkdir(exist_ok=True)
                    path.write_text(text, encoding="utf-8")
        except OSError as fault:
            _check_free(ctx, spec, drill)  # made by somebody else since we looked
            raise UsageError(
                f"{fault.filename or spec}: cannot be written: {fault.strerror or fault}",
                hint=_ELSEWHERE,
            ) from fault
        if files.create(spec, texts[spec].encode(), _ELSEWHERE):
            undo.pop_all()
            return
    _check_free(ctx, spec, drill)
    raise UsageError(f"{spec}: it was made by somebody else meanwhile")
