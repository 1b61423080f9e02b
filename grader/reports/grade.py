"""The page of a grade: verdict and file, the smallest failing case, the idea behind it, next steps.

The page fits a screen of 24 lines; it names the parts that do not fit.  It is a pure function of
the report and of a context that the command adds.  The page of an experiment is a pure function of
its result.

An idea is a wrong idea that the question lists, with feedback.  A symptom says only which check
fails and in which case: an unchanged starter gets no more.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from grader import forms
from grader.forms.base import OPEN_VALUES
from grader.grading.kinds.registry import kind_named
from grader.model.number_format import join_words
from grader.model.report import CheckResult, ExceptionRecord, Exhibit, Grids, Report, Verdict
from grader.reports import grade_sentences
from grader.reports.blocks import (
    FACT_SEPARATOR,
    BlankLine,
    Block,
    Blocks,
    CodeBlock,
    Commands,
    Item,
    OmissionNote,
    Paragraph,
    ShorterForm,
    ShrinkableBlocks,
    Table,
    from_markdown,
)
from grader.reports.exhibits import INDENT, NO_LIMIT, exception_blocks, exhibit_blocks
from grader.reports.json import run_numbers, to_json, to_plain_data, without_expected_values
from grader.reports.text_layout import BOLD, REVERSE, last_lines_escaped, truncate

if TYPE_CHECKING:
    from grader.grading.submission import ExperimentResult
    from grader.model.question import Question

_MAX_ROWS = 22  # with the command above and the prompt below, a screen of 24
GAP = ShrinkableBlocks((BlankLine(),), (ShorterForm(4),))  # between sections
_INNER_GAP = ShrinkableBlocks((BlankLine(),), (ShorterForm(2),))  # around an example
_ANSWER_WORDS = {Verdict.PASS: "right", Verdict.SKIPPED: "not tried"}  # default: wrong
_MAX_WIDTH = 76  # characters of an output line
_NARROW = 36  # the same if there is little room
_OUTPUT_LINES = 4  # of the submission's output
_OUTPUT_LINES_IN_CLASS = 8
_OUTPUT_LINES_OF_EXPERIMENT = 19


@dataclass(frozen=True, slots=True)
class GradeContext:
    """Facts that a command adds to a report, and how much of it the page shows."""

    file: str = "submission.py"  # its path from the current folder
    tries: int = 0  # the candidate's tries including this one; 0 if it does not count as one
    time: str = ""  # of a pass: "14 minutes (15 planned)"
    clock: str = ""  # of a sitting: "12 of 15 min"; of an interview: "31 of 45 minutes left"
    full_command: str = "drill grade --full"  # the command that shows the parts left out
    first_action: str = ""  # what to do before the first of the steps
    steps: tuple[str, ...] = ()  # commands to continue with
    asked_part: int = 0  # the part that is asked now, because those before it pass
    request: Sequence[Block] = ()  # the interviewer's request in that part
    answer_blocks: Sequence[Block] = ()  # the lines of a file of answers
    full: bool = False  # show everything, even if it does not fit the screen
    explain: bool = False  # explain also an unchanged starter, and a file as in `unchanged_since`
    unchanged_since: int = 0  # the part that this file passed, if it has not changed since
    was_passed_before: bool = False  # whether the question was passed before
    is_complete: bool = True  # whether the report has all facts about the fault
    news: tuple[str, ...] = ()  # last sentences: changes since the last grade, other problems

    @property
    def rows(self) -> int | None:
        """Number of rows for the page on a terminal; None for the whole page."""
        return None if self.full else _MAX_ROWS


def grade_page(report: Report, context: GradeContext = GradeContext()) -> Sequence[Block]:
    """Return the page of a grade: a pass, or a failure.

    It is a pass, too, if `context.asked_part` is set: the parts before it passed.
    """
    report = without_expected_values(report)
    if report.verdict is Verdict.PASS or context.asked_part > 0:
        sections = _pass_sections(report, context)
    else:
        sections = _failure_sections(report, context)
    ending: list[Block] = []
    if report.isolation not in {"strong", ""}:  # empty if nothing was run
        text = f"Isolation is only {report.isolation} on this machine: drill doctor"
        ending.append(Paragraph(text))
    ending += map(Paragraph, context.news)
    if context.steps:
        ending.append(Commands(context.steps, context.first_action))
    return tuple(_join_sections([*sections, ending]))


def _pass_sections(report: Report, context: GradeContext) -> list[Sequence[Block]]:
    top = [_head(report, context, "PASS", BOLD)]
    lines = [grade_sentences.points_line(report, context.time)]
    if report.verdict is Verdict.PASS:
        lines += grade_sentences.measurement_lines(report)
    top += [Paragraph(text, indent=6) for text in lines]
    return [top, context.request or _follow_up(report)]


def _failure_sections(report: Report, context: GradeContext) -> list[Sequence[Block]]:
    top = [_head(report, context, report.verdict.upper(), REVERSE)]
    if context.was_passed_before:
        passed = "every part" if len(report.parts) > 1 else "this"
        top.append(Paragraph(grade_sentences.PASSED_BEFORE_NOTICE.format(passed), indent=6))
    notice = _symptom_notice(report, context)
    if notice:
        top.append(Paragraph(notice, indent=6))
    others: list[Block] = []
    if context.full:
        failing = grade_sentences.failing_required_checks(report)
        for check in report.checks:
            if check not in failing and check.part <= report.parts_passed + 1:
                others.append(_check_line(check))
    elif not (notice and _has_always_reported(report.checks)):
        others += _other_checks(report)
    return [top, *_fault_sections(report, context), [*others, OmissionNote(context.full_command)]]


def _symptom_notice(report: Report, context: GradeContext) -> str:
    """Return the sentence that only a symptom is shown, and why; empty if all is shown."""
    explain = context.explain or context.full
    if grade_sentences.shows_only_symptom(report, explain=explain):
        return grade_sentences.STARTER_NOTICE
    if context.unchanged_since and not (explain or report.message):
        return grade_sentences.UNCHANGED_NOTICE.format(context.unchanged_since)
    return ""


def _has_always_reported(checks: Iterable[CheckResult]) -> bool:
    """Return True if a check has its own line on the page when it fails, as picked causes do.

    A page that shows only a symptom then lists no other checks: their lines would tell the cause.
    """
    return any(kind_named(check.kind).always_reported for check in checks)


def derivation_blocks(question: Question, report: Report, file: bytes) -> Sequence[Block]:
    """Return a table of a derivation's lines, each "right", "wrong" or without an answer.

    Empty for a question of another form than `derive`, and if no check ran.
    """
    spec = question.spec
    if spec.form != "derive" or not report.checks:
        return ()
    runs = {check.id: check.run for check in spec.checks}
    words: dict[str, str] = {}  # by the name of a line, without spaces
    for check in report.checks:
        for step in question.runs[runs[check.id]]:
            if step.owner != "submission":
                continue
            for name in forms.form_of(spec).answers_for_function(step.function, question):
                if words.get(name, "right") == "right":
                    words[name] = _ANSWER_WORDS.get(check.verdict, "wrong")
    rows = []
    for line in file.decode("utf-8-sig", "replace").splitlines():
        left, _, right = line.partition("#")[0].partition("=")
        name = "".join(left.split())
        answer = right.strip()
        if name in words:
            word = "no answer yet" if answer in OPEN_VALUES else words[name]
            rows.append((name, truncate(answer, _MAX_WIDTH), word))
    marked = frozenset(index for index, row in enumerate(rows) if row[2] == "wrong")
    table = Table(("line", "yours", ""), rows, (), INDENT, marked)
    # A page that has to fit leaves the table out: the file has the lines.
    return (ShrinkableBlocks((table,), (ShorterForm(0),)),)


def assistant_document(report: Report, context: GradeContext = GradeContext()) -> dict[str, object]:
    """Return the report for an assistant: plain data with no more facts than the page shows.

    The check that the page explains has all its facts.  Any other has its id, verdict and part,
    and its message if the page shows that.
    """
    report = without_expected_values(report)
    is_pass = report.verdict is Verdict.PASS
    passed = is_pass or context.asked_part > 0
    asked = context.asked_part - 1 if context.asked_part else report.parts_passed + 1
    shown_checks = [] if passed else grade_sentences.failing_required_checks(report)[:1]
    only_symptom = bool(_symptom_notice(report, context))
    checks = [check for check in report.checks if check.part <= asked]
    if only_symptom and _has_always_reported(checks):
        checks = shown_checks

    def check_data(check: CheckResult) -> dict[str, object]:
        if check in shown_checks and not only_symptom:
            return to_plain_data(check)
        data: dict[str, object] = {"id": check.id, "verdict": check.verdict.value}
        data["part"] = check.part
        if is_pass or kind_named(check.kind).always_reported:
            data["message"] = check.message
        elif check in shown_checks:
            data["message"] = grade_sentences.describe_symptom(check)
        return data

    shown_report = replace(report, bank="", parts=report.parts[:asked], checks=())
    if passed or only_symptom:
        shown_report = replace(
            shown_report, misconceptions=(), explanations=(), printed="", note=""
        )
    if passed:
        shown_report = replace(shown_report, verdict=Verdict.PASS, message="", raised=None)
    return to_json(shown_report) | {
        "checks": [check_data(check) for check in checks],
        "file": context.file,
        "tries": context.tries,
        "asked": context.asked_part,
        "next": context.steps,
    }


def student_feedback_blocks(report: Report, *, complete: bool = True) -> Sequence[Block]:
    """Return the page of a student's grade without commands, for the feedback of a class.

    The report must have only facts that the student may see.  If it lacks some facts about a
    failure, `complete` is False: then no sentence says that no listed idea fits.
    """
    right = []
    if passed := grade_sentences.passed_checks(report):
        right.append(Paragraph(f"{join_words(passed)}.", "Right:", hang=INDENT))
    if report.verdict is Verdict.PASS:
        lines = [Paragraph(f"{text}.") for text in grade_sentences.measurement_lines(report)]
        return (*lines, *right, *_follow_up(report))
    context = GradeContext(file="", is_complete=complete)
    sections = [*_fault_sections(report, context, output_lines=_OUTPUT_LINES_IN_CLASS)]
    if not grade_sentences.failing_required_checks(report):
        sections.append(right)
    if grade_sentences.shows_only_symptom(report):
        sections.insert(0, [Paragraph(grade_sentences.STARTER_NOTICE)])
    else:
        sections.append(_other_checks(report, NO_LIMIT))
    return tuple(_join_sections(sections))


def _join_sections(sections: Iterable[Sequence[Block]]) -> Blocks:
    for index, section in enumerate(filter(None, sections)):
        if index:
            yield GAP
        yield from section


def _head(report: Report, context: GradeContext, label: str, style: str) -> Block:
    """Return the line with the verdict, the file and the question."""
    title = grade_sentences.grade_title(report, context.asked_part)
    seed = f"seed {report.seed}"
    if context.tries:
        seed = f"try {context.tries}, {seed}"
    facts = [fact for fact in (context.file, title, context.clock, seed) if fact]
    text = FACT_SEPARATOR.join(fact.replace(" ", "\xa0") for fact in facts)
    return Paragraph(text, f"{label:5}", style, hang=6)


def _follow_up(report: Report) -> Sequence[Block]:
    if not report.follow_up:
        return ()
    return [Paragraph(report.follow_up, "One more, without code:", hang=INDENT)]


def _other_checks(report: Report, most: int = 6) -> Sequence[Block]:
    checks = grade_sentences.other_checks(report, most)
    return [Paragraph(names, lead, hang=INDENT) for lead, names in checks]


def _fault_sections(
    report: Report, context: GradeContext, *, output_lines: int = NO_LIMIT
) -> Iterator[Sequence[Block]]:
    """Yield the sections on a failure, or on its symptom if the page shows only this.

    They are the problem of the file, the first failing check (with `full` all), the lines of
    answers, ideas, the author's note, and the last `output_lines` lines of output.  Any may be
    empty.
    """
    name = context.file.rpartition("/")[2]  # as tracebacks have it
    problem: list[Block] = []
    if report.message:
        problem.append(Paragraph(grade_sentences.file_problem(report), hang=INDENT))
    if report.raised is not None:
        problem.append(_traceback(report.raised, name, sentence=report.message))
    yield problem
    failing = grade_sentences.failing_required_checks(report)
    if report.message and failing:
        return  # a check of code that is not written yet has nothing to add
    if _symptom_notice(report, context):
        for check in failing[:1]:
            symptom = grade_sentences.describe_symptom(check)
            yield [Paragraph(symptom, f"{check.id}:", "", hang=INDENT)]
        return
    for check in failing if context.full else failing[:1]:
        yield list(_finding(check, name))
    yield context.answer_blocks
    ideas = grade_sentences.idea_paragraphs(report, complete=context.is_complete)
    ranks = list(range(len(ideas)))
    if ideas and ideas[0].lead.endswith("ideas:"):  # this line only introduces the others
        ranks = [0, *ranks]
    yield [_idea_block(idea, rank) for idea, rank in zip(ideas, ranks, strict=False)]
    if report.note:
        yield [Paragraph(report.note)]
    if report.printed.strip():
        yield [_output_block(report.printed, output_lines)]


def _finding(check: CheckResult, name: str) -> Blocks:
    """Yield a failing check: sentence, clauses, the smallest case, worst entry and exception."""
    sentence = grade_sentences.describe_finding(check)
    blame = grade_sentences.FAULT_PREFIXES.get(check.verdict, "")
    yield Paragraph(f"{blame}{sentence}", f"{check.id}:", "", hang=INDENT)
    if check.clauses:
        # A clause is never cut, because the broken condition may be at its end.
        texts = [f"contract, {clause.number}: {clause.text}" for clause in check.clauses]
        clauses = [Paragraph(text, indent=INDENT) for text in texts]
        yield ShrinkableBlocks(clauses, (ShorterForm(0, clauses[:1]),))
    if check.exhibit is not None:
        yield _INNER_GAP
        yield _exhibit_block(check, check.exhibit)
        yield _INNER_GAP
    if entry := grade_sentences.worst_entry(check, sentence):
        yield Paragraph(entry, indent=INDENT)
    if check.raised is not None:
        yield _traceback(check.raised, name)


def _exhibit_block(check: CheckResult, exhibit: Exhibit) -> Block:
    bound = check.mismatch.expected if check.mismatch else ""
    draw = partial(exhibit_blocks, exhibit, hidden=check.estimate, bound=bound)
    lost = ("the whole example",)
    drops_inputs = isinstance(exhibit, Grids) and len(exhibit.panels) > 2
    shorter_forms = (
        ShorterForm(0, tuple(draw(most=12))),
        ShorterForm(5, tuple(draw(most=8))),
        ShorterForm(8, tuple(draw(most=4, inputs=False)), lost if drops_inputs else ()),
        ShorterForm(10, lost=lost),
    )
    return ShrinkableBlocks(tuple(draw()), shorter_forms)


def _traceback(raised: ExceptionRecord, name: str, sentence: str = "") -> Block:
    full, shorter, shortest = (
        tuple(exception_blocks(raised, name, most=most, sentence=sentence))
        for most in (NO_LIMIT, 6, 3)
    )
    return ShrinkableBlocks(full, (ShorterForm(0, shorter), ShorterForm(9, shortest)))


def _idea_block(idea: grade_sentences.IdeaParagraph, before: int) -> Block:
    """Return one fact about the fault, with shorter and shorter forms.

    `before` is the number of facts above it, without a line that introduces them.  A page that has
    to fit leaves out the fourth and all later facts.  It leaves out the third, too, before it
    shortens the feedback below a lead.
    """
    sentences_by_rank = [(0, 2), (11, 1)]
    if idea.lead:
        sentences_by_rank = [(6, 4), (7, 3), (9, 2), (11, 1)]
    last_rank = (99, 12, 5, 0)[min(before, 3)]  # after which the idea is left out
    shorter_forms = [
        ShorterForm(rank, *_cut_feedback(idea, most))
        for rank, most in sentences_by_rank
        if rank < last_rank
    ]
    if before:
        shorter_forms.append(ShorterForm(last_rank, lost=("more ideas",)))
    blocks, _ = _cut_feedback(idea, NO_LIMIT)
    if idea.lead:
        blocks = (blocks[0], *from_markdown(idea.feedback, indent=INDENT, gap=_INNER_GAP))
    return ShrinkableBlocks(blocks, shorter_forms)


def _cut_feedback(
    idea: grade_sentences.IdeaParagraph, most: int
) -> tuple[Sequence[Block], Sequence[str]]:
    """Return an idea with the first `most` sentences of its feedback, and names of lost parts."""
    feedback, is_cut = grade_sentences.first_sentences(idea.feedback, most)
    lost = ("the rest of the feedback",) if is_cut else ()
    if not idea.lead:  # one of several
        indent = 2 if feedback else 0
        return (Paragraph(f"{idea.text} {feedback}", indent=indent, hang=INDENT),), lost
    blocks = [Paragraph(idea.text, idea.lead, hang=INDENT)]
    if feedback:
        blocks.append(Paragraph(feedback, indent=INDENT))
    return blocks, lost


def _output_block(output: str, most: int) -> Block:
    full = _output_lines(output, most)
    shorter = _output_lines(output, _OUTPUT_LINES)
    without = ShorterForm(3, lost=("what your code printed",))
    if full != shorter:
        return ShrinkableBlocks(full, (ShorterForm(0, shorter), without))
    narrow = _output_lines(output, _OUTPUT_LINES, _NARROW)
    return ShrinkableBlocks(full, (ShorterForm(3, narrow), without._replace(rank=10)))


def _output_lines(output: str, most: int, width: int = _MAX_WIDTH) -> Sequence[Block]:
    lines, before = last_lines_escaped(output, most)
    part = ""
    if before:
        part = f" (the last {len(lines)} of {before + len(lines):,} lines)"
    code = CodeBlock([truncate(line, width) for line in lines], INDENT)
    return Paragraph(f"Your code printed{part}:"), code


def _check_line(check: CheckResult) -> Block:
    """Return one line on a check: its verdict, its id, and its message or the check it needs."""
    needs = f"needs {check.blocked_by}" if check.blocked_by else ""
    return Item(f"{check.id}: {check.message or needs}".rstrip(": "), f"{check.verdict:12}")


def run_page(result: ExperimentResult, head: str, *, filename: str) -> Blocks:
    """Yield the page of an experiment: its numbers, its time, and the tail of its output.

    `head`, such as "run 3 of 12", begins the page if the script ran; `filename` is the script's.
    """
    facts = [head if result.started else "no run, nothing is used"]
    if result.fault:
        facts.append(result.fault)
    else:
        for name, series in run_numbers(result.value).items():
            numbers = [f"{series[0]:.4g}"]
            if len(series) > 1:
                numbers.append(f"{series[-1]:.4g}")
            facts.append(f"{name[:24]} {' -> '.join(numbers)}")
    if result.started:
        facts.append(f"{result.seconds:.1f} s")
    yield Paragraph(FACT_SEPARATOR.join(facts))
    if result.raised is not None:
        yield from exception_blocks(result.raised, filename)
    lines, before = last_lines_escaped(result.end or result.printed, _OUTPUT_LINES_OF_EXPERIMENT)
    if result.end or before:
        lines.insert(0, f"... the last of {result.bytes_printed:,} characters that it printed ...")
    yield CodeBlock(lines, 2)
