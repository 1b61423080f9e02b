"""The page of a grade: the verdict and its file, the smallest case that fails, the idea behind it.

Then what is right, and the next step.  It fits a screen of 24 lines; what does not fit is
counted.  A page is a function of the report and of what the command knows besides.  So is that of
an experiment, which nobody judges.
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
from grader.model.report import CheckResult, ExceptionRecord, Grids, Report, Verdict
from grader.reports import sentences
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

_ROWS = 22  # so that the command above and the prompt below stay on a screen of 24
GAP = ShrinkableBlocks((BlankLine(),), (ShorterForm(4),))  # between sections
_INNER_GAP = ShrinkableBlocks((BlankLine(),), (ShorterForm(2),))  # around an example
_CAME_OF = {Verdict.PASS: "right", Verdict.SKIPPED: "not tried"}  # else it is wrong
_LINE = 76  # characters of a line that was printed
_NARROW = 36  # of them where there is little room
_PRINTED = 4  # lines of what the submission printed
_PRINTED_IN_CLASS = 8
_PRINTED_IN_RUN = 19


@dataclass(frozen=True, slots=True)
class GradeContext:
    """What a command knows of a grade besides its report, and how much is to be shown."""

    file: str = "submission.py"  # as it is called from the current folder
    tries: int = 0  # of one's own, with this one; 0 where it counts as none
    time: str = ""  # of a pass: "14 minutes (15 planned)"
    clock: str = ""  # of a sitting: "12 of 15 min"; of an interview: "31 of 45 minutes left"
    full_command: str = "drill grade --full"  # the command that shows what is left out
    first_action: str = ""  # what to do before the first of the steps
    steps: tuple[str, ...] = ()  # commands to go on with
    asked_part: int = 0  # the part that is asked now, because those before it pass
    request: Sequence[Block] = ()  # what the interviewer asks in it
    answer_blocks: Sequence[Block] = ()  # what a file of answers says, beside what is said of it
    full: bool = False  # everything, however long
    explain: bool = False  # an untouched starter too, and a file as in `unchanged_since`
    unchanged_since: int = 0  # the part that this file passed, if it has not changed since
    was_passed_before: bool = False  # whether the question was passed before
    is_complete: bool = True  # whether the report has all that is known of the fault
    news: tuple[str, ...] = ()  # what is said last: what has changed, what is wrong besides

    @property
    def rows(self) -> int | None:
        """How many the page may have on a terminal; None: as many as it takes."""
        return None if self.full else _ROWS


def grade_page(report: Report, around: GradeContext = GradeContext()) -> Sequence[Block]:
    """Everything that a page says of a grade."""
    report = without_expected_values(report)
    passed = report.verdict is Verdict.PASS or around.asked_part > 0
    top = [_head(report, around, passed=passed)]
    if passed:
        points = [sentences.points_line(report, around.time)]
        points += sentences.measurement_lines(report) if report.verdict is Verdict.PASS else []
        top += [Paragraph(text, indent=6) for text in points]
        sections = [top, around.request or [*_follow_up(report)]]
    else:
        others = [
            Paragraph(rest, lead, hang=INDENT) for lead, rest in sentences.other_checks(report)
        ]
        if around.was_passed_before:
            what = "every part" if len(report.parts) > 1 else "this"
            top.append(Paragraph(sentences.PASSED_BEFORE_NOTICE.format(what), indent=6))
        if why := _keeps_back(report, around):
            top.append(Paragraph(why, indent=6))
            if any(kind_named(check.kind).always_reported for check in report.checks):
                others = []  # which properties fail is what has to be found out
        shown = sentences.failing_required_checks(report)
        asked = report.parts_passed + 1
        rest = (_line(c) for c in report.checks if c not in shown and c.part <= asked)
        about = [*(rest if around.full else others), OmissionNote(around.full_command)]
        sections = [top, *_fault(report, around), about]
    ending: list[Block] = []
    if report.isolation not in {"strong", ""}:  # nothing of the file was run where it is empty
        text = f"Isolation is only {report.isolation} on this machine: drill doctor"
        ending.append(Paragraph(text))
    ending += map(Paragraph, around.news)
    if around.steps:
        ending.append(Commands(around.steps, around.first_action))
    return tuple(_joined([*sections, ending]))


def _keeps_back(report: Report, around: GradeContext) -> str:
    """Why only a symptom is shown; empty if all is."""
    explain = around.explain or around.full
    if sentences.shows_only_symptom(report, explain=explain):
        return sentences.STARTER_NOTICE
    if around.unchanged_since and not (explain or report.message):
        return sentences.UNCHANGED_NOTICE.format(around.unchanged_since)
    return ""


def derivation_blocks(question: Question, report: Report, file: bytes) -> Sequence[Block]:
    """The lines of a derivation, each with what came of it; nothing of another form."""
    spec = question.spec
    form = forms.form_of(question.spec)
    if spec.form != "derive" or not report.checks:
        return ()
    asks = {check.id: check.run for check in spec.checks}
    came: dict[str, str] = {}  # of a line, by its name without spaces
    for check in report.checks:
        for step in question.runs[asks[check.id]]:
            for name in (
                form.answers_for_function(step.function, question)
                if step.owner == "submission"
                else ()
            ):
                if came.get(name, "right") == "right":
                    came[name] = _CAME_OF.get(check.verdict, "wrong")
    rows = []
    for line in file.decode("utf-8-sig", "replace").splitlines():
        left, _, right = line.partition("#")[0].partition("=")
        name = "".join(left.split())
        if name in came:
            word = "no answer yet" if right.strip() in OPEN_VALUES else came[name]
            rows.append((name, truncate(right.strip(), _LINE), word))
    marked = frozenset(at for at, row in enumerate(rows) if row[2] == "wrong")
    table = Table(("line", "yours", ""), rows, (), INDENT, marked)
    return (
        ShrinkableBlocks((table,), (ShorterForm(0),)),
    )  # where it has to fit, it is in the file


def assistant_document(report: Report, around: GradeContext = GradeContext()) -> dict[str, object]:
    """The report as plain data, cut to what its page says: for a program that helps the candidate.

    Of a check that is not shown there are only the verdict, and what else the page says.
    """
    report = without_expected_values(report)
    is_pass = report.verdict is Verdict.PASS
    passed = is_pass or around.asked_part > 0
    asked = around.asked_part - 1 if around.asked_part else report.parts_passed + 1
    first = [] if passed else sentences.failing_required_checks(report)[:1]
    back = bool(_keeps_back(report, around))
    checks = [check for check in report.checks if check.part <= asked]
    if back and any(kind_named(check.kind).always_reported for check in checks):
        checks = first  # which properties fail is what has to be found out
    told = [
        to_plain_data(check) if check in first and not back else
        {"id": check.id, "verdict": check.verdict.value, "part": check.part}
        | ({"message": sentences.describe_symptom(check)} if check in first else {})
        | ({"message": check.message} if is_pass or kind_named(check.kind).always_reported else {})
        for check in checks
    ]  # fmt: skip
    shown = replace(report, bank="", parts=report.parts[:asked], checks=())
    if passed or back:
        shown = replace(shown, misconceptions=(), explanations=(), printed="", note="")
    if passed:
        shown = replace(shown, verdict=Verdict.PASS, message="", raised=None)
    more = {
        "file": around.file,
        "tries": around.tries,
        "asked": around.asked_part,
        "next": around.steps,
    }
    return to_json(shown) | {"checks": told} | more


def student_feedback_blocks(report: Report, *, complete: bool = True) -> Sequence[Block]:
    """What a student reads of a grade in the feedback to a class: its page without commands.

    The report has what the student may see, `complete` if that is all that is known of the fault.
    """
    passed = [c.id for c in report.checks if c.verdict is Verdict.PASS and not c.stretch]
    right = [Paragraph(f"{join_words(passed)}.", "Right:", hang=INDENT)] * bool(passed)
    if report.verdict is Verdict.PASS:
        blocks = [Paragraph(f"{text}.") for text in sentences.measurement_lines(report)]
        return (*blocks, *right, *_follow_up(report))
    keeps_back = sentences.shows_only_symptom(report)
    others = [
        Paragraph(rest, lead, hang=INDENT)
        for lead, rest in sentences.other_checks(report, NO_LIMIT)
        if not keeps_back
    ]
    return tuple(
        _joined(
            [
                [Paragraph(sentences.STARTER_NOTICE)] * keeps_back,
                *_fault(
                    report, GradeContext(file="", is_complete=complete), printed=_PRINTED_IN_CLASS
                ),
                [] if sentences.failing_required_checks(report) else right,
                others,
            ]
        )
    )


def _joined(sections: Iterable[Sequence[Block]]) -> Blocks:
    for at, section in enumerate(filter(None, sections)):
        if at:
            yield GAP
        yield from section


def _head(report: Report, around: GradeContext, *, passed: bool) -> Block:
    """The verdict, the file, the question."""
    label = "PASS" if passed else report.verdict.upper()
    tries = f"try {around.tries}, " if around.tries else ""
    what = sentences.grade_title(report, around.asked_part)
    facts = [around.file, what, around.clock, f"{tries}seed {report.seed}"]
    text = FACT_SEPARATOR.join(fact.replace(" ", "\xa0") for fact in facts if fact)
    return Paragraph(text, f"{label:5}", BOLD if passed else REVERSE, hang=6)


def _follow_up(report: Report) -> Blocks:
    if report.follow_up:
        yield Paragraph(report.follow_up, "One more, without code:", hang=INDENT)


def _fault(
    report: Report, around: GradeContext, *, printed: int = NO_LIMIT
) -> Iterator[list[Block]]:
    """What is known of a failure, in sections."""
    name = around.file.rpartition("/")[2]  # as tracebacks call it
    about: list[Block] = []
    if report.message:
        about.append(Paragraph(sentences.file_problem(report), hang=INDENT))
    if report.raised is not None:
        about.append(_trace(report.raised, name, said=report.message))
    yield about
    failing = sentences.failing_required_checks(report)
    if report.message and failing:
        return  # of what is not written yet nothing else is said
    if _keeps_back(report, around):
        yield [
            Paragraph(sentences.describe_symptom(c), f"{c.id}:", "", hang=INDENT)
            for c in failing[:1]
        ]
        return
    for check in failing if around.full else failing[:1]:
        yield list(_finding(check, name))
    yield list(around.answer_blocks)
    ideas = sentences.idea_paragraphs(report, complete=around.is_complete)
    several = bool(ideas) and ideas[0].lead.endswith("ideas:")  # which introduces the others
    yield [_idea(idea, at - (several and at > 0)) for at, idea in enumerate(ideas)]
    if report.note:
        yield [Paragraph(report.note)]
    if report.printed.strip():
        every, some = (_printed(report.printed, most) for most in (printed, _PRINTED))
        lost = ShorterForm(3, lost=("what your code printed",))
        if every == some:  # it is short
            narrow = _printed(report.printed, _PRINTED, _NARROW)
            yield [ShrinkableBlocks(every, (ShorterForm(3, narrow), lost._replace(rank=10)))]
        else:
            yield [ShrinkableBlocks(every, (ShorterForm(0, some), lost))]


def _finding(check: CheckResult, name: str) -> Blocks:
    """What a check found: the sentence, the smallest case, the worst entry or the exception."""
    sentence = sentences.describe_finding(check)
    blame = sentences.FAULT_PREFIXES.get(check.verdict, "")
    yield Paragraph(f"{blame}{sentence}", f"{check.id}:", "", hang=INDENT)
    if clauses := [f"contract, {one.number}: {one.text}" for one in check.clauses]:
        # Whole, because what is broken may stand at the end; only the first where there is no room.
        every = [Paragraph(text, indent=INDENT) for text in clauses]
        yield ShrinkableBlocks(every, (ShorterForm(0, every[:1]),))
    if check.exhibit is not None:
        bound = check.mismatch.expected if check.mismatch else ""
        part = partial(exhibit_blocks, check.exhibit, hidden=check.estimate, bound=bound)
        lost = ("the whole example",)
        several = isinstance(check.exhibit, Grids) and len(check.exhibit.panels) > 2
        shorter = (
            ShorterForm(0, tuple(part(most=12))),
            ShorterForm(5, tuple(part(most=8))),
            ShorterForm(8, tuple(part(most=4, inputs=False)), lost * several),
            ShorterForm(10, lost=lost),
        )
        yield _INNER_GAP
        yield ShrinkableBlocks(tuple(part()), shorter)
        yield _INNER_GAP
    if said := sentences.worst_entry(check, sentence):
        yield Paragraph(said, indent=INDENT)
    if check.raised is not None:
        yield _trace(check.raised, name)


def _trace(raised: ExceptionRecord, name: str, said: str = "") -> Block:
    every, some, few = (
        tuple(exception_blocks(raised, name, most=most, said=said)) for most in (NO_LIMIT, 6, 3)
    )
    return ShrinkableBlocks(every, (ShorterForm(0, some), ShorterForm(9, few)))


def _idea(idea: sentences.IdeaParagraph, before: int) -> Block:
    """One thing that is known of the fault; on a page that has to fit, less and less of it.

    A third idea goes before any feedback does, a fourth one is only counted.
    """
    steps = ((6, 4), (7, 3), (9, 2), (11, 1)) if idea.lead else ((0, 2), (11, 1))
    gone = (99, 12, 5, 0)[min(before, 3)]
    shorter = [ShorterForm(rank, *_in_sentences(idea, most)) for rank, most in steps if rank < gone]
    if before:
        shorter.append(ShorterForm(gone, lost=("more ideas",)))
    whole = _in_sentences(idea, NO_LIMIT)[0]
    if idea.lead:
        whole = (whole[0], *from_markdown(idea.feedback, indent=INDENT, gap=_INNER_GAP))
    return ShrinkableBlocks(whole, shorter)


def _in_sentences(
    idea: sentences.IdeaParagraph, most: int
) -> tuple[Sequence[Block], tuple[str, ...]]:
    said, is_cut = sentences.first_sentences(idea.feedback, most)
    lost = ("the rest of the feedback",) * is_cut
    if not idea.lead:  # one of several
        return (Paragraph(f"{idea.text} {said}", indent=2 * bool(said), hang=INDENT),), lost
    begin = Paragraph(idea.text, idea.lead, hang=INDENT)
    return (begin, *[Paragraph(said, indent=INDENT)] * bool(said)), lost


def _printed(printed: str, most: int, width: int = _LINE) -> Sequence[Block]:
    shown, before = last_lines_escaped(printed, most)
    part = f" (the last {len(shown)} of {before + len(shown):,} lines)" if before else ""
    lines = [truncate(line, width) for line in shown]
    return Paragraph(f"Your code printed{part}:"), CodeBlock(lines, INDENT)


def _line(check: CheckResult) -> Block:
    """One line of a check that is not shown, for those who ask for everything."""
    needs = f"needs {check.blocked_by}" if check.blocked_by else ""
    return Item(f"{check.id}: {check.message or needs}".rstrip(": "), f"{check.verdict:12}")


def run_page(ran: ExperimentResult, head: str, *, filename: str) -> Blocks:
    """The page of a run: its numbers, how long it took, and what the script `filename` printed."""
    said = [head] if ran.started else ["no run, nothing is used"]
    if ran.fault:
        said.append(ran.fault)
    else:
        for name, series in run_numbers(ran.value).items():
            ends = series if len(series) == 1 else (series[0], series[-1])
            said.append(f"{name[:24]} {' -> '.join(f'{x:.4g}' for x in ends)}")
    if ran.started:
        said.append(f"{ran.seconds:.1f} s")
    yield Paragraph(FACT_SEPARATOR.join(said))
    if ran.raised is not None:
        yield from exception_blocks(ran.raised, filename)
    shown, before = last_lines_escaped(ran.end or ran.printed, _PRINTED_IN_RUN)
    if ran.end or before:
        shown.insert(0, f"... the last of {ran.bytes_printed:,} characters that it printed ...")
    yield CodeBlock(shown, 2)
