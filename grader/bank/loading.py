"""Load a question: its spec, validated, and the source of every program it names."""

from __future__ import annotations

import hashlib
from itertools import islice
from pathlib import Path

from grader.bank import document, faults, steps
from grader.bank.consistency import Review
from grader.bank.sources import Sources, todos
from grader.bank.storage import files_of
from grader.model.errors import BankError
from grader.model.question import Question, Step
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
    spec, found, lost = faults.validate(doc)
    if spec is None:
        raise doc.complaint(found)
    runs, unread = _runs(doc, spec, lost)
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
    found += [*unread, *programs.problems]
    found += [
        (*doc.position(at), text)
        for at, text in islice(Review(question, lost).problems(), document.MAX_PROBLEMS)
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
    doc: document.Document, spec: Spec, lost: faults.Lost
) -> tuple[dict[str, tuple[Step, ...]], list[document.Problem]]:
    """The steps of every run that is left, and what is wrong with others, which are lost now."""
    runs: dict[str, tuple[Step, ...]] = {}
    unread: list[document.Problem] = []
    for name, texts in spec.runs.items():
        if ("run", name) in lost:
            continue
        parsed: list[Step] = []
        for i, text in enumerate(texts):
            try:
                parsed.append(steps.parse(text))
            except steps.StepError as error:
                place = doc.position(spec.step_keys(name, i))
                unread.append((*place, f"step {i + 1} of {name}: {error}"))
                lost.add(("run", name))
        runs[name] = tuple(parsed)
    return runs, unread
