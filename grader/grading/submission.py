"""Load a submission, or report why that is impossible; and run it once as an experiment."""

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
from grader.grading.case_by_case import verdict_of_process_end
from grader.grading.values import Value
from grader.model.errors import closest_word
from grader.model.limits import CPU_SECONDS, MAX_SUBMISSION_BYTES
from grader.model.number_format import join_words
from grader.model.question import Question
from grader.model.report import UNREADABLE_TYPE, ExceptionRecord, Frame, Report, Verdict
from grader.model.steps import Step
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

LOG_SEED = 0  # seed of the run that is the log of a question
EXPERIMENT_LIMIT_SOURCE = "experiments of the question"
_MAX_EXCEPTION_LENGTH = 200  # characters of an exception's text in a note


@dataclass(frozen=True, slots=True)
class SubmissionProblem:
    """The reason why no check can run on a submission."""

    sentence: str
    verdict: Verdict = Verdict.ERROR
    raised: ExceptionRecord | None = None


def byte_problem(submission: bytes, question: Question) -> SubmissionProblem | None:
    """Return a problem that shows without loading the file: it is too long, or empty."""
    if len(submission) > MAX_SUBMISSION_BYTES:
        size = f"{len(submission):,} bytes, at most {MAX_SUBMISSION_BYTES:,} are read"
        return SubmissionProblem(f"the file has {size}", Verdict.LIMIT)
    is_text = forms.form_of(question.spec).is_text
    if is_text or submission.strip(b"\xef\xbb\xbf \t\r\n\f"):
        return None
    sentence = "the file is empty"
    signatures = question.signatures_for_part(1).values()
    if signatures:
        sentence += f"; expected {join_words(signatures)}"
    return SubmissionProblem(sentence)


def submission_program(
    submission: bytes,
    question: Question,
    filename: str,
    unread: UnreadLines = None,
    *,
    literal: bool = False,
) -> bytes | SubmissionProblem:
    """Return the source to run for a file, or a problem, which does not count as an attempt.

    For a question that is answered in text, the program is made from the answers.  It is a problem
    if they are not written yet or cannot be read.

    Args:
        submission: The bytes of the file.
        question: Its form decides how the file is read.
        filename: The name of the file in messages.
        unread: Unreadable answers are added to this list, if at least one answer can be read.
        literal: Answers in a text must be written exactly as documented.
    """
    form = forms.form_of(question.spec)
    if form.is_text and question.is_starter(submission):
        raised = ExceptionRecord(UNREADABLE_TYPE, "nothing is answered yet")
        sentence = f"{filename}: nothing is answered yet: write your answers in it, and grade again"
        return SubmissionProblem(sentence, raised=raised)
    try:
        program = form.program(submission, question, unread, literal=literal)
        if unread is not None and not program.strip():
            return form.program(submission, question, literal=literal)
        return program
    except UnreadableAnswer as error:
        place = f"{filename}:{error.line}" if error.line else filename
        raised = ExceptionRecord(
            type=UNREADABLE_TYPE,
            message=error.sentence,
            frames=tuple(Frame(line, "", text) for line, text in error.lines),
            column=error.column if error.line else None,
        )
        return SubmissionProblem(f"{place}: {error.sentence}", raised=raised)


def with_answer_lines(
    report: Report, submission: bytes, unread: Sequence[UnreadableAnswer]
) -> Report:
    """Return a report on a file of answers, with notes on its unreadable lines.

    Exceptions show the lines of that file in place of lines of the program made from it.
    """
    notes = [
        f"line {answer.line} could not be read: {answer.sentence}"
        for answer in sorted(unread, key=lambda answer: answer.line)
    ]
    if len(notes) > MAX_LISTED_ERRORS:
        more = f"and {len(notes) - MAX_LISTED_ERRORS} more"
        notes = [*notes[:MAX_LISTED_ERRORS], more]
    own_lines = dict(enumerate(answer_lines(submission), 1))

    def with_own_lines(raised: ExceptionRecord) -> ExceptionRecord:
        frames = [
            Frame(frame.line, "", own_lines.get(frame.line, frame.source).strip())
            for frame in raised.frames
        ]
        return replace(raised, frames=tuple(dict.fromkeys(frames)))  # each line once

    return replace(map_exceptions(report, with_own_lines), unread=tuple(notes))


def map_exceptions(report: Report, change: Callable[[ExceptionRecord], ExceptionRecord]) -> Report:
    """Return a report in which `change` was applied to the exception of each check."""
    checks = (
        replace(check, raised=change(check.raised)) if check.raised else check
        for check in report.checks
    )
    return replace(report, checks=tuple(checks))


