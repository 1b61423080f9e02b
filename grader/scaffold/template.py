"""The files of a new question.

A template is the text of a spec with marks for what differs: the id, and where the programs go,
which are files or stand in the spec.  The texts are in `templates/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from textwrap import indent
from typing import NamedTuple

FOLDER = Path(__file__).parent / "templates"
_ENDING = ".py.txt"
_PARTS = ("reference", "starter")
_FILES = (
    "# The programs are files: drills/@ID@/reference.py, starter.py, and misconceptions/*.py.\n\n"
)
_INLINE = "# The programs. A misconception has its own below its feedback.\ncode:\n"


class Template(NamedTuple):
    """A spec with marks in it, and its programs by name: reference, starter, misconceptions."""

    spec: str
    programs: Mapping[str, str]


def blank() -> Template:
    """The template of a new question about nothing in particular; it passes its audit."""
    programs = {
        path.name.removesuffix(_ENDING): path.read_text(encoding="utf-8")
        for path in sorted(FOLDER.glob(f"*{_ENDING}"))
    }
    return Template((FOLDER / "question.yaml.txt").read_text(encoding="utf-8"), programs)


def of_form(form: str) -> Template:
    """The template of a new question of which the answers are text; it passes its audit."""
    return Template((FOLDER / f"{form}.yaml.txt").read_text(encoding="utf-8"), {})


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
    programs = {p: template.programs[p] for p in _PARTS if p in template.programs}
    parts = [f"  {p}: |\n" + indent(text, " " * 4) + "\n" for p, text in programs.items()]
    marks = {"@CODE@\n": _INLINE + "".join(parts) if one_file else _FILES}
    for name in template.programs.keys() - _PARTS:
        code = "    code: |\n" + indent(template.programs[name], " " * 6)
        marks[f"@CODE {name}@\n"] = code if one_file else ""
    marks |= {
        "@SCHEMA@": schema,
        "@TITLE@": question_id.replace("-", " ").capitalize(),
        "@TRACK@": question_id.partition("-")[0],
        "@ID@": question_id,
    }
    spec = template.spec
    for mark, text in marks.items():
        spec = spec.replace(mark, text)
    found = {f"questions/{question_id}.yaml": spec}
    if not one_file and template.programs:
        found |= {f"drills/{question_id}/{_file(n)}": t for n, t in template.programs.items()}
    return found


def _file(program: str) -> str:
    name = f"{program.replace('-', '_')}.py"
    return name if program in _PARTS else f"misconceptions/{name}"
