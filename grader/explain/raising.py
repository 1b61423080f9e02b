"""What is said where a submission raises: the call, the message, and what was wrong before it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from grader.cases.recipe import CaseRecipe
from grader.evaluation.evaluation import Evaluation
from grader.explain.classes import FAILING
from grader.explain.components import wrong_before
from grader.explain.further import SEED, further_inputs
from grader.kinds import registry
from grader.model.question import Step
from grader.model.report import CheckResult, Explanation, Raised
from grader.sandbox.replies import ProgramError

LONGEST = 120  # characters of a message that are worth repeating
# What Python says of a call before anything of the function runs: no input changes it.
_BY_FORM = re.compile(
    r"\(\) (missing \d+ required |got an unexpected keyword |takes .* positional arguments? but )"
)


def sentence(evaluation: Evaluation, check: CheckResult) -> str:
    """The sentence of a check that failed by an exception, with the call and its message.

    A result of an earlier step that is wrong comes first: the step that raised may have been given
    nothing that it could work with.

    Raises:
        WorkerError: the submission's process did not survive being asked for that result.
    """
    raised, case = check.raised, next(iter(check.failing), "")
    assert raised is not None
    text = check.message.strip().rstrip(".")
    own = next(c for c in evaluation.question.spec.checks if c.id == check.id)
    if case in evaluation.cases and (
        already := wrong_before(evaluation, own.run, evaluation.cases[case])
    ):
        return f"{already} in case {case}; after that {text}"
    if (message := _short(raised.message)) and message not in text:
        text += f": {message}"
    return text if not raised.step or raised.step in text else f"{text}, in `{raised.step}`"


def _short(message: str) -> str:
    line = " ".join(message.split())
    return line if len(line) <= LONGEST else f"{line[:LONGEST]} [...]"


def whenever(evaluation: Evaluation, failed: Sequence[CheckResult]) -> Iterator[Explanation]:
    """A call that raises whatever it is given, in every case that makes it in this form.

    Raises:
        WorkerError: the submission's process did not survive being asked.
    """
    by_id = {check.id: check for check in evaluation.question.spec.checks}
    for check in failed:
        text = check.raised.step if check.raised else ""
        steps = evaluation.steps(by_id[check.id].run)
        step = next((s for s in steps if s.text == text and s.owner != "driver"), None)
        if step is not None:
            run, case = by_id[check.id].run, evaluation.cases[check.failing[0]]
            if not wrong_before(evaluation, run, case):  # which may be why it raises
                yield from _always(evaluation, step)
            return  # what is called later may fail by it


def _always(evaluation: Evaluation, step: Step) -> Iterator[Explanation]:
    places = {
        (check.run, case.name): case
        for check in evaluation.checks
        if step in evaluation.steps(check.run) and not registry.get(check.kind).timed
        for case in evaluation.cases_of(check)
    }
    found = [_raised_by(evaluation, run, case, step) for (run, _), case in places.items()]
    first = found[0]
    if first is None:
        return
    if len(found) < FAILING and not _BY_FORM.search(first.message):
        for run, name in places:
            found += _on_further(evaluation, run, name, step)
        if len(found) < FAILING:
            return
    if any(one is None or one.type != first.type for one in found):
        return
    messages = {_short(one.message) for one in found if one is not None}
    if len(messages) > 1:
        return  # a shape or a number has a part in it: other inputs may go through
    why = f": {only}" if (only := messages.pop()) else ""
    who = "backward" if step.owner == "torch" else step.function
    text = f"Your {who} raises {first.type} in every case that calls it as `{step.text}`"
    cases = tuple(dict.fromkeys(name for _, name in places))
    yield Explanation("class", f"{text}{why.rstrip('.')}.", cases)


def _on_further(
    evaluation: Evaluation, run: str, origin: str, step: Step
) -> Iterator[Raised | None]:
    """What a step raises on inputs made from a case of the question."""
    made = further_inputs(evaluation)
    theirs = made.evaluation.with_submission(replace(evaluation.submission, call_seconds=1.0), SEED)
    for case, _ in made.of(run, {origin: 2 * FAILING}):
        yield _raised_by(theirs, run, case, step)


def _raised_by(evaluation: Evaluation, run: str, case: CaseRecipe, step: Step) -> Raised | None:
    """What a step raises on a case, if the run ends there."""
    try:
        evaluation.observed(run, case)
    except ProgramError as error:
        return error.raised if error.step == step else None
    return None
