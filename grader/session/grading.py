"""Grade one submission: start both programs, carry out the checks, name the misconception.

The whole of a grade can be read in `grade` below; all that it decides with is plain data from
workers.
"""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from grader import __version__
from grader.model.report import CheckResult, Raised, Report
from grader.model.verdict import Verdict
from grader.sandbox.client import Overran, WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Flagged, Loaded, ProgramError, plain
from grader.session.pair import Pair

if TYPE_CHECKING:
    from grader.bench.bench import Bench
    from grader.model.question import Question

MAX_SUBMISSION = 1 << 20  # bytes of source; the longest right solution known takes 5 KB
SHOWN_OUTPUT = 4000  # characters of the submission's printing that go into a report


def grade(
    question: Question,
    submission: bytes,
    *,
    seed: int,
    filename: str = "submission.py",
    pair: Pair | None = None,
) -> Report:
    """Grade a submission.

    Args:
        question: what is asked.
        submission: the file's bytes; they are never decoded, parsed or run in this process.
        seed: from which every input is drawn.
        filename: what tracebacks call the file.
        pair: workers that were started ahead, fresh; the caller closes them.

    Returns:
        The report; whatever the submission does, it becomes a verdict.
    """
    began = time.perf_counter()
    torch = question.spec.needs_torch
    blank = Report(
        question=question.id,
        title=question.spec.title,
        verdict=Verdict.ERROR,
        seed=seed,
        isolation="",  # until a process has shown what it is refused
        seconds=0.0,
        sha256=hashlib.sha256(submission).hexdigest(),
        bank=str(question.bank),
        digest=question.digest,
        program=__version__,
    )
    if len(submission) > MAX_SUBMISSION:
        size = f"{len(submission):,} bytes, at most {MAX_SUBMISSION:,} are read"
        return replace(blank, verdict=Verdict.LIMIT, message=f"the file has {size}")
    if not submission.strip(b"\xef\xbb\xbf \t\r\n\f"):
        return replace(blank, message=f"the file is empty; expected {_listed(question.functions)}")
    with contextlib.ExitStack() as stack:
        if pair is None or pair.torch != torch:
            pair = stack.enter_context(Pair(torch=torch))
        stack.enter_context(_quiet())
        theirs, ours = pair.theirs, pair.ours
        blank = replace(blank, isolation=theirs.isolation.level)
        mine = RemoteProgram(
            theirs,
            "submission",
            [submission],
            question.driver,
            filename,
            forbids=question.spec.forbids,
        )
        reference = RemoteProgram(
            ours, "reference", [question.reference], question.driver, "reference.py"
        )
        report = _examined(blank, question, mine, reference, seed)
        printed = theirs.printed[-SHOWN_OUTPUT:].decode("utf-8", "replace")
    return replace(report, printed=printed, seconds=time.perf_counter() - began)


def _examined(
    blank: Report, question: Question, mine: RemoteProgram, reference: RemoteProgram, seed: int
) -> Report:
    unusable = _load(mine, question)
    if unusable is not None:
        verdict, message, raised = unusable
        return replace(blank, verdict=verdict, message=message, raised=raised)
    from grader.bench.bench import BankFault, Bench
    from grader.session.diagnosis import diagnose
    from grader.session.locations import home, place

    try:
        fault = _load(reference, question)
        if fault is not None:
            why, raised = fault[1:]
            if raised is not None and raised.column is None:  # else it names the line already
                why += place(raised, home(question, "reference"))
            raise BankFault(f"the reference cannot be loaded: {why}")
        bench = Bench(question, seed, mine, reference)
        checks = carry_out(bench)
        verdict = overall(checks)
        named = diagnose(bench, checks) if verdict is not Verdict.PASS else ()
    except BankFault as error:
        message = f"{question.spec_path}: {error}"
        return replace(blank, verdict=Verdict.INVALID, message=message)
    follow_ups = question.spec.follow_ups
    return replace(
        blank,
        verdict=verdict,
        checks=checks,
        misconceptions=named,
        follow_up=follow_ups[seed % len(follow_ups)].ask
        if follow_ups and verdict is Verdict.PASS
        else "",
    )


