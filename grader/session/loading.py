"""A submission that cannot be graded: its file is empty, does not load, or lacks functions."""

from __future__ import annotations

from collections.abc import Sequence

from grader.model.question import Question
from grader.model.report import Raised
from grader.model.verdict import Verdict
from grader.sandbox.client import Overran, WorkerError
from grader.sandbox.remote import RemoteProgram
from grader.sandbox.replies import Flagged, ProgramError, plain

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
    if loaded.missing:
        from grader.model.nearest import closest

        listed = _listed(loaded.defined) if loaded.defined else "no functions"
        text = f"expected {_listed(loaded.missing)}, found {listed}"
        spare = [name for name in loaded.defined if name not in question.functions]
        near = ((closest(name, spare), name) for name in loaded.missing)
        text += next((f"; is {found} meant to be {name}?" for found, name in near if found), "")
        return Verdict.ERROR, text, None
    if loaded.uncallable:
        name, kind = loaded.uncallable[0]
        article = "an" if kind[:1] in "aeio" else "a"
        return Verdict.ERROR, f"expected a function called {name}, found {article} {kind}", None
    return None


def _unloadable(error: ProgramError, question: Question) -> Unusable:
    raised = error.raised
    if raised is None:
        return Verdict.ERROR, error.message, None
    # One that its code raised, and that is not about the file's text, has frames and no column.
    of_file = raised.column is not None or not raised.frames
    if raised.type in {"SyntaxError", "IndentationError", "TabError"} and of_file:
        if "codec can't decode" in raised.message or "Non-UTF-8" in raised.message:
            return Verdict.ERROR, f"the file is not UTF-8 text: {raised.message}", None
        line = f" at line {raised.frames[0].line}" if raised.frames else ""
        return Verdict.ERROR, f"the file is not valid Python{line}: {raised.message}", raised
    if error.out_of_memory:
        return Verdict.LIMIT, "loading the file took more memory than is allowed", raised
    what = f"loading the file raised {raised.type}"
    said = plain(raised.message)  # the rest is shown with the line
    what += f": {said}" if said.strip() else ""
    if raised.type == "ModuleNotFoundError":
        allowed = ", ".join(question.spec.uses)
        what += f"; this question allows {allowed} and the standard library"
    return Verdict.ERROR, what, raised


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
