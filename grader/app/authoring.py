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

from grader.app import files
from grader.app.context import Context
from grader.bank.storage import FOLDER, MOST_LETTERS, NOTHING, found_at, is_id, nearest_id
from grader.model.errors import UsageError

_ELSEWHERE = "choose a folder that you can write, with --bank DIR"
_SCHEMA = "question.schema.json"


@dataclass(frozen=True, slots=True)
class Site:
    """Where a question goes."""

    bank: Path  # what --bank names
    spec: Path
    drill: Path | None  # None: the programs stand in the spec
    schema: Path
    typed: str  # after --bank, from here


@dataclass(frozen=True, slots=True)
class Written:
    """A new question."""

    site: Site
    written: list[Path]  # the spec first
    todo: list[str]  # file:line of what is marked TODO


def new(
    ctx: Context, question_id: str, *, one_file: bool = False, oracle: str | None = None
) -> Written:
    """Write a question to begin from, over nothing.

    Without `--bank` the current folder is the bank. `oracle` is the dotted name of a library's
    function to begin from.

    Raises:
        UsageError: Something is in the way, or there is no such function.
    """
    from grader.bank.loading import todos
    from grader.scaffold import template

    if fault := id_fault(question_id):
        better = nearest_id(question_id) or "layernorm-backward"
        raise UsageError(fault, hint=f"drill bank new {better}")
    site = _site(ctx, question_id, one_file=one_file)
    _check_free(ctx, site)
    if oracle is None:
        begun = template.blank()
    else:
        from grader.scaffold.skeleton import begin

        begun = begin(oracle)
    schema = os.path.relpath(site.schema, site.spec.parent).replace(os.sep, "/")
    texts = template.files(begun, question_id, schema=schema, one_file=one_file)
    written = _write(ctx, site, question_id, texts)
    made = [(ctx.near(path), path.read_bytes()) for path in written[: len(texts)]]
    return Written(site, written, [at for name, content in made for at in todos(name, content)])


def id_fault(name: str) -> str:
    """Return what is wrong with the id of a question, nothing where it is a good one."""
    if is_id(name):
        return ""
    return (
        f"expected an id of lower-case words joined by hyphens, at most {MOST_LETTERS} characters,"
        f" found {name!r}"
    )


def _site(ctx: Context, question_id: str, *, one_file: bool) -> Site:
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
        return Site(root / name, root / name, None, root / _SCHEMA, name)
    documented = root / "docs" / _SCHEMA  # where a checkout of the program has it
    return Site(
        root,
        root / "questions" / f"{question_id}.yaml",
        None if one_file else root / "drills" / question_id,
        documented if documented.is_file() else root / _SCHEMA,
        ctx.near(root) if root != here.resolve() else ".",
    )


def _check_free(ctx: Context, site: Site) -> None:
    """Raise UsageError where something is in the way."""
    for path in (site.spec, site.spec.with_suffix(".yml"), site.drill):
        if path is not None and os.path.lexists(path):
            raise UsageError(
                f"{ctx.near(path)} is there already, and nothing is ever written over it",
                hint="choose another id, or move it away",
            )


def _write(ctx: Context, site: Site, question_id: str, texts: Mapping[str, str]) -> list[Path]:
    """Write everything or nothing; return the paths, the spec first."""
    from grader.kinds import registry

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
    with suppress(UsageError):  # for editors; where there is one already it stays
        if files.create(site.schema, registry.schema(extended=True).encode()):
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
