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
from grader.forms.base import OPEN
from grader.kinds.registry import get
from grader.model.numerals import joined
from grader.model.report import CheckResult, Grids, Raised, Report, Verdict
from grader.reports import words
from grader.reports.blocks import (
    BETWEEN,
    Block,
    Blocks,
    Code,
    Commands,
    Gap,
    Item,
    LeftOut,
    Paragraph,
    Shorter,
    Shrinks,
    Table,
    from_markdown,
)
from grader.reports.figures import EVERYTHING, INDENT, figure, trace
from grader.reports.json import numbers, plain, to_json, withheld
from grader.reports.sheet import BOLD, REVERSE, cut, inert_lines

if TYPE_CHECKING:
    from grader.model.question import Question
    from grader.session.submission import Ran

_ROWS = 22  # so that the command above and the prompt below stay on a screen of 24
GAP = Shrinks((Gap(),), (Shorter(4),))  # between sections
_INNER_GAP = Shrinks((Gap(),), (Shorter(2),))  # around an example
_CAME_OF = {Verdict.PASS: "right", Verdict.SKIPPED: "not tried"}  # else it is wrong
_LINE = 76  # characters of a line that was printed
_NARROW = 36  # of them where there is little room
_PRINTED = 4  # lines of what the submission printed
_PRINTED_IN_CLASS = 8
_PRINTED_IN_RUN = 19


@dataclass(frozen=True, slots=True)
class Around:
    """What a command knows of a grade besides its report, and how much is to be shown."""

    file: str = "submission.py"  # as it is called from the current folder
    tries: int = 0  # of one's own, with this one; 0 where it counts as none
    time: str = ""  # of a pass: "14 minutes (15 planned)"
    clock: str = ""  # of a sitting: "12 of 15 min"; of an interview: "31 of 45 minutes left"
    everything: str = "drill grade --full"  # the command that shows what is left out
    first: str = ""  # what to do before the first of the steps
    steps: tuple[str, ...] = ()  # commands to go on with
    asked: int = 0  # the part that is asked now, because those before it pass
    request: Sequence[Block] = ()  # what the interviewer asks in it
    written: Sequence[Block] = ()  # what a file of answers says, beside what is said of it
    full: bool = False  # everything, however long
    explain: bool = False  # an untouched starter too, and a file as in `unchanged_since`
    unchanged_since: int = 0  # the part that this file passed, if it has not changed since
    before: bool = False  # whether the question was passed before
    complete: bool = True  # whether the report has all that is known of the fault
    news: tuple[str, ...] = ()  # what is said last: what has changed, what is wrong besides

    @property
    def rows(self) -> int | None:
        """How many the page may have on a terminal; None: as many as it takes."""
        return None if self.full else _ROWS


def page(report: Report, around: Around = Around()) -> Sequence[Block]:
    """Everything that a page says of a grade."""
    report = withheld(report)
    passed = report.verdict is Verdict.PASS or around.asked > 0
    top = [_head(report, around, passed=passed)]
    if passed:
        points = [words.earned(report, around.time)]
        points += words.measured(report) if report.verdict is Verdict.PASS else []
        top += [Paragraph(text, indent=6) for text in points]
        sections = [top, around.request or [*_follow_up(report)]]
    else:
        others = [Paragraph(rest, lead, hang=INDENT) for lead, rest in words.others(report)]
        if around.before:
            what = "every part" if len(report.parts) > 1 else "this"
            top.append(Paragraph(words.BEFORE.format(what), indent=6))
        if why := _keeps_back(report, around):
            top.append(Paragraph(why, indent=6))
            if any(get(check.kind).always_said for check in report.checks):
                others = []  # which properties fail is what has to be found out
        shown = words.deciding(report)
        asked = report.parts_passed + 1
        rest = (_line(c) for c in report.checks if c not in shown and c.part <= asked)
        about = [*(rest if around.full else others), LeftOut(around.everything)]
        sections = [top, *_fault(report, around), about]
    ending: list[Block] = []
    if report.isolation not in {"strong", ""}:  # nothing of the file was run where it is empty
        text = f"Isolation is only {report.isolation} on this machine: drill doctor"
        ending.append(Paragraph(text))
    ending += map(Paragraph, around.news)
    if around.steps:
        ending.append(Commands(around.steps, around.first))
    return tuple(_joined([*sections, ending]))


