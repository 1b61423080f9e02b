"""The proof of a question as a file beside it, and whether it still says anything.

It has a line per fact and no time, path or machine in it, so that two proofs can be compared as
text.  A proof says what its writer has seen: whether to believe it is for others to decide.
"""

from __future__ import annotations

import ast
import errno
import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from grader.audit.audit import AuditPlan
from grader.audit.kill_matrix import list_seeds
from grader.bank.bank_files import read_regular_file
from grader.model.audit import (
    AuditReport,
    AuditRow,
    MatrixCell,
    MutantFate,
    MutantTrial,
    MutationReport,
)
from grader.model.limits import MAX_PROOF_BYTES
from grader.model.number_format import format_count
from grader.model.question import Question

ShortText = Annotated[str, Field(max_length=60)]
RecordedCount = Annotated[int, Field(ge=0, le=1_000_000)]
VERDICT_ROOMS = (
    "audit", "bank", "cases", "explain", "forms", "grading", "model", "sandbox",
)  # fmt: skip


class Proof(BaseModel):
    """What an audit with mutants has shown; it had no fault."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: Literal[1] = 1
    question: str
    digest: str  # of the question
    grader: str  # digest of the part of the program that decides
    versions: dict[ShortText, ShortText] = Field(
        max_length=20
    )  # of Python and the libraries that it uses
    seeds: int = Field(ge=1, le=1000)  # 0 and so on
    remarks: RecordedCount
    programs: dict[str, str]  # the checks that stop each, as a grade would have it
    accepted: list[str]  # right solutions besides the reference that pass
    styles: list[str]  # of the reference, made by the audit, that pass
    mutants: RecordedCount
    killed: dict[str, RecordedCount]  # mutants, by the check that was seen to stop them
    equivalent: list[str]
    explained: list[str]

    def to_bytes(self) -> bytes:
        """The file."""
        return json.dumps(self.model_dump(), indent=1).encode() + b"\n"


class ProofState(StrEnum):
    """What has become of a proof."""

    CURRENT = "current"
    QUESTION = "question"  # it is about another version of the question
    LESS = "less"  # it covers less than what is asked for
    GRADER = "grader"  # another version of the program came to it
    LIBRARIES = "libraries"  # other versions of Python or of libraries did
    NONE = "none"


@dataclass(frozen=True, slots=True)
class ProofStatus:
    """What has become of the proof of a question, and a clause that says so."""

    state: ProofState
    text: str
    proof: Proof | None = None


def proof_path(question: Question) -> Path:
    """Where the proof of a question is, or would be: beside its spec."""
    return question.spec_path.with_name(f"{question.id}.proof.json")


def make_proof(question: Question, report: AuditReport, mutants: MutationReport) -> Proof:
    """What was found of a question, to be written; the caller sees that it has no fault."""
    fates = {fate: [t for t in mutants.trials if t.fate is fate] for fate in MutantFate}
    killed = Counter(str(trial.killed_by) for trial in fates[MutantFate.KILLED])
    return Proof(
        question=question.id,
        digest=question.digest,
        grader=grader_digest(),
        versions=proof_versions(question),
        seeds=len(report.seeds),
        remarks=len(report.remarks),
        programs={row.name: _stopped(row, report.seeds) for row in report.programs},
        accepted=[one.name for one in report.accepted if not one.derived],
        styles=[one.name for one in report.accepted if one.derived],
        mutants=len(mutants.trials),
        killed=dict(sorted(killed.items())),
        equivalent=[_change(trial) for trial in fates[MutantFate.EQUIVALENT]],
        explained=[_change(trial) for trial in fates[MutantFate.EXPLAINED]],
    )


def proof_status(question: Question, plan: AuditPlan) -> ProofStatus:
    """Read the proof of a question and hold it against the question, the program and a plan."""
    proof = _read(proof_path(question))
    if isinstance(proof, str):
        return ProofStatus(ProofState.NONE, proof)
    extent = f"{format_count(proof.seeds, 'seed')}, {format_count(proof.mutants, 'mutant')}"
    if (proof.question, proof.digest) != (question.id, question.digest):
        state, text = ProofState.QUESTION, "the question has changed since its proof"
    elif proof.seeds <= max(plan.seeds):
        asked = len(plan.seeds)
        state, text = ProofState.LESS, f"proved with {extent}, and {asked} seeds are asked for"
    elif plan.strict and proof.remarks:
        state, text = ProofState.LESS, f"proved with {format_count(proof.remarks, 'remark')}"
    elif proof.grader != grader_digest():
        state, text = ProofState.GRADER, f"the grader has changed since its proof ({extent})"
    elif proof.versions != proof_versions(question):
        said = ", ".join(f"{name} {version}" for name, version in proof.versions.items())
        state, text = ProofState.LIBRARIES, f"proved with {said}, not with what is here"
    else:
        state, text = ProofState.CURRENT, f"proved before: this question, this grader, {extent}"
    return ProofStatus(state, text, proof)


@cache
def grader_digest() -> str:
    """The digest of the code that takes part in a verdict, without comments and docstrings."""
    package, whole = Path(__file__).parents[1], hashlib.sha256()
    for path in sorted(path for room in VERDICT_ROOMS for path in (package / room).rglob("*.py")):
        name = path.relative_to(package).as_posix()
        whole.update(f"{name}\n{_code(path.read_bytes())}\n".encode())
    return whole.hexdigest()


def _code(source: bytes) -> str:
    """The syntax tree of a source without its docstrings, as text."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def proof_versions(question: Question) -> dict[str, str]:
    """Those of Python and of the libraries that a question runs on, as far as they are known."""
    found = {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    for name in sorted({"numpy", *question.spec.uses}):
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name).partition("+")[0]  # `+cpu` is a build's
    return found


def _change(trial: MutantTrial) -> str:
    """What a mutant changes, whatever line it stands in."""
    scope, was, becomes = trial.mutant.key
    return f"{scope}: {was} -> {becomes}"


def _stopped(row: AuditRow, seeds: Sequence[int]) -> str:
    """The checks that stop a program in a grade, and where that depends, on which seeds not."""
    found = []
    for check, cell in row.cells.items():
        if cell is MatrixCell.KILLS:
            found.append(check)
        elif cell is MatrixCell.VARIES:
            passing = row.passing_seeds[check]
            found.append(f"{check} (not on {list_seeds([s for s in seeds if s in passing])})")
    return ", ".join(found) or "passes"


def _read(path: Path) -> Proof | str:
    """A proof, or why there is none."""
    if not os.path.lexists(path):
        return "no proof"
    try:
        content = read_regular_file(path, MAX_PROOF_BYTES + 1)[0]
        if len(content) > MAX_PROOF_BYTES:
            return (
                f"no proof: expected at most {MAX_PROOF_BYTES:,} bytes in {path.name}, found more"
            )
        return Proof.model_validate_json(content)
    except OSError as error:
        what = "a symbolic link" if error.errno == errno.ELOOP else error.strerror
        return f"no proof: expected a file at {path.name}, found {what}"
    except ValidationError:
        return f"no proof: {path.name} is damaged, or of another version of the program"