def carry_out(bench: Bench) -> tuple[CheckResult, ...]:
    """Run the checks in order, but not those whose needs did not pass or whose process is gone."""
    from grader.bench.tally import Stopped
    from grader.kinds import run_check

    done: dict[str, CheckResult] = {}
    gone: str | None = None
    for check in bench.question.spec.checks:
        good = {Verdict.PASS, Verdict.INCONCLUSIVE}
        blocking = next((n for n in check.needed if done[n].verdict not in good), gone)
        if blocking is not None:
            reason = "the process was stopped in" if gone == blocking else "needs"
            done[check.id] = CheckResult(
                id=check.id,
                kind=check.kind,
                verdict=Verdict.SKIPPED,
                message=f"{reason} {blocking}",
                stretch=check.stretch,
                blocked_by=blocking,
            )
            continue
        try:
            done[check.id] = run_check(bench, check)
        except Stopped as stop:
            done[check.id] = stop.result
            gone = check.id
    return tuple(done.values())


def overall(checks: Sequence[CheckResult]) -> Verdict:
    """The verdict of all checks that decide: the first that is neither a pass nor open."""
    fine = {Verdict.PASS, Verdict.INCONCLUSIVE, Verdict.SKIPPED}
    by_id = {check.id: check for check in checks}
    for check in checks:
        root = check
        while root.verdict is Verdict.SKIPPED and root.blocked_by in by_id:
            root = by_id[root.blocked_by]  # what was never tried is no better than what stopped it
        if not check.stretch and root.verdict not in fine:
            return root.verdict
    return Verdict.PASS


def _load(program: RemoteProgram, question: Question) -> tuple[Verdict, str, Raised | None] | None:
    """Execute the file; None when it can be graded, else verdict, sentence, and exception."""
    try:
        loaded = program.load(question.functions)
    except WorkerError as failure:
        verdict = Verdict.LIMIT if isinstance(failure, Overran) else Verdict.ERROR
        return verdict, f"your file {failure} while it was being loaded", None
    except Flagged as evidence:
        return Verdict.POLICY, f"flagged for review: your code {evidence.message}", None
    except ProgramError as error:
        return _unloadable(error, question)
    # What it says of names that are forbidden and do not exist is for the audit, which runs the
    # bank's own code: a submission is not believed about the bank.
    return _incomplete(loaded, question.functions)


def _unloadable(error: ProgramError, question: Question) -> tuple[Verdict, str, Raised | None]:
    raised = error.raised
    if raised is None:
        return Verdict.ERROR, error.message, None
    if raised.type in {"SyntaxError", "IndentationError", "TabError"} and _of_the_file(raised):
        if "codec can't decode" in raised.message or "Non-UTF-8" in raised.message:
            return Verdict.ERROR, f"the file is not UTF-8 text: {raised.message}", None
        line = f" at line {raised.frames[0].line}" if raised.frames else ""
        return Verdict.ERROR, f"the file is not valid Python{line}: {raised.message}", raised
    if error.out_of_memory:
        return Verdict.LIMIT, "loading the file took more memory than is allowed", raised
    what = f"loading the file raised {raised.type}"
    said = plain(raised.message)  # what else there is to say stands below, with the line
    what += f": {said}" if said.strip() else ""
    if raised.type == "ModuleNotFoundError":
        allowed = ", ".join(question.spec.uses)
        what += f"; this question allows {allowed} and the standard library"
    return Verdict.ERROR, what, raised


def _of_the_file(raised: Raised) -> bool:
    """Whether a syntax error is about the file's text, and not one that its code raised."""
    return raised.column is not None or not raised.frames


def _incomplete(loaded: Loaded, wanted: Sequence[str]) -> tuple[Verdict, str, Raised | None] | None:
    if loaded.missing:
        listed = _listed(loaded.defined) if loaded.defined else "no functions"
        text = f"expected {_listed(loaded.missing)}, found {listed}"
        spare = [name for name in loaded.defined if name not in wanted]
        return Verdict.ERROR, text + _near(loaded.missing, spare), None
    if loaded.uncallable:
        name, kind = loaded.uncallable[0]
        article = "an" if kind[:1] in "aeio" else "a"
        return Verdict.ERROR, f"expected a function called {name}, found {article} {kind}", None
    return None


def _near(missing: Sequence[str], found: Sequence[str]) -> str:
    from grader.bank.locate import closest

    for name in missing:
        near = closest(name, found)
        if near is not None:
            return f"; is {near} meant to be {name}?"
    return ""


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """No numpy warnings while comparing: infinities and NaN are what comparing is about."""
    import numpy as np  # here: the workers are starting meanwhile

    with np.errstate(all="ignore"):
        yield


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
