"""The files of a new question: one that is proved already, to be turned into one's own.

A template is the text of a spec with marks for what differs: the id, and where the programs go,
which are files or stand in the spec.  The template of `drill bank new` is in `templates/`; that of
`drill bank new --from` is written by `grader.scaffold.oracle`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from textwrap import indent

_FOLDER = Path(__file__).parent / "templates"
_SPEC = "question.yaml.txt"
_ENDING = ".py.txt"
_PARTS = ("reference", "starter")
_COLUMN = 33  # of the comments behind short values
_FILES = """\
# The programs are files: drills/@ID@/reference.py, starter.py, and misconceptions/*.py.

"""
_INLINE = "# The programs. A misconception has its own below its feedback.\n"


@dataclass(frozen=True, slots=True)
class Template:
    """A spec with marks in it, and its programs by name: reference, starter, misconceptions."""

    spec: str
    programs: Mapping[str, str]


def blank() -> Template:
    """The template of a new question about nothing in particular."""
    programs = {
        path.name.removesuffix(_ENDING): path.read_text(encoding="utf-8")
        for path in sorted(_FOLDER.glob(f"*{_ENDING}"))
    }
    return Template((_FOLDER / _SPEC).read_text(encoding="utf-8"), programs)


def files(template: Template, question_id: str, *, schema: str, one_file: bool) -> dict[str, str]:
    """The texts of a question by their names in a bank.

    Args:
        template: what the question is to begin as.
        question_id: its id.
        schema: where the modeline finds the JSON Schema.
        one_file: whether the programs stand in the spec.

    Returns:
        `questions/ID.yaml`, and unless it is one file, everything below `drills/ID/`.
    """
    marks = {
        "@SCHEMA@": schema,
        "@TITLE@": question_id.replace("-", " ").capitalize(),
        "@TRACK@": question_id.partition("-")[0],
    }
    lines = []
    for line in template.spec.splitlines(keepends=True):
        mark = line.strip()
        if mark == "@CODE@":
            lines.append(_inline_parts(template) if one_file else _FILES)
        elif mark.startswith("@CODE ") and mark.endswith("@"):
            name = mark[len("@CODE ") : -1]
            if one_file:
                lines.append("    code: |\n" + indent(template.programs[name], " " * 6))
        else:
            lines.append(line)
    spec = "".join(lines)
    for mark, text in {**marks, "@ID@": question_id}.items():
        spec = spec.replace(mark, text)
    spec = _aligned(spec)
    found = {f"questions/{question_id}.yaml": spec}
    if not one_file:
        found |= {
            f"drills/{question_id}/{_file(name)}": text for name, text in template.programs.items()
        }
    return found


def _aligned(spec: str) -> str:
    """The spec with the comments of its first block in one column, however long the values are."""
    head, blank, rest = spec.partition("\n\n")
    lines = [line.partition("# ") for line in head.split("\n")]
    behind = [key.rstrip() for key, mark, _ in lines if key.strip() and mark]
    column = max(_COLUMN, *(len(key) + 2 for key in behind)) if behind else _COLUMN
    head = "\n".join(
        f"{key.rstrip():<{column}}{mark}{said}" if key.strip() and mark else f"{key}{mark}{said}"
        for key, mark, said in lines
    )
    return f"{head}{blank}{rest}"


def _inline_parts(template: Template) -> str:
    blocks = [f"  {part}: |\n" + indent(template.programs[part], " " * 4) for part in _PARTS]
    return _INLINE + "code:\n" + "\n".join(blocks) + "\n"


def _file(program: str) -> str:
    name = f"{program.replace('-', '_')}.py"
    return name if program in _PARTS else f"misconceptions/{name}"
