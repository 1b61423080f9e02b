"""Load a question: its spec, validated, and the source of every program it names."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from grader.bank import document, faults, steps
from grader.bank.consistency import problems
from grader.bank.locate import closest, ids, spec_paths
from grader.model.errors import BankError, UsageError
from grader.model.question import Question, Step

MAX_SOURCE = 1 << 20


def load(banks: Sequence[Path], question_id: str) -> Question:
    """Load one question from the first bank that has it.

    Raises:
        UsageError: no bank has it.
        BankError: it is broken; `problems` lists every fault.
    """
    for bank in banks:
        path = spec_paths(bank).get(question_id)
        if path is not None:
            return load_file(bank, path)
    known = ids(banks)
    near = closest(question_id, known)
    hint = f"did you mean {near}?" if near else "drill list shows them all"
    raise UsageError(f"expected the id of a question, found {question_id!r}", hint)


def load_file(bank: Path, path: Path) -> Question:
    """Load the question of one spec file."""
    doc = document.read(path)
    spec = faults.validate(doc)
    found: list[str] = []
    runs: dict[str, tuple[Step, ...]] = {}
    plain = isinstance(spec.run, list)
    for name, texts in spec.runs.items():
        parsed: list[Step] = []
        for i, text in enumerate(texts):
            try:
                parsed.append(steps.parse(text))
            except steps.StepError as error:
                at = ("run", i) if plain else ("run", name, i)
                found.append(f"{doc.where(at)}: step {i + 1} of {name}: {error}")
        runs[name] = tuple(parsed)
    home = bank / "drills" / path.stem
    sources = _Sources(home, found)
    starter, reference = sources.need("starter.py"), sources.need("reference.py")
    driver = sources.need("driver.py") if (home / "driver.py").exists() else None
    variants = {
        name: tuple(
            sources.need(f"misconceptions/{file}.py", doc.where(("misconceptions", name), key=True))
            for file in (item.variants or [name.replace("-", "_")])
        )
        for name, item in spec.misconceptions.items()
    }
    question = Question(
        id=path.stem,
        bank=bank,
        spec=spec,
        runs=runs,
        starter=starter,
        reference=reference,
        driver=driver,
        variants=variants,
        spec_path=path,
    )
    if not found:
        found.extend(f"{doc.where(at)}: {text}" for at, text in problems(question))
    found = list(dict.fromkeys(document.one_line(text) for text in found))
    if found:
        raise BankError(found[0], problems=tuple(found))
    return question


class _Sources:
    """Reads the drill's files, noting those that are missing instead of stopping at the first."""

    def __init__(self, home: Path, found: list[str]) -> None:
        self.home = home
        self.found = found

    def need(self, name: str, where: str = "") -> bytes:
        path = self.home / name
        try:
            data = path.read_bytes()
        except OSError as error:
            prefix = f"{where}: " if where else ""
            self.found.append(f"{prefix}expected the file {path}, found: {error.strerror}")
            return b""
        if len(data) > MAX_SOURCE:
            self.found.append(f"{path}: expected at most {MAX_SOURCE:,} bytes, found {len(data):,}")
        return data
