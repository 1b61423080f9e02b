"""The proof of a question, as a file next to its spec, and its state.

A proof has one line per fact, and no time, path or machine: two proofs can be compared as text.  It
records the results that its writer has seen; readers decide if they believe it.
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
    """Results of an audit with mutants that found no problem."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    format: Literal[1] = 1
    question: str
    digest: str  # of the question
    grader: str  # digest of the code that decides verdicts
    versions: dict[ShortText, ShortText] = Field(max_length=20)  # of Python and libraries
    seeds: int = Field(ge=1, le=1000)  # number of seeds: 0, 1 and so on
    remarks: RecordedCount
    programs: dict[str, str]  # by program, the checks that stop it in a grade
    accepted: list[str]  # accepted solutions that pass
    styles: list[str]  # styles of the reference, derived by the audit, that pass
    mutants: RecordedCount
    killed: dict[str, RecordedCount]  # mutants by the check that killed them first
    equivalent: list[str]  # mutants as `SCOPE: OLD CODE -> NEW CODE`
    explained: list[str]  # likewise

    def to_bytes(self) -> bytes:
        """Return the content of the file."""
        return json.dumps(self.model_dump(), indent=1).encode() + b"\n"


class ProofState(StrEnum):
    """Whether a stored proof still holds; if not, what changed since it was written."""

    CURRENT = "current"
    QUESTION = "question"  # it is about another version of the question
    LESS = "less"  # it covers fewer seeds than the plan, or a strict plan forbids its remarks
    GRADER = "grader"  # it was written by another version of the program
    LIBRARIES = "libraries"  # it was written with other versions of Python or of libraries
    NONE = "none"  # there is no proof that can be read


@dataclass(frozen=True, slots=True)
class ProofStatus:
    """State of a question's proof, and a clause on it: `proved with 1 remark`."""

    state: ProofState
    text: str
    proof: Proof | None = None


def proof_path(question: Question) -> Path:
    """Return the path of a question's proof, next to its spec; there may be no file."""
    return question.spec_path.with_name(f"{question.id}.proof.json")


def make_proof(question: Question, report: AuditReport, mutants: MutationReport) -> Proof:
    """Return the proof to write.  The caller makes sure that the reports have no problem."""
    trials = {
        fate: [trial for trial in mutants.trials if trial.fate is fate] for fate in MutantFate
    }
    killed = Counter(str(trial.killed_by) for trial in trials[MutantFate.KILLED])
    return Proof(
        question=question.id,
        digest=question.digest,
        grader=grader_digest(),
        versions=proof_versions(question),
        seeds=len(report.seeds),
        remarks=len(report.remarks),
        programs={row.name: _stopping_checks(row, report.seeds) for row in report.programs},
        accepted=[result.name for result in report.accepted if not result.derived],
        styles=[result.name for result in report.accepted if result.derived],
        mutants=len(mutants.trials),
        killed=dict(sorted(killed.items())),
        equivalent=[_mutation_text(trial) for trial in trials[MutantFate.EQUIVALENT]],
        explained=[_mutation_text(trial) for trial in trials[MutantFate.EXPLAINED]],
    )


def proof_status(question: Question, plan: AuditPlan) -> ProofStatus:
    """Return whether the stored proof of a question holds for a plan, or one reason why not."""
    proof = _read_proof(proof_path(question))
    if isinstance(proof, str):
        return ProofStatus(ProofState.NONE, proof)
    extent = f"{format_count(proof.seeds, 'seed')}, {format_count(proof.mutants, 'mutant')}"
    if (proof.question, proof.digest) != (question.id, question.digest):
        state = ProofState.QUESTION
        text = "the question has changed since its proof"
    elif proof.seeds <= max(plan.seeds):
        state = ProofState.LESS
        text = f"proved with {extent}, and {len(plan.seeds)} seeds are asked for"
    elif plan.strict and proof.remarks:
        state = ProofState.LESS
        text = f"proved with {format_count(proof.remarks, 'remark')}"
    elif proof.grader != grader_digest():
        state = ProofState.GRADER
        text = f"the grader has changed since its proof ({extent})"
    elif proof.versions != proof_versions(question):
        state = ProofState.LIBRARIES
        versions = ", ".join(f"{name} {version}" for name, version in proof.versions.items())
        text = f"proved with {versions}, not with what is here"
    else:
        state = ProofState.CURRENT
        text = f"proved before: this question, this grader, {extent}"
    return ProofStatus(state, text, proof)


@cache
def grader_digest() -> str:
    """Return the digest of the code in VERDICT_ROOMS, without comments and docstrings."""
    package = Path(__file__).parents[1]
    digest = hashlib.sha256()
    for path in sorted(path for room in VERDICT_ROOMS for path in (package / room).rglob("*.py")):
        name = path.relative_to(package).as_posix()
        digest.update(f"{name}\n{_code(path.read_bytes())}\n".encode())
    return digest.hexdigest()


def _code(source: bytes) -> str:
    """Return the syntax tree of a source as text, without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if ast.get_docstring(node, clean=False) is not None:
            node.body = node.body[1:]
    return ast.dump(tree)


def proof_versions(question: Question) -> dict[str, str]:
    """Return the versions of Python and of the libraries that a question runs on."""
    versions = {"python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    for name in sorted({"numpy", *question.spec.uses}):
        with suppress(metadata.PackageNotFoundError):
            version = metadata.version(name)
            versions[name] = version.partition("+")[0]  # `+cpu` names a build
    return versions


def _mutation_text(trial: MutantTrial) -> str:
    """Return a mutant as text, without its line: `forward: return a + b -> return a - b`."""
    scope, was, becomes = trial.mutant.key
    return f"{scope}: {was} -> {becomes}"


def _stopping_checks(row: AuditRow, seeds: Sequence[int]) -> str:
    """Return the checks that stop a program in a grade: `shape, values (not on seed 2)`.

    If none does, return "passes".
    """
    checks = []
    for check, cell in row.cells.items():
        if cell is MatrixCell.KILLS:
            checks.append(check)
        elif cell is MatrixCell.VARIES:
            passing_seeds = [seed for seed in seeds if seed in row.passing_seeds[check]]
            checks.append(f"{check} (not on {list_seeds(passing_seeds)})")
    return ", ".join(checks) or "passes"


def _read_proof(path: Path) -> Proof | str:
    """Return a proof, or a clause that says why it cannot be read."""
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
        reason = "a symbolic link" if error.errno == errno.ELOOP else error.strerror
        return f"no proof: expected a file at {path.name}, found {reason}"
    except ValidationError:
        return f"no proof: {path.name} is damaged, or of another version of the program"
