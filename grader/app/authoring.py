"""`drill bank new`: lay a question down that is proved already, to be turned into one's own.

Everything is laid down or nothing is, and never over anything: the drill's folder is finished under
another name and renamed, then the spec appears, which is what makes it a question.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.bank.storage import MOST_LETTERS, is_id, nearest_id
from grader.cli import files, output, place
from grader.cli.words import quantity
from grader.model.errors import UsageError

if TYPE_CHECKING:
    from grader.scaffold.template import Template

_ELSEWHERE = "choose a folder that you can write, with --bank DIR"
_SCHEMA = "question.schema.json"


@dataclass(frozen=True, slots=True)
class _Site:
    """Where a question goes."""

    bank: Path  # what --bank names
    spec: Path
    drill: Path | None  # None: the programs stand in the spec
    schema: Path
    typed: str  # behind --bank, from here

    @property
    def modeline(self) -> str:
        """Where the spec finds the schema."""
        return os.path.relpath(self.schema, self.spec.parent).replace(os.sep, "/")


def new(
    question_id: str, *, bank: Path | None, one_file: bool, oracle: str | None, as_json: bool
) -> int:
    """Lay a question down and say what to do next.

    Args:
        question_id: its id.
        bank: where `--bank` says; otherwise the bank that is the current folder.
        one_file: whether everything goes into one YAML file.
        oracle: the dotted name of a library's function to begin from.
        as_json: whether to print one JSON document.
    """
    from grader.scaffold import template

    _check_id(question_id)
    site = _site(question_id, bank, one_file=one_file)
    _check_free(site)
    todo: tuple[str, ...] = ()
    if oracle is None:
        begun: Template = template.blank()
    else:
        from grader.scaffold.oracle import begin

        begun, todo = begin(oracle)
    texts = template.files(begun, question_id, schema=site.modeline, one_file=one_file)
    written = _lay_down(site, question_id, texts)
    if as_json:
        output.document(
            {
                "format": 1,
                "question": question_id,
                "bank": str(site.bank),
                "spec": str(site.spec),
                "written": [str(path) for path in written],
                "todo": list(todo),
            }
        )
        return 0
    for path in written:
        output.write(_near(path))
    _advise(site, question_id, todo, sum(text.count("TODO") for text in texts.values()))
    return 0


def _check_id(question_id: str) -> None:
    if is_id(question_id):
        return
    better = nearest_id(question_id)
    raise UsageError(
        f"expected an id of lower-case words joined by hyphens, at most {MOST_LETTERS} characters, "
        f"found {question_id!r}",
        hint=f"drill bank new {better}" if better else "drill bank new layernorm-backward",
    )


def _site(question_id: str, bank: Path | None, *, one_file: bool) -> _Site:
    """Work out where the question goes.

    Raises:
        UsageError: `--bank` names something that is no folder.
    """
    here = place.here()
    root = here if bank is None else (here / bank.expanduser())
    if root.exists() and not root.is_dir():
        raise UsageError(
            f"{bank}: expected a folder to put {question_id} into, found a file",
            hint="name the folder that is to be the bank; it is made where there is none",
        )
    root = root.resolve()
    if one_file and bank is None and not (root / "questions").is_dir():
        # A file by itself is a bank.
        name = f"{question_id}.yaml"
        return _Site(root / name, root / name, None, root / _SCHEMA, name)
    documented = root / "docs" / _SCHEMA  # where a checkout of the program has it
    return _Site(
        root,
        root / "questions" / f"{question_id}.yaml",
        None if one_file else root / "drills" / question_id,
        documented if documented.is_file() else root / _SCHEMA,
        _near(root) if root != here.resolve() else ".",
    )


def _check_free(site: _Site) -> None:
    """Raise UsageError where something is in the way."""
    for path in (site.spec, site.spec.with_suffix(".yml"), site.drill):
        if path is not None and os.path.lexists(path):
            raise UsageError(
                f"{_near(path)} is there already, and nothing is ever laid down over it",
                hint="choose another id, or move it away",
            )


def _lay_down(site: _Site, question_id: str, texts: Mapping[str, str]) -> list[Path]:
    """Write everything or nothing; return the paths, the spec first."""
    spec_name = f"questions/{question_id}.yaml"
    programs = {
        name.removeprefix(f"drills/{question_id}/"): text
        for name, text in texts.items()
        if name != spec_name
    }
    try:
        site.spec.parent.mkdir(parents=True, exist_ok=True)
        if site.drill is not None:
            _make_folder(site.drill, programs)
    except OSError as fault:
        _check_free(site)  # made by somebody else since we looked
        raise UsageError(
            f"{fault.filename or site.bank}: cannot be written: {fault.strerror or fault}",
            hint=_ELSEWHERE,
        ) from fault
    spec = False
    try:
        spec = files.create(site.spec, texts[spec_name].encode(), _ELSEWHERE)
    finally:
        if not spec and site.drill is not None:
            shutil.rmtree(site.drill, ignore_errors=True)
    if not spec:  # made by somebody else since we looked
        _check_free(site)
    written = [site.spec]
    if site.drill is not None:
        written += [site.drill / name for name in programs]
    if _write_schema(site.schema):
        written.append(site.schema)
    return written


def _make_folder(folder: Path, programs: Mapping[str, str]) -> None:
    """Make a folder with files, under another name until it is whole."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    fresh = folder.with_name(f".{folder.name}.{os.getpid()}.{os.urandom(4).hex()}.tmp")
    try:
        for name, text in programs.items():
            path = fresh / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        fresh.rename(folder)  # fails where a folder with anything in it is
    finally:
        shutil.rmtree(fresh, ignore_errors=True)


def _write_schema(path: Path) -> bool:
    """Lay the JSON Schema down for editors where there is none; a convenience, so never fatal."""
    if os.path.lexists(path):
        return False
    from grader.bank.schema import text

    with suppress(UsageError):
        return files.create(path, text(extended=True).encode())
    return False


def _advise(site: _Site, question_id: str, todo: tuple[str, ...], marked: int) -> None:
    where = shlex.quote(site.typed)
    output.write()
    for missing in todo:
        output.write(f"to decide: {missing}")
    if marked:
        output.write(f"{quantity(marked, 'place is', 'places are')} marked TODO in the files")
        output.write()
    output.write("next:")
    output.write(f"  drill --bank {where} bank audit {question_id}")
    output.write(f"  drill --bank {where} start {question_id}")
    output.write(f"  drill bank add {where}")
    if marked:
        output.write("  replace what is marked TODO")


def _near(path: Path) -> str:
    """Return a path as short as it can be typed from here."""
    try:
        return str(path.relative_to(place.here().resolve()))
    except ValueError:
        return str(path)
