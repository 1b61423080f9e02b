"""Load a question: its spec, validated, and the source of every program it names."""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from grader.bank import document, faults, steps
from grader.bank.consistency import Review
from grader.bank.sources import Sources, todos
from grader.bank.storage import files_of
from grader.model.errors import BankError
from grader.model.question import Question, Step

if TYPE_CHECKING:
    from grader.model.spec import Spec


def load_from(bank: Path, question_id: str) -> Question:
    """Load a question of one bank that has it.

    Raises:
        BankError: it is broken; `problems` lists every fault.
    """
    files = files_of(bank)
    name = files.specs()[question_id]
    path = files.shown(name)
    try:
        raw = files.read(name, document.MAX_BYTES + 1)
    except OSError as error:
        raise BankError(
            f"{path}: expected a file that can be read, found {error.strerror}"
        ) from None
    doc = document.parse(raw, path)
    spec, found, left_out = faults.validate(doc)
    if spec is None:
        raise doc.complaint(found)
    runs, unread = _runs(doc, spec, left_out.of("run"))
    left_out = replace(left_out, named=left_out.named | {("run", name) for name, _ in unread})
    programs = Sources(files, question_id, doc, spec)
    question = Question(
        id=question_id,
        bank=bank,
        spec=spec,
        runs=runs,
        starter=programs.starter,
        reference=programs.reference,
        driver=programs.driver,
        variants=programs.variants,
        spec_path=path,
        digest=_digest(raw, programs),
        todos=(*todos(name, raw), *programs.todos),
    )
    found += [*unread.values(), *programs.problems]
    found += [
        (*doc.position(at), text)
        for at, text in islice(Review(question, left_out).problems(), document.MAX_PROBLEMS)
    ]
    if found:
        raise doc.complaint(found)
    return question


def _digest(spec: bytes, programs: Sources) -> str:
    """What changes whenever a byte of the question does: of its spec or of any program."""
    parts = [("spec", spec), ("starter", programs.starter), ("reference", programs.reference)]
    parts += [] if programs.driver is None else [("driver", programs.driver)]
    for name, sources in sorted(programs.variants.items()):
        parts += [(f"{name} {i}", source) for i, source in enumerate(sources)]
    whole = hashlib.sha256()
    for name, content in parts:
        whole.update(f"{name} {len(content)}\n".encode() + content)
    return whole.hexdigest()


def _runs(
    doc: document.Document, spec: Spec, lost: Collection[str]
) -> tuple[dict[str, tuple[Step, ...]], dict[tuple[str, int], document.Problem]]:
    """The steps of every run, and those that cannot be read."""
    runs: dict[str, tuple[Step, ...]] = {}
    unread: dict[tuple[str, int], document.Problem] = {}
    for name, texts in spec.runs.items():
        if name in lost:
            continue
        parsed: list[Step] = []
        for i, text in enumerate(texts):
            try:
                parsed.append(steps.parse(text))
            except steps.StepError as error:
                place = doc.position(spec.step_keys(name, i))
                unread[name, i] = (*place, f"step {i + 1} of {name}: {error}")
        runs[name] = tuple(parsed)
    return runs, unread
