"""A submission that cannot be graded: its file is empty, does not load, or lacks functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from grader.model.report import Raised
from grader.model.verdict import Verdict
from grader.sandbox.client import Overran, WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Flagged, Loaded, ProgramError, plain

if TYPE_CHECKING:
    from grader.model.question import Question

MAX_SUBMISSION = 1 << 20  # bytes of source; the longest right solution known takes 5 KB
Unusable = tuple[Verdict, str, Raised | None]


def unreadable(submission: bytes, question: Question) -> Unusable | None:
    """What is wrong with a file's bytes, if it need not even be loaded."""
    if len(submission) > MAX_SUBMISSION:
        size = f"{len(submission):,} bytes, at most {MAX_SUBMISSION:,} are read"
        return Verdict.LIMIT, f"the file has {size}", None
    if not submission.strip(b"\xef\xbb\xbf \t\r\n\f"):
        return Verdict.ERROR, f"the file is empty; expected {_listed(question.functions)}", None
    return None


def load_submission(program: RemoteProgram, question: Question) -> Unusable | None:
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


def _unloadable(error: ProgramError, question: Question) -> Unusable:
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


def _incomplete(loaded: Loaded, wanted: Sequence[str]) -> Unusable | None:
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
    from grader.model.nearest import closest

    for name in missing:
        near = closest(name, found)
        if near is not None:
            return f"; is {near} meant to be {name}?"
    return ""


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
