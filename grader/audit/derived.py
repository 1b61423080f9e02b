"""Right programs that the audit derives from the reference, in styles that people write in.

`grader/sandbox/worker/styles.py` calls the reference with wider numbers, sums in another order or
another layout.  That is right by construction wherever values are compared; what is counted (bytes,
FLOPs, nodes of a graph) is another matter, and so are the manners of a program that is wrapped.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from grader.audit.matrix import Fault, in_words_of, sentences
from grader.audit.subjects import called_functions, result_of
from grader.evaluation.evaluation import BankFault
from grader.kinds import registry
from grader.model.audit import Accepted
from grader.model.question import Question
from grader.model.verdict import FINE, Verdict
from grader.session import GradingSession

NUMPY = {
    "float64": "computed in float64 and cast back",
    "longdouble": "computed in long double and cast back",
    "reversed": "that adds from the last term to the first",
    "loops": "that adds term by term",
    "fortran": "in Fortran order",
}
TORCH = {
    "float64": "computed in float64 and cast back",
    "reversed": "that adds from the last term to the first",
    "contiguous": "of contiguous copies",
}
NO_FUNCTION = "what is called is no function"  # says the layer
_WORKER = Path(__file__).parents[1] / "sandbox" / "worker"


def hold(
    session: GradingSession, seeds: Sequence[int], progress: Callable[[str], None]
) -> tuple[list[Accepted], list[str], list[str]]:
    """Put the reference in every style through the checks that compare values.

    Returns:
        Each with the seeds on which it passes; a sentence per check that turns it down; and one per
        style that there is none of.
    """
    held: list[Accepted] = []
    problems: list[str] = []
    unmade: dict[str, list[str]] = {}  # styles by the reason
    for name, about in (TORCH if session.question.spec.needs_torch else NUMPY).items():
        if name == "float64" and not _narrow(session.question):
            continue
        progress(f"the reference {about}")
        try:
            found = [fault for seed in seeds for fault in _faults(session, name, about, seed)]
        except BankFault as fault:
            reason = NO_FUNCTION if NO_FUNCTION in str(fault) else str(fault)
            unmade.setdefault(reason, []).append(name)
            continue
        passed = len(seeds) - len({seed for seed, *_ in found})
        held.append(Accepted(name, passed, len(seeds), derived=True))
        problems += sentences(found, len(seeds))
    notes = [
        f"there is no right program in the style {' or '.join(names)}: {reason}"
        for reason, names in unmade.items()
    ]
    return held, problems, notes


def _narrow(question: Question) -> bool:
    """Whether anything is narrower than float64."""
    return any(word in str(question.spec.cases) for word in ("float32", "bfloat16"))


def _faults(session: GradingSession, name: str, about: str, seed: int) -> Iterator[Fault]:
    """What turns a style down on one seed.

    Raises:
        BankFault: there is no such style of this reference: it raises, or takes too long.
    """
    evaluation = session.examine(f"style {name}", sources(session, name), seed, called="it")
    for check in session.question.spec.checks:
        if check.stretch or not registry.get(check.kind).judges_values:
            continue
        result = result_of(evaluation, check)
        if result.verdict is Verdict.FAIL:
            before = f"the reference {about} is right, and {check.id} does not pass it"
            yield seed, before, f": {in_words_of(result.message)}"
        elif result.verdict not in FINE:
            raise BankFault(in_words_of(result.message))


def sources(session: GradingSession, name: str) -> list[bytes]:
    """The layers of a style: the reference, and what replaces its functions."""
    table = {"style": name, "functions": called_functions(session)}
    code = "\n".join(
        (_WORKER / f"{file}.py").read_text("utf-8") for file in ("sum_order", "styles")
    )
    code = code.replace("from __future__ import annotations\n", "")
    # JSON of texts is also a Python literal.
    where = f'{{"__name__": "styles", "OTHER_STYLE": {json.dumps(table)}, "PROGRAM": globals()}}'
    return [session.question.reference, f"exec({json.dumps(code)}, {where})\n".encode()]