def _keeps_back(report: Report, around: Around) -> str:
    """Why only a symptom is shown; empty if all is."""
    explain = around.explain or around.full
    if words.keeps_back(report, explain=explain):
        return words.STARTER
    if around.unchanged_since and not (explain or report.message):
        return words.UNCHANGED.format(around.unchanged_since)
    return ""


def derivation(question: Question, report: Report, file: bytes) -> Sequence[Block]:
    """The lines of a derivation, each with what came of it; nothing of another form."""
    spec = question.spec
    form = forms.of(question.spec)
    if spec.form != "derive" or not report.checks:
        return ()
    asks = {check.id: check.run for check in spec.checks}
    came: dict[str, str] = {}  # of a line, by its name without spaces
    for check in report.checks:
        for step in question.runs[asks[check.id]]:
            for name in (
                form.asked_by(step.function, question) if step.owner == "submission" else ()
            ):
                if came.get(name, "right") == "right":
                    came[name] = _CAME_OF.get(check.verdict, "wrong")
    rows = []
    for line in file.decode("utf-8-sig", "replace").splitlines():
        left, _, right = line.partition("#")[0].partition("=")
        name = "".join(left.split())
        if name in came:
            word = "no answer yet" if right.strip() in OPEN else came[name]
            rows.append((name, cut(right.strip(), _LINE), word))
    marked = frozenset(at for at, row in enumerate(rows) if row[2] == "wrong")
    table = Table(("line", "yours", ""), rows, (), INDENT, marked)
    return (Shrinks((table,), (Shorter(0),)),)  # where it has to fit, it is in the file


def document(report: Report, around: Around = Around()) -> dict[str, object]:
    """The report as plain data, cut to what its page says: for a program that helps the candidate.

    Of a check that is not shown there are only the verdict, and what else the page says.
    """
    report = withheld(report)
    is_pass = report.verdict is Verdict.PASS
    passed = is_pass or around.asked > 0
    asked = around.asked - 1 if around.asked else report.parts_passed + 1
    first = [] if passed else words.deciding(report)[:1]
    back = bool(_keeps_back(report, around))
    checks = [check for check in report.checks if check.part <= asked]
    if back and any(get(check.kind).always_said for check in checks):
        checks = first  # which properties fail is what has to be found out
    told = [
        plain(check) if check in first and not back else
        {"id": check.id, "verdict": check.verdict.value, "part": check.part}
        | ({"message": words.symptom(check)} if check in first else {})
        | ({"message": check.message} if is_pass or get(check.kind).always_said else {})
        for check in checks
    ]  # fmt: skip
    shown = replace(report, bank="", parts=report.parts[:asked], checks=())
    if passed or back:
        shown = replace(shown, misconceptions=(), explanations=(), printed="", note="")
    if passed:
        shown = replace(shown, verdict=Verdict.PASS, message="", raised=None)
    more = {"file": around.file, "tries": around.tries, "asked": around.asked, "next": around.steps}
    return to_json(shown) | {"checks": told} | more


