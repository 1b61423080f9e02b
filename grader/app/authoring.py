"""Write a question that is proved already, to be turned into one's own.

Everything is written or nothing is, and never over anything: the drill's folder is finished under
another name and renamed, then the spec appears, which is what makes it a question.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from grader.app import files
from grader.bank.storage import FOLDER, MOST_LETTERS, NOTHING, found_at, is_id, nearest_id
from grader.model.errors import UsageError

if TYPE_CHECKING:
    from grader.app.context import Context

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


@dataclass(frozen=True, slots=True)
class Written:
    """A new question."""

    bank: Path
    spec: Path
    written: tuple[Path, ...]  # the spec first
    todo: tuple[str, ...]  # file:line of what is marked TODO
    typed: str  # behind --bank, from here


def new(
    ctx: Context, question_id: str, *, one_file: bool = False, oracle: str | None = None
) -> Written:
    """Write a question to begin from, over nothing.

    Args:
        ctx: Where the person is; without `--bank` the current folder is the bank.
        question_id: Its id.
        one_file: Whether everything goes into one YAML file.
        oracle: The dotted name of a library's function to begin from.

    Raises:
        UsageError: Something is in the way, or there is no such function.
    """
    from grader.bank.sources import todos
    from grader.scaffold import template

    _check_id(question_id)
    site = _site(ctx, question_id, one_file=one_file)
    _check_free(ctx, site)
    if oracle is None:
        begun = template.blank()
    else:
        from grader.scaffold.skeleton import begin

        begun = begin(oracle)
    texts = template.files(begun, question_id, schema=site.modeline, one_file=one_file)
    written = _write(ctx, site, question_id, texts)
    made = [(ctx.near(path), path.read_bytes()) for path in written[: len(texts)]]
    todo = [place for name, content in made for place in todos(name, content)]
    return Written(site.bank, site.spec, tuple(written), tuple(todo), site.typed)


def _check_id(question_id: str) -> None:
    if is_id(question_id):
        return
    better = nearest_id(question_id)
    raise UsageError(
        f"expected an id of lower-case words joined by hyphens, at most {MOST_LETTERS} characters, "
        f"found {question_id!r}",
        hint=f"drill bank new {better}" if better else "drill bank new layernorm-backward",
    )


def _site(ctx: Context, question_id: str, *, one_file: bool) -> _Site:
    """Work out where the question goes.

    Raises:
        UsageError: `--bank` names something that is no folder.
    """
    here, bank = ctx.here(), ctx.bank
    root = here if bank is None else (here / bank.expanduser())
    if (found := found_at(root)) not in {FOLDER, NOTHING}:
        raise UsageError(
            f"{bank}: expected a folder to put {question_id} into, found {found}",
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
        ctx.near(root) if root != here.resolve() else ".",
    )


def _check_free(ctx: Context, site: _Site) -> None:
    """Raise UsageError where something is in the way."""
    for path in (site.spec, site.spec.with_suffix(".yml"), site.drill):
        if path is not None and os.path.lexists(path):
            raise UsageError(
                f"{ctx.near(path)} is there already, and nothing is ever written over it",
                hint="choose another id, or move it away",
            )


def _write(ctx: Context, site: _Site, question_id: str, texts: Mapping[str, str]) -> list[Path]:
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
        _check_free(ctx, site)  # made by somebody else since we looked
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
        _check_free(ctx, site)
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
    """Write the JSON Schema for editors where there is none; a convenience, so never fatal."""
    if os.path.lexists(path):
        return False
    from grader.bank.schema import text

    with suppress(UsageError):
        return files.create(path, text(extended=True).encode())
    return False
