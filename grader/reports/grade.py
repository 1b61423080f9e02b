"""The page of a grade: the verdict and its file, the smallest case that fails, the idea behind it.

Then what is not to blame, and the next step.  It fits a screen of 24 lines; what does not fit is
counted.  A page is a function of the report and of what the command knows besides.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from grader.model.report import CheckResult, Grids, Raised, Report, Verdict
from grader.reports import words
from grader.reports.blocks import (
    BETWEEN,
    Block,
    Code,
    Commands,
    Gap,
    Item,
    LeftOut,
    Paragraph,
    Shorter,
    Shrinks,
    from_markdown,
    render_terminal,
)
from grader.reports.figures import EVERYTHING, INDENT, figure, trace
from grader.reports.inert import inert_lines
from grader.reports.sheet import BOLD, REVERSE, Line, cut, joined
from grader.reports.withheld import withheld

ROWS = 22  # of a page, so that the command above and the prompt below stay on a screen of 24
GAP = Shrinks((Gap(),), (Shorter(4),))  # between sections
_INNER_GAP = Shrinks((Gap(),), (Shorter(2),))  # around an example
_CLAUSE = 73  # characters of one that is cut to a line
_PRINTED = 4  # lines of what the submission printed
_PRINTED_IN_CLASS = 8


@dataclass(frozen=True, slots=True)
class Around:
    """What a command knows of a grade besides its report, and how much is to be shown."""

    file: str = "submission.py"  # as it is called from the current folder
    tries: int = 0  # of one's own, with this one; 0 where it counts as none
    time: str = ""  # of a pass: "14 minutes (15 planned)"
    everything: str = "drill grade --full"  # the command that shows what is left out
    steps: tuple[str, ...] = ()  # commands to go on with
    asked: int = 0  # the part that is asked now, because those before it pass
    request: tuple[Block, ...] = ()  # what the interviewer asks in it
    full: bool = False  # everything, however long
    explain: bool = False  # an untouched starter too


def page(report: Report, around: Around = Around()) -> tuple[Block, ...]:
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
        if words.keeps_back(report, explain=around.explain or around.full):
            top.append(Paragraph(words.STARTER, indent=6))
        sections = [top, *_fault(report, around)]
        if around.full:
            shown = words.deciding(report)
            sections.append([_line(check) for check in report.checks if check not in shown])
            others = []
        else:
            others = [Paragraph(rest, lead, hang=INDENT) for lead, rest in words.others(report)]
        sections.append([*others, LeftOut(around.everything)])
    ending: list[Block] = []
    if report.isolation not in {"strong", ""}:  # nothing of the file was run where it is empty
        ending.append(
            Paragraph(f"Isolation is only {report.isolation} on this machine: drill doctor")
        )
    if around.steps:
        ending.append(Commands(around.steps))
    return tuple(_joined([*sections, ending]))


def lines(report: Report, around: Around, width: int) -> tuple[Line, ...]:
    """The page on a terminal of so many columns: 22 lines at most, unless it is asked in full."""
    return render_terminal(page(report, around), width, rows=None if around.full else ROWS)


def told(report: Report, *, complete: bool = True) -> tuple[Block, ...]:
    """What a student reads of a grade in the feedback to a class: its page without commands.

    Args:
        report: as much of it as the student may see, of an estimate too.
        complete: whether all that is known of the fault is in it.
    """
    if report.verdict is Verdict.PASS:
        blocks = [Paragraph(f"{text}.") for text in words.measured(report)]
        return (*blocks, *_right(report), *_follow_up(report))
    keeps_back = words.keeps_back(report)
    top = [Paragraph(words.STARTER)] if keeps_back else []
    sections = list(_fault(report, Around(file=""), complete=complete, printed=_PRINTED_IN_CLASS))
    right = [] if words.deciding(report) else [*_right(report)]
    others: list[Block] = []
    for lead, rest in words.others(report, EVERYTHING):
        if lead != "Earned:" and not keeps_back:  # points stand with the verdict
            others.append(Paragraph(rest, lead, hang=INDENT))
    return tuple(_joined([top, *sections, right, others]))


def _joined(sections: Iterable[Sequence[Block]]) -> Iterator[Block]:
    for at, section in enumerate(filter(None, sections)):
        yield from (GAP,) if at else ()
        yield from section


def _head(report: Report, around: Around, *, passed: bool) -> Block:
    """The verdict, the file, the question."""
    label = "PASS" if passed else report.verdict.upper()
    tries = f"try {around.tries}, " if around.tries else ""
    facts = [around.file, words.head(report, around.asked), f"{tries}seed {report.seed}"]
    text = BETWEEN.join(fact.replace(" ", "\xa0") for fact in facts if fact)
    return Paragraph(text, f"{label:5}", BOLD if passed else REVERSE, hang=6)


def _follow_up(report: Report) -> Iterator[Block]:
    if report.follow_up:
        yield Paragraph(report.follow_up, "One more, without code:", hang=INDENT)


def _right(report: Report) -> Iterator[Block]:
    passed = [c.id for c in report.checks if c.verdict is Verdict.PASS and not c.stretch]
    if passed:
        yield Paragraph(f"{joined(passed)}.", "Right:", hang=INDENT)


def _fault(
    report: Report, around: Around, *, complete: bool = True, printed: int = EVERYTHING
) -> Iterator[list[Block]]:
    """What is known of a failure, in sections."""
    name = around.file.rpartition("/")[2]  # as tracebacks call it
    about: list[Block] = []
    if report.message:
        about.append(Paragraph(words.about_the_file(report), hang=INDENT))
    if report.raised is not None:
        about += _trace(report.raised, name)
    yield about
    failing = words.deciding(report)
    if words.keeps_back(report, explain=around.explain or around.full):
        yield [Paragraph(words.symptom(c), f"{c.id}:", "", hang=INDENT) for c in failing[:1]]
        return
    for check in failing if around.full else failing[:1]:
        yield list(_finding(check, name))
    ideas = words.ideas(report, complete=complete)
    several = bool(ideas) and ideas[0].lead.endswith("ideas:")  # which introduces the others
    yield [_idea(idea, at - (several and at > 0)) for at, idea in enumerate(ideas)]
    if report.note:
        yield [Paragraph(report.note)]
    if report.printed.strip():
        yield [_printed(report.printed, printed)]


def _finding(check: CheckResult, name: str) -> Iterator[Block]:
    """What a check found: the sentence, the smallest case, the worst entry or the exception."""
    sentence = words.finding(check)
    blame = words.BLAME.get(check.verdict, "")
    yield Paragraph(f"{blame}{sentence}", f"{check.id}:", "", hang=INDENT)
    yield from _clauses([f"contract, {one.number}: {one.text}" for one in check.clauses])
    exhibit = check.exhibit
    if exhibit is not None:
        part = partial(figure, exhibit, hidden=check.estimate)
        lost = ("the whole example",)
        several = isinstance(exhibit, Grids) and len(exhibit.panels) > 2
        shorter = (
            Shorter(0, tuple(part(most=12))),
            Shorter(5, tuple(part(most=8))),
            Shorter(8, tuple(part(most=4, inputs=False)), lost * several),
            Shorter(10, lost=lost),
        )
        yield from (_INNER_GAP, Shrinks(tuple(part()), shorter), _INNER_GAP)
    worst = check.mismatch
    if worst is not None and not check.estimate and (said := words.entry(worst, sentence)):
        yield Paragraph(said, indent=INDENT)
    if check.raised is not None:
        yield from _trace(check.raised, name)


def _clauses(texts: Sequence[str]) -> Iterator[Block]:
    """Clauses of the contract; only the first where there is not the room, at last on one line."""
    if texts:
        every = tuple(Paragraph(text, indent=INDENT) for text in texts)
        short = Paragraph(f"{texts[0][:_CLAUSE].rpartition(' ')[0]}...", indent=INDENT)
        cut_ = every[:1] if len(texts[0]) <= _CLAUSE + 3 else (short,)
        yield Shrinks(every, (Shorter(0, every[:1]), Shorter(1, cut_)))


def _trace(raised: Raised, name: str) -> Iterator[Block]:
    shorter = (Shorter(0, tuple(trace(raised, name, most=6))),
               Shorter(9, tuple(trace(raised, name, most=3))))  # fmt: skip
    yield Shrinks(tuple(trace(raised, name)), shorter)


def _idea(idea: words.Idea, before: int) -> Block:
    """One thing that is known of the fault; on a page that has to fit, less and less of it.

    A third idea goes before any feedback does, a fourth one is only counted.
    """
    steps = ((6, 4), (7, 3), (9, 2), (11, 1)) if idea.lead else ((0, 2), (11, 1))
    gone = (99, 12, 5, 0)[min(before, 3)]
    shorter = [Shorter(rank, *_in_sentences(idea, most)) for rank, most in steps if rank < gone]
    shorter += [Shorter(gone, lost=("more ideas",))] * bool(before)
    whole = _in_sentences(idea, EVERYTHING)[0]
    if idea.lead:
        whole = (whole[0], *from_markdown(idea.feedback, indent=INDENT, gap=_INNER_GAP))
    return Shrinks(whole, tuple(shorter))


def _in_sentences(idea: words.Idea, most: int) -> tuple[tuple[Block, ...], tuple[str, ...]]:
    said, is_cut = words.sentences(idea.feedback, most)
    lost = ("the rest of the feedback",) * is_cut
    if not idea.lead:  # one of several
        return (Paragraph(f"{idea.text} {said}", indent=2 * bool(said), hang=INDENT),), lost
    begin = Paragraph(idea.text, idea.lead, hang=INDENT)
    return (begin, *[Paragraph(said, indent=INDENT)] * bool(said)), lost


def _printed(printed: str, most: int) -> Block:
    every, some = (tuple(_printed_lines(printed, at_most)) for at_most in (most, _PRINTED))
    return Shrinks(every, (Shorter(0, some), Shorter(3, lost=("what your code printed",))))


def _printed_lines(printed: str, most: int) -> Iterator[Block]:
    shown, before = inert_lines(printed, most)
    part = f" (the last {len(shown)} of {before + len(shown):,} lines)" if before else ""
    yield Paragraph(f"Your code printed{part}:")
    yield Code(tuple(cut(line, _CLAUSE + 3) for line in shown), INDENT)


def _line(check: CheckResult) -> Block:
    """One line of a check that is not to blame, for those who ask for everything."""
    needs = f"needs {check.blocked_by}" if check.blocked_by else ""
    return Item(f"{check.id}: {check.message or needs}".rstrip(": "), f"{check.verdict:12}")
