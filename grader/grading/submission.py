"""A submission becomes a loaded program, or a finding; and one run of it that nobody judges."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from grader import forms
from grader.cases.step_syntax import parse_step
from grader.forms.base import (
    MAX_LISTED_ERRORS,
    UnreadableAnswer,
    UnreadLines,
    answer_lines,
    open_answers_text,
)
from grader.grading.case_by_case import CaseFinding, process_end_finding
from grader.grading.values import Value
from grader.model.errors import closest_word
from grader.model.limits import CPU_SECONDS, MAX_SUBMISSION_BYTES
from grader.model.number_format import join_words
from grader.model.question import Question
from grader.model.report import UNREADABLE_TYPE, ExceptionRecord, Frame, Report, Verdict
from grader.sandbox.client import RequestLimits, WorkerClient, WorkerError
from grader.sandbox.messages import ProgramError, to_exception_record, without_added_text
from grader.sandbox.notebook_cells import (
    comment_out_ipython,
    is_skipping,
    line_in_words,
    with_cell_numbers,
)
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker.protocol import Loaded

LOG_SEED = 0  # of the run that the log of a question is of
EXPERIMENT_LIMIT_SOURCE = "experiments of the question"
_LONGEST = 200  # characters of an exception's text in a note


def byte_problem(submission: bytes, question: Question) -> CaseFinding | None:
    """What is wrong with a file's bytes, if it need not even be loaded."""
    if len(submission) > MAX_SUBMISSION_BYTES:
        size = f"{len(submission):,} bytes, at most {MAX_SUBMISSION_BYTES:,} are read"
        return CaseFinding(f"the file has {size}", Verdict.LIMIT)
    if not forms.form_of(question.spec).is_text and not submission.strip(b"\xef\xbb\xbf \t\r\n\f"):
        wanted = question.signatures_for_part(1).values()
        return _error("the file is empty" + (f"; expected {join_words(wanted)}" if wanted else ""))
    return None


def submission_program(
    submission: bytes,
    question: Question,
    file: str,
    unread: UnreadLines = None,
    *,
    literal: bool = False,
) -> bytes | CaseFinding:
    """The program that a file stands for; or what is wrong with it, which is no attempt.

    With a list, answers that are `unread` are added to it, as long as one can be read.
    `literal` forgives nothing in a text.
    """
    form = forms.form_of(question.spec)
    if form.is_text and question.is_starter(submission):
        raised = ExceptionRecord(UNREADABLE_TYPE, "nothing is answered yet")
        return _error(
            f"{file}: nothing is answered yet: write your answers in it, and grade again", raised
        )
    try:
        program = form.program(submission, question, unread, literal=literal)
        is_read = unread is None or program.strip()
        return program if is_read else form.program(submission, question, literal=literal)
    except UnreadableAnswer as wrong:
        place = f"{file}:{wrong.line}: " if wrong.line else f"{file}: "
        frames = tuple(Frame(line, "", text) for line, text in wrong.lines)
        column = wrong.column if wrong.line else None
        raised = ExceptionRecord(UNREADABLE_TYPE, wrong.sentence, frames, column=column)
        return _error(f"{place}{wrong.sentence}", raised)


def with_answer_lines(
    report: Report, submission: bytes, unread: Sequence[UnreadableAnswer]
) -> Report:
    """A report on answers: what was not read; where code of them raised, their own lines."""
    faults = sorted(unread, key=lambda fault: fault.line)
    said = [f"line {one.line} could not be read: {one.sentence}" for one in faults]
    said[MAX_LISTED_ERRORS:] = [f"and {len(said) - MAX_LISTED_ERRORS} more"] * (
        len(said) > MAX_LISTED_ERRORS
    )
    own = dict(enumerate(answer_lines(submission), 1))

    def written(frame: Frame) -> Frame:
        return Frame(frame.line, "", own.get(frame.line, frame.source).strip())

    def written_all(raised: ExceptionRecord) -> ExceptionRecord:
        frames = tuple(dict.fromkeys(map(written, raised.frames)))  # a line, once
        return replace(raised, frames=frames)

    return replace(map_exceptions(report, written_all), unread=tuple(said))


