"""Does every check pass what is right, however it is written?

A question that turns down right solutions is worse than one that lets wrong ones through.  It may
come with solutions in other styles (`accepted`); each must pass every check that decides, on every
seed.  The audit derives more from the reference (`sandbox/worker/mutate/styles.py`): right by
construction wherever values are compared; what is counted (bytes, FLOPs) is another matter.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from grader import forms
from grader.audit.matrix import Fault, in_words_of, sentences
from grader.audit.subjects import called_functions, layer, result_of
from grader.evaluation.evaluation import BankFault
from grader.kinds import registry
from grader.model.audit import Accepted
from grader.model.question import Question
from grader.model.report import FINE, Verdict
from grader.session import GradingSession
from grader.session.bank_programs import ACCEPTED, file_of, line_of, message_of

FLOAT64 = "float64"
STYLES = {
    FLOAT64: "computed in float64 and cast back",
    "longdouble": "computed in long double and cast back",
    "reversed": "that adds from the last term to the first",
    "fortran": "in Fortran order",
}
NO_FUNCTION = "what is called is no function"  # says the layer

Held = tuple[list[Accepted], list[str]]  # with seeds that pass; a sentence per check that does not


def hold_written(
    session: GradingSession, seeds: Sequence[int], progress: Callable[[str], None]
) -> Held:
    """Put the right solutions that come with a question through every check that decides."""
    question, held, problems = session.question, list[Accepted](), list[str]()
    for name, source in question.accepted.items():
        progress(f"accepted {name}")
        program = forms.of(question.spec).program(source, question)
        file = file_of(question, ACCEPTED + name)
        faults = [
            fault
            for number, seed in enumerate(seeds)
            for fault in _turned_down(session, name, program, file, seed, timed=number == 0)
        ]
        held.append(_accepted(name, faults, seeds))
        problems += sentences(faults, len(seeds))
    return held, problems


def _turned_down(
    session: GradingSession, name: str, source: bytes, file: str, seed: int, *, timed: bool
) -> Iterator[Fault]:
    called = f"the accepted {name}"
    try:
        evaluation = session.examine(called, [source], seed, called=called, file=file)
        for check in session.question.spec.checks:
            if check.stretch:
                continue
            result = result_of(evaluation, check, timed=timed)
            if result.verdict not in FINE:
                sentence = in_words_of(result.message)
                if result.raised is not None:
                    sentence += message_of(result.raised) + line_of(result.raised, file)
                before = f"{file}: {check.id} does not pass {name}, and it is right,"
                yield seed, before, f": {sentence}"
    except BankFault as fault:
        yield seed, f"{file}: {fault}", ""


def hold_derived(
    session: GradingSession, seeds: Sequence[int], progress: Callable[[str], None]
) -> tuple[Held, list[str]]:
    """Put the reference in every style through the checks that compare values.

    Returns:
        What became of them, and a sentence per style that there is none of.
    """
    held, problems = list[Accepted](), list[str]()
    unmade: dict[str, list[str]] = {}  # styles by the reason
    for name, about in STYLES.items() if not session.question.spec.needs_torch else ():
        if name == FLOAT64 and not _has_narrow(session.question):
            continue
        progress(f"the reference {about}")
        try:
            faults = [f for seed in seeds for f in _styled_faults(session, name, about, seed)]
        except BankFault as fault:
            reason = NO_FUNCTION if NO_FUNCTION in str(fault) else str(fault)
            unmade.setdefault(reason, []).append(name)
            continue
        held.append(_accepted(name, faults, seeds, derived=True))
        problems += sentences(faults, len(seeds))
    notes = [
        f"there is no right program in the style {' or '.join(names)}: {reason}"
        for reason, names in unmade.items()
    ]
    return (held, problems), notes


def _has_narrow(question: Question) -> bool:
    """Whether anything is narrower than float64."""
    return any(word in str(question.spec.cases) for word in ("float32", "bfloat16"))


def _styled_faults(session: GradingSession, name: str, about: str, seed: int) -> Iterator[Fault]:
    """What turns a style down on one seed.

    Raises:
        BankFault: there is no such style of this reference: it raises, or takes too long.
    """
    layers = layer(session.question, "styles.py", name, called_functions(session))
    evaluation = session.examine(f"style {name}", layers, seed, called="it")
    for check in session.question.spec.checks:
        if check.stretch or not registry.get(check.kind).judges_values:
            continue
        result = result_of(evaluation, check)
        if result.verdict is Verdict.FAIL:
            before = f"the reference {about} is right, and {check.id} does not pass it"
            yield seed, before, f": {in_words_of(result.message)}"
        elif result.verdict not in FINE:
            raise BankFault(in_words_of(result.message))


def _accepted(
    name: str, faults: Sequence[Fault], seeds: Sequence[int], *, derived: bool = False
) -> Accepted:
    passed = len(seeds) - len({seed for seed, *_ in faults})
    return Accepted(name, passed, len(seeds), derived=derived)