def load_submission(
    program: RemoteProgram,
    question: Question,
    required: Mapping[str, str],
    check_support_code: Callable[[], None] = lambda: None,
) -> SubmissionProblem | None:
    """Load a submission; return why it cannot be graded, else None.

    Args:
        program: The submission, not loaded yet.
        question: The question it answers.
        required: Names and signatures; the file must define at least one of them.
        check_support_code: Called if the driver or a helper fails; it loads the reference with
            them, and raises BankProgramError if they fail again.

    Raises:
        BankProgramError: The driver or a helper fails with the reference, too.
    """
    names = tuple({**question.signatures_for_part(), **required})
    try:
        loaded = _load_without_ipython(program, names)
    except WorkerError as failure:
        sentence = f"your file {failure} while it was being loaded"
        return SubmissionProblem(sentence, verdict_of_process_end(failure))
    except ProgramError as error:
        if error.is_from_support_code:
            check_support_code()
        return _load_problem(error, question, program)
    not_written = {*loaded.missing, *loaded.stubs}
    if forms.form_of(question.spec).is_text or required.keys() <= not_written:
        return missing_functions(loaded, required, question, program.filename)
    return _uncallable_name(loaded, required, question)


def _load_without_ipython(program: RemoteProgram, names: Sequence[str]) -> Loaded:
    """Load a program; if it is invalid Python, try again without lines such as `%matplotlib`."""
    try:
        return program.load(names)
    except ProgramError as error:
        source = program.sources[-1]
        plain = comment_out_ipython(source.decode("latin-1")).encode("latin-1")
        if plain == source or error.raised is None or not error.raised.is_unparsable_file:
            raise
    program.sources = [plain]
    return program.load(names)


def load_exception_notes(program: RemoteProgram) -> tuple[str, ...]:
    """Return a note on each exception that stopped loading, although the file is still graded.

    "your file raised NameError at line 9 (...); what was defined before it counts"
    """
    if program.loaded is None:
        return ()
    source = program.sources[-1]
    consequence = "what was defined before it counts"
    if is_skipping(source):
        consequence = "the other cells count"
    notes = []
    for raised in map(to_exception_record, program.loaded.stopped[:MAX_LISTED_ERRORS]):
        note = f"your file raised {raised.type}"
        lines = [frame.line for frame in raised.frames if frame.function in {"", "<module>"}]
        if lines:
            note += f" at {line_in_words(source, lines[0])}"
        text = " ".join(without_added_text(raised.message).split())[:_MAX_EXCEPTION_LENGTH]
        if text:
            note += f" ({text})"
        notes.append(f"{note}; {consequence}")
    return tuple(notes)


def missing_functions(
    loaded: Loaded | None, signatures: Mapping[str, str], question: Question, filename: str
) -> SubmissionProblem | None:
    """Return a problem if any of these names are not defined, are stubs, or cannot be called.

    In a file of answers, the problem is that answers are not written yet.
    """
    if loaded is None:
        return None
    missing = [name for name in signatures if name in loaded.missing]
    form = forms.form_of(question.spec)
    if form.is_text:
        answers = [
            answer for name in missing for answer in form.answers_for_function(name, question)
        ]
        return SubmissionProblem(open_answers_text(answers), Verdict.FAIL) if answers else None

    # If a class is missing, its methods are not listed as well.
    missing = [name for name in missing if name.rpartition(".")[0] not in missing]
    stubs = [signatures[name] for name in signatures if name in loaded.stubs]
    sentences = []
    if missing:
        listed = join_words([signatures[name] for name in missing])
        sentences.append(f"{filename} does not define {listed} yet")
    if stubs:
        verb = "is" if len(stubs) == 1 else "are"
        sentences.append(f"{join_words(stubs)} {verb} not implemented yet")
    if not sentences:
        return _uncallable_name(loaded, signatures, question)
    unasked = [name for name in loaded.defined if name not in question.signatures_for_part()]
    for name in missing:
        similar = closest_word(name, unasked)
        if similar:
            sentences.append(f"is {similar} meant to be {name}?")
            break
    return SubmissionProblem("; ".join(sentences))


def _uncallable_name(
    loaded: Loaded, signatures: Mapping[str, str], question: Question
) -> SubmissionProblem | None:
    """Return a problem if one of these names should be a function or class, but is not."""
    for name, kind in loaded.uncallable:
        is_constant = signatures.get(name) == name and name not in question.functions
        if name in signatures and not is_constant:
            article = "an" if kind[:1] in "aeio" else "a"
            return SubmissionProblem(f"expected a function called {name}, found {article} {kind}")
    return None