def map_exceptions(report: Report, change: Callable[[ExceptionRecord], ExceptionRecord]) -> Report:
    """Return a report with every exception of its checks changed."""
    checks = (
        replace(check, raised=change(check.raised)) if check.raised else check
        for check in report.checks
    )
    return replace(report, checks=tuple(checks))


def load_submission(
    program: RemoteProgram,
    question: Question,
    required: Mapping[str, str],
    restore: Callable[[], None] = lambda: None,
) -> CaseFinding | None:
    """Execute the file; None when it can be graded, else what is wrong.

    It must define at least one of the `required` names, which have their signatures.  `restore` is
    called where the driver could not be loaded with it: it loads the reference.

    Raises:
        BankFault: neither could it be with the reference.
    """
    try:
        loaded = _loaded(program, tuple({**question.signatures_for_part(), **required}))
    except WorkerError as failure:
        return process_end_finding(f"your file {failure} while it was being loaded", failure)
    except ProgramError as error:
        if error.is_from_support_code:
            restore()
        own = program.support.modules.keys() - question.support.modules.keys()
        is_own = error.where.partition(".py")[0] in own
        return _unloadable(error, question, program, f", in {error.where}" if is_own else "")
    unwritten = {*loaded.missing, *loaded.stubs}
    if forms.form_of(question.spec).is_text or required.keys() <= unwritten:
        return missing_functions(loaded, required, question, program.filename)
    return _not_a_function(loaded, required, question)


def _loaded(program: RemoteProgram, names: Sequence[str]) -> Loaded:
    """Load a program; if it is no Python, try once more without the lines of IPython's."""
    try:
        return program.load(names)
    except ProgramError as error:
        *_, source = program.sources
        own = comment_out_ipython(source.decode("latin-1")).encode("latin-1")
        if own == source or error.raised is None or not error.raised.is_unparsable_file:
            raise
    program.sources = [own]
    return program.load(names)


def load_exception_notes(program: RemoteProgram) -> tuple[str, ...]:
    """Return what a file raised while it was loaded, though what it defined counts."""
    source, stopped = program.sources[-1], program.loaded.stopped if program.loaded else ()
    rest = "the other cells count" if is_skipping(source) else "what was defined before it counts"
    said = []
    for raised in map(to_exception_record, stopped[:MAX_LISTED_ERRORS]):
        lines = [one.line for one in raised.frames if one.function in {"", "<module>"}]
        at = f" at {line_in_words(source, lines[0])}" if lines else ""
        text = " ".join(without_added_text(raised.message).split())[:_LONGEST]
        said.append(f"your file raised {raised.type}{at}{f' ({text})' if text else ''}; {rest}")
    return tuple(said)


def missing_functions(
    loaded: Loaded | None, names: Mapping[str, str], question: Question, file: str
) -> CaseFinding | None:
    """Return what a file does not define yet of some names, which have their signatures."""
    if loaded is None:
        return None
    missing = [name for name in names if name in loaded.missing]
    if (form := forms.form_of(question.spec)).is_text:
        open_ = [one for name in missing for one in form.answers_for_function(name, question)]
        return CaseFinding(open_answers_text(open_), Verdict.FAIL) if open_ else None
    # The methods of a class that is missing are not named as well.
    missing = [name for name in missing if name.rpartition(".")[0] not in missing]
    stubs = [names[name] for name in names if name in loaded.stubs]
    said = []
    if missing:
        said.append(f"{file} does not define {join_words([names[name] for name in missing])} yet")
    if stubs:
        said.append(f"{join_words(stubs)} {'is' if len(stubs) == 1 else 'are'} not implemented yet")
    spare = [name for name in loaded.defined if name not in question.signatures_for_part()]
    near = ((closest_word(name, spare), name) for name in missing)
    said += [f"is {found} meant to be {name}?" for found, name in near if found][:1]
    return _error("; ".join(said)) if said else _not_a_function(loaded, names, question)


def _not_a_function(
    loaded: Loaded, names: Mapping[str, str], question: Question
) -> CaseFinding | None:
    """Return which of some names should be a function or class and is none."""
    for name, kind in loaded.uncallable:
        is_constant = names.get(name) == name and name not in question.functions
        if name in names and not is_constant:
            article = "an" if kind[:1] in "aeio" else "a"
            return _error(f"expected a function called {name}, found {article} {kind}")
    return None