def told(report: Report, *, complete: bool = True) -> Sequence[Block]:
    """What a student reads of a grade in the feedback to a class: its page without commands.

    The report has what the student may see, `complete` if that is all that is known of the fault.
    """
    passed = [c.id for c in report.checks if c.verdict is Verdict.PASS and not c.stretch]
    right = [Paragraph(f"{joined(passed)}.", "Right:", hang=INDENT)] * bool(passed)
    if report.verdict is Verdict.PASS:
        blocks = [Paragraph(f"{text}.") for text in words.measured(report)]
        return (*blocks, *right, *_follow_up(report))
    keeps_back = words.keeps_back(report)
    others = [
        Paragraph(rest, lead, hang=INDENT)
        for lead, rest in words.others(report, EVERYTHING)
        if not keeps_back
    ]
    return tuple(
        _joined(
            [
                [Paragraph(words.STARTER)] * keeps_back,
                *_fault(report, Around(file="", complete=complete), printed=_PRINTED_IN_CLASS),
                [] if words.deciding(report) else right,
                others,
            ]
        )
    )


def _joined(sections: Iterable[Sequence[Block]]) -> Blocks:
    for at, section in enumerate(filter(None, sections)):
        if at:
            yield GAP
        yield from section


def _head(report: Report, around: Around, *, passed: bool) -> Block:
    """The verdict, the file, the question."""
    label = "PASS" if passed else report.verdict.upper()
    tries = f"try {around.tries}, " if around.tries else ""
    what = words.head(report, around.asked)
    facts = [around.file, what, around.clock, f"{tries}seed {report.seed}"]
    text = BETWEEN.join(fact.replace(" ", "\xa0") for fact in facts if fact)
    return Paragraph(text, f"{label:5}", BOLD if passed else REVERSE, hang=6)


def _follow_up(report: Report) -> Blocks:
    if report.follow_up:
        yield Paragraph(report.follow_up, "One more, without code:", hang=INDENT)


def _fault(report: Report, around: Around, *, printed: int = EVERYTHING) -> Iterator[list[Block]]:
    """What is known of a failure, in sections."""
    name = around.file.rpartition("/")[2]  # as tracebacks call it
    about: list[Block] = []
    if report.message:
        about.append(Paragraph(words.about_the_file(report), hang=INDENT))
    if report.raised is not None:
        about.append(_trace(report.raised, name, said=report.message))
    yield about
    failing = words.deciding(report)
    if report.message and failing:
        return  # of what is not written yet nothing else is said
    if _keeps_back(report, around):
        yield [Paragraph(words.symptom(c), f"{c.id}:", "", hang=INDENT) for c in failing[:1]]
        return
    for check in failing if around.full else failing[:1]:
        yield list(_finding(check, name))
    yield list(around.written)
    ideas = words.ideas(report, complete=around.complete)
    several = bool(ideas) and ideas[0].lead.endswith("ideas:")  # which introduces the others
    yield [_idea(idea, at - (several and at > 0)) for at, idea in enumerate(ideas)]
    if report.note:
        yield [Paragraph(report.note)]
    if report.printed.strip():
        every, some = (_printed(report.printed, most) for most in (printed, _PRINTED))
        lost = Shorter(3, lost=("what your code printed",))
        if every == some:  # it is short
            narrow = _printed(report.printed, _PRINTED, _NARROW)
            yield [Shrinks(every, (Shorter(3, narrow), lost._replace(rank=10)))]
        else:
            yield [Shrinks(every, (Shorter(0, some), lost))]


def _finding(check: CheckResult, name: str) -> Blocks:
    """What a check found: the sentence, the smallest case, the worst entry or the exception."""
    sentence = words.finding(check)
    blame = words.BLAME.get(check.verdict, "")
    yield Paragraph(f"{blame}{sentence}", f"{check.id}:", "", hang=INDENT)
    if clauses := [f"contract, {one.number}: {one.text}" for one in check.clauses]:
        # Whole, because what is broken may stand at the end; only the first where there is no room.
        every = [Paragraph(text, indent=INDENT) for text in clauses]
        yield Shrinks(every, (Shorter(0, every[:1]),))
    if check.exhibit is not None:
        bound = check.mismatch.expected if check.mismatch else ""
        part = partial(figure, check.exhibit, hidden=check.estimate, bound=bound)
        lost = ("the whole example",)
        several = isinstance(check.exhibit, Grids) and len(check.exhibit.panels) > 2
        shorter = (
            Shorter(0, tuple(part(most=12))),
            Shorter(5, tuple(part(most=8))),
            Shorter(8, tuple(part(most=4, inputs=False)), lost * several),
            Shorter(10, lost=lost),
        )
        yield _INNER_GAP
        yield Shrinks(tuple(part()), shorter)
        yield _INNER_GAP
    if said := words.entry(check, sentence):
        yield Paragraph(said, indent=INDENT)
    if check.raised is not None:
        yield _trace(check.raised, name)