def _load_problem(
    error: ProgramError, question: Question, program: RemoteProgram
) -> SubmissionProblem:
    """Return the problem with a file, or a module that comes with it, that cannot be loaded."""
    if error.raised is None:
        return SubmissionProblem(error.message)
    place = ""
    own_modules = program.support.modules.keys() - question.support.modules.keys()
    if error.where.partition(".py")[0] in own_modules:
        place = f", in {error.where}"
    source = program.sources[-1]
    raised = with_cell_numbers(error.raised, source)
    if raised.is_unparsable_file:
        if "codec can't decode" in raised.message or "Non-UTF-8" in raised.message:
            return SubmissionProblem(f"the file is not UTF-8 text: {raised.message}{place}")
        line = ""
        if raised.frames:
            line = f" at {line_in_words(source, error.raised.frames[0].line)}"
        sentence = f"the file is not valid Python{line}: {raised.message}{place}"
        return SubmissionProblem(sentence, raised=raised)
    if error.is_out_of_memory:
        sentence = "loading the file took more memory than is allowed"
        return SubmissionProblem(sentence, Verdict.LIMIT, raised)
    sentence = f"loading the file raised {raised.type}"
    text = without_added_text(raised.message)  # the report shows the rest with the line
    if text.strip():
        sentence += f": {text}"
    if raised.type == "ModuleNotFoundError":
        allowed = ", ".join(question.spec.uses)
        sentence += f"; this question allows {allowed} and the standard library"
    return SubmissionProblem(sentence + place, raised=raised)


@dataclass(frozen=True, slots=True)
class ExperimentResult:
    """What a script returned and printed in one experiment, or why it did not finish."""

    started: bool
    seconds: float = 0.0  # wall-clock time
    value: Value = None  # the returned value
    printed: str = ""  # the beginning of the output
    end: str = ""  # the tail of the output, if that is not all
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
    """Run a script once, in the same isolation as a grade, without judging it.

    Loading the file is part of the run.  `begin` is called just before, to count the run.  A file
    that is not valid Python does not run and does not count.
    """
    experiments = question.spec.experiments
    assert experiments is not None, "the question has no experiments"
    step = parse_step(f"result = {experiments.function}(seed)")
    required = {}
    if step.owner == "submission":
        required = {step.function: f"{step.function}(seed)"}
    cpu_seconds = max(CPU_SECONDS, math.ceil(2 * experiments.seconds))
    with WorkerClient(torch=question.spec.needs_torch, cpu_seconds=cpu_seconds) as worker:
        problem = byte_problem(submission, question)
        problem = problem or _syntax_problem(worker, question, submission, filename)
        if problem is not None:
            return ExperimentResult(started=False, fault=problem.sentence, raised=problem.raised)
        begin()
        program = RemoteProgram(
            worker, "submission", [submission], question.support, filename, untrusted=True
        )
        problem = load_submission(program, question, required)
        if problem is not None:
            return ExperimentResult(started=True, fault=problem.sentence, raised=problem.raised)
        program.limits = RequestLimits(experiments.seconds, None, EXPERIMENT_LIMIT_SOURCE)
        return _timed_run(program, step, seed)


def _timed_run(program: RemoteProgram, step: Step, seed: int) -> ExperimentResult:
    """Run the step of an experiment; return its value or fault, its time and its output."""
    value: Value = None
    fault = ""
    raised = None
    start = time.perf_counter()
    try:
        value = program.run((step,), {"seed": {"value": seed}}, ("result",)).values["result"]
    except ProgramError as error:
        fault = error.message
        raised = error.raised
    except WorkerError as failure:
        fault = f"your script {failure}"
    seconds = time.perf_counter() - start
    worker = program.worker
    beginning = worker.first_printed
    tail = worker.printed if worker.output_bytes > len(beginning) else b""
    return ExperimentResult(
        started=True,
        seconds=seconds,
        value=value,
        printed=beginning.decode("utf-8", "replace"),
        end=tail.decode("utf-8", "replace"),
        bytes_printed=worker.output_bytes,
        fault=fault,
        raised=raised,
    )


def _syntax_problem(
    worker: WorkerClient, question: Question, submission: bytes, filename: str
) -> SubmissionProblem | None:
    """Compile a file without executing it; return the problem if it is not valid Python."""
    source = b"compile(%a, %a, 'exec', dont_inherit=True)" % (submission, filename)
    return load_submission(RemoteProgram(worker, "text", [source], filename=filename), question, {})