def _unloadable(
    error: ProgramError, question: Question, program: RemoteProgram, where: str = ""
) -> CaseFinding:
    """What is wrong with a file; `where` is the place in another that it imports."""
    if error.raised is None:
        return _error(error.message)
    source = program.sources[-1]
    raised = with_cell_numbers(error.raised, source)
    if raised.is_unparsable_file:
        if "codec can't decode" in raised.message or "Non-UTF-8" in raised.message:
            return _error(f"the file is not UTF-8 text: {raised.message}{where}")
        line = f" at {line_in_words(source, error.raised.frames[0].line)}" if raised.frames else ""
        return _error(f"the file is not valid Python{line}: {raised.message}{where}", raised)
    if error.is_out_of_memory:
        sentence = "loading the file took more memory than is allowed"
        return CaseFinding(sentence, Verdict.LIMIT, raised=raised)
    what = f"loading the file raised {raised.type}"
    said = without_added_text(raised.message)  # the rest is shown with the line
    what += f": {said}" if said.strip() else ""
    if raised.type == "ModuleNotFoundError":
        allowed = ", ".join(question.spec.uses)
        what += f"; this question allows {allowed} and the standard library"
    return _error(what + where, raised)


def _error(sentence: str, raised: ExceptionRecord | None = None) -> CaseFinding:
    return CaseFinding(sentence, Verdict.ERROR, raised=raised)


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """What came of an experiment."""

    started: bool
    seconds: float = 0.0  # by the clock
    value: Value = None  # what the function returned
    printed: str = ""  # the beginning of what the script printed
    end: str = ""  # the end of it, where that is not all
    bytes_printed: int = 0
    fault: str = ""  # why it did not finish, in a sentence
    raised: ExceptionRecord | None = None


def run_experiment(
    question: Question,
    submission: bytes,
    *,
    seed: int,
    filename: str = "submission.py",
    begin: Callable[[], None] = lambda: None,
) -> ExperimentResult:
    """Run a script once, an experiment: walled off as a grade is, and judged by nobody.

    It begins when the file does: what a file does while it is loaded is part of the run.  One that
    is no Python costs nothing, and `begin` is not called for it.
    """
    spec, asked = question.spec, question.spec.experiments
    assert asked is not None, "the question has no experiments"
    if (wrong := byte_problem(submission, question)) is not None:
        return ExperimentResult(started=False, fault=wrong.sentence)
    step = parse_step(f"result = {asked.function}(seed)")
    own = {step.function: f"{step.function}(seed)"} if step.owner == "submission" else {}
    cpu = max(CPU_SECONDS, math.ceil(2 * asked.seconds))
    with WorkerClient(torch=spec.needs_torch, cpu_seconds=cpu) as worker:
        program = RemoteProgram(
            worker, "submission", [submission], question.support, filename, untrusted=True
        )
        text = b"compile(%a, %a, 'exec', dont_inherit=True)" % (submission, filename)
        read = RemoteProgram(worker, "text", [text], filename=filename)
        lacking = load_submission(read, question, {})
        if lacking is not None:
            return ExperimentResult(started=False, fault=lacking.sentence, raised=lacking.raised)
        begin()
        lacking = load_submission(program, question, own)
        if lacking is not None:
            return ExperimentResult(started=True, fault=lacking.sentence, raised=lacking.raised)
        program.limits = RequestLimits(asked.seconds, None, EXPERIMENT_LIMIT_SOURCE)
        began = time.perf_counter()
        value, fault = None, CaseFinding("")
        try:
            value = program.run((step,), {"seed": {"value": seed}}, ("result",)).values["result"]
        except ProgramError as error:
            fault = CaseFinding(error.message, raised=error.raised)
        except WorkerError as failure:
            fault = CaseFinding(f"your script {failure}")
        seconds = time.perf_counter() - began
        printed, size = worker.first_printed, worker.output_bytes
        end = worker.printed if size > len(printed) else b""
        first, last = (text.decode("utf-8", "replace") for text in (printed, end))
        return ExperimentResult(
            True, seconds, value, first, last, size, fault.sentence, fault.raised
        )