def _trace(raised: Raised, name: str, said: str = "") -> Block:
    every, some, few = (
        tuple(trace(raised, name, most=most, said=said)) for most in (EVERYTHING, 6, 3)
    )
    return Shrinks(every, (Shorter(0, some), Shorter(9, few)))


def _idea(idea: words.Idea, before: int) -> Block:
    """One thing that is known of the fault; on a page that has to fit, less and less of it.

    A third idea goes before any feedback does, a fourth one is only counted.
    """
    steps = ((6, 4), (7, 3), (9, 2), (11, 1)) if idea.lead else ((0, 2), (11, 1))
    gone = (99, 12, 5, 0)[min(before, 3)]
    shorter = [Shorter(rank, *_in_sentences(idea, most)) for rank, most in steps if rank < gone]
    if before:
        shorter.append(Shorter(gone, lost=("more ideas",)))
    whole = _in_sentences(idea, EVERYTHING)[0]
    if idea.lead:
        whole = (whole[0], *from_markdown(idea.feedback, indent=INDENT, gap=_INNER_GAP))
    return Shrinks(whole, shorter)


def _in_sentences(idea: words.Idea, most: int) -> tuple[Sequence[Block], tuple[str, ...]]:
    said, is_cut = words.sentences(idea.feedback, most)
    lost = ("the rest of the feedback",) * is_cut
    if not idea.lead:  # one of several
        return (Paragraph(f"{idea.text} {said}", indent=2 * bool(said), hang=INDENT),), lost
    begin = Paragraph(idea.text, idea.lead, hang=INDENT)
    return (begin, *[Paragraph(said, indent=INDENT)] * bool(said)), lost


def _printed(printed: str, most: int, width: int = _LINE) -> Sequence[Block]:
    shown, before = inert_lines(printed, most)
    part = f" (the last {len(shown)} of {before + len(shown):,} lines)" if before else ""
    lines = [cut(line, width) for line in shown]
    return Paragraph(f"Your code printed{part}:"), Code(lines, INDENT)


def _line(check: CheckResult) -> Block:
    """One line of a check that is not shown, for those who ask for everything."""
    needs = f"needs {check.blocked_by}" if check.blocked_by else ""
    return Item(f"{check.id}: {check.message or needs}".rstrip(": "), f"{check.verdict:12}")


def run_page(ran: Ran, head: str, *, filename: str) -> Blocks:
    """The page of a run: its numbers, how long it took, and what the script `filename` printed."""
    said = [head] if ran.started else ["no run, nothing is used"]
    if ran.fault:
        said.append(ran.fault)
    else:
        for name, series in numbers(ran.value).items():
            ends = series if len(series) == 1 else (series[0], series[-1])
            said.append(f"{name[:24]} {' -> '.join(f'{x:.4g}' for x in ends)}")
    if ran.started:
        said.append(f"{ran.seconds:.1f} s")
    yield Paragraph(BETWEEN.join(said))
    if ran.raised is not None:
        yield from trace(ran.raised, filename)
    shown, before = inert_lines(ran.end or ran.printed, _PRINTED_IN_RUN)
    if ran.end or before:
        shown.insert(0, f"... the last of {ran.bytes_printed:,} characters that it printed ...")
    yield Code(shown, 2)
