"""A question as it is asked: a page that fits a screen, all of it, and the same as QUESTION.md."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from grader import forms
from grader.model.number_format import format_count, join_words
from grader.model.question import Question
from grader.model.spec import Part
from grader.reports.blocks import (
    BlankLine,
    Block,
    Blocks,
    CodeBlock,
    Heading,
    Item,
    Paragraph,
    ShorterForm,
    ShrinkableBlocks,
    from_markdown,
    render_markdown,
)
from grader.reports.grade import GAP

MIN_ROWS = 23  # of a page: a screen of 24 with the prompt below it
_DEF = re.compile(r"^def\s+(.*?)(:(?:\s*\.\.\.)?)?\s*(?:#.*)?$")
_END = re.compile(r"^\s*(.*?):(?:\s*\.\.\.)?\s*(?:#.*)?$")  # of a `def` of several lines
_RETURN = re.compile(r"^\s+return\s+(.*?)\s*(?:#.*)?$")


def part_request_blocks(question: Question, number: int) -> Sequence[Block]:
    """What the interviewer asks in a part, for the page of the grade that passes the one before."""
    part = question.spec.parts[number - 1]
    many = len(question.spec.parts)
    time = format_count(part.minutes, "minute")
    points = format_count(part.points, "point")
    see = "See QUESTION.md"
    if choices := sum(len(list(check.choice_questions())) for check in part.checks):
        see += f", also for {format_count(choices, 'question')} to choose an answer to"
    before = f"Parts 1-{number - 1}" if number > 2 else "Part 1"
    file = forms.form_of(question.spec).file
    return (
        Paragraph(f"Part {number} of {many}, {time}, {points}. The interviewer:"),
        *from_markdown(part.prompt, indent=4, gap=GAP),
        *_calls(part),
        _clauses(question, number),
        Paragraph(f"Now write part {number} in {file}. {before} must keep passing. {see}."),
    )


def question_page(question: Question, number: int, ending: Sequence[Block]) -> tuple[Block, ...]:
    """The part that is asked now, on one screen of `MIN_ROWS` rows at least.

    The prompt is never cut, nor is what to do now, which stands last. Where there is no room the
    interface becomes its signatures, and clauses are counted: QUESTION.md has them all.
    """
    part = question.spec.parts[number - 1]
    blocks: list[Block] = [
        _head(question, number),
        BlankLine(),
        *from_markdown(part.prompt),
        BlankLine(),
    ]
    blocks += [*_calls(part), BlankLine()]
    return (*blocks, _clauses(question, number), BlankLine(), *ending)


def _calls(part: Part) -> Blocks:
    """The interface of a part; on a page that has to fit, its signatures."""
    if part.interface:
        short = CodeBlock(signatures(part.interface), 2, "python")
        yield ShrinkableBlocks((_interface(part),), (ShorterForm(1, (short,)),))


def _clauses(question: Question, number: int) -> Block:
    """The clauses of a part; on a page that has to fit, the last ones go and are counted."""
    clauses = tuple(_contract(question, number))
    fewer = []
    for left in range(1, len(clauses) + 1):
        more = "more " if left < len(clauses) else ""
        counted = f"{left} {more}{'clauses are' if left > 1 else 'clause is'} in QUESTION.md"
        fewer.append(ShorterForm(4 + left, (*clauses[:-left], Paragraph(counted, indent=2))))
    return ShrinkableBlocks(clauses, fewer)


def question_blocks(question: Question, parts: int | None = None, *, alone: bool = False) -> Blocks:
    """All that is asked up to a part; in all parts, if no number is given.

    What needs `drill` is left out where it is read `alone`.
    """
    spec = question.spec
    yield _head(question, *range(1, (parts or len(spec.parts)) + 1) if alone else ())
    if spec.prerequisites and not alone:
        yield Paragraph(f"Better after {' and '.join(spec.prerequisites)}.")
    many = len(spec.parts)
    for number, part in enumerate(spec.parts[:parts], 1):
        if many > 1:
            title = f"Part {number} of {many}, {part.points} points, {part.minutes} minutes"
            yield Heading(title)
        level = 3 if many > 1 else 2
        yield BlankLine()
        yield from from_markdown(part.prompt)
        if part.interface:
            yield Heading("Interface", level=level)
            yield _interface(part)
        if contract := list(_contract(question, number)):
            yield Heading("Contract", level=level)
            yield from contract
        if questions := list(_questions(part)):
            yield Heading("Questions", level=level)
            yield from questions
    yield from _materials(question)
    if (runs := spec.experiments) is not None and not alone:
        yield BlankLine()
        yield Paragraph(
            f"`drill run` runs `{forms.form_of(spec).file}` as it is, {format_count(runs.budget, 'time')} in"
            f" all and up to {runs.seconds:g} seconds of CPU time each; `--seed N` chooses the seed"
            ", else it is 0."
        )


def _materials(question: Question, level: int = 2) -> Blocks:
    """What its form shows besides: answers that are asked for, a diff, a log."""
    for shown in forms.form_of(question.spec).materials(question.spec):
        yield Heading(shown.heading, level=level)
        if shown.text:
            yield CodeBlock(shown.text.splitlines(), 2, shown.language)
        widest = max((len(name) for name, _ in shown.rows), default=0)
        yield from (Item(text, f"{name:<{widest}} ", 2) for name, text in shown.rows)


def _questions(part: Part) -> Blocks:
    """What is answered by choosing."""
    for name, ask, answers in (one for check in part.checks for one in check.choice_questions()):
        yield BlankLine()
        yield Paragraph(ask, f"{name}:", indent=2)
        yield from (Item(text, letter, 4) for letter, text in answers.items())


def part_details(question: Question, number: int) -> Blocks:
    """What a part asks besides its prompt: clauses, questions, and what is shown with them."""
    yield from (one for one in _contract(question, number) if one.mark.strip() != "-")
    yield from _questions(question.spec.parts[number - 1])
    if number == 1:  # and shown once
        yield from _materials(question, level=3)


def question_markdown(question: Question, *, parts: int | None = None) -> str:
    """The same as a Markdown file for the folder of the submission."""
    form = forms.form_of(question.spec)
    does = f"`drill grade` grades `{form.file}`; `drill hint {question.id}` gives a hint."
    ending = [Paragraph(does)]
    ending += [Paragraph("The first grade counts, and no later one.")] * form.allows_one_try
    return render_markdown([*question_blocks(question, parts), *ending], written=True)


def handed_out_markdown(question: Question, parts: int, examples: Sequence[str]) -> str:
    """The same as a Markdown file for somebody who has no `drill`: what to do with which files."""
    form = forms.form_of(question.spec)
    said = (
        f"Work in `{form.file}`, and hand in that file under this name. If you were given several"
    )
    said += f" questions, keep it in its folder, `{question.id}`."
    said += " The first answer counts, and no later one." * form.allows_one_try
    ending: list[Block] = [Heading("Your answer"), Paragraph(said)]
    if examples:
        uses = " and ".join(question.spec.uses)
        text = f"Examples print what comes out and what is expected ({uses} needed):"
        ending += [Paragraph(text), CodeBlock([f"python {name}" for name in examples], 2, "sh")]
    return render_markdown([*question_blocks(question, parts, alone=True), *ending], written=True)


def signatures(interface: str) -> list[str]:
    """What an interface says of calls: `forward(x, kernel) -> y, ctx`; all if it has no `def`."""
    source = interface.strip("\n").split("\n")
    found: list[str] = []
    open_ = False
    for line in source:
        if open_:
            end = _END.match(line)
            found[-1] += f" {end[1] if end else line.strip()}"
            open_ = end is None
        elif head := _DEF.match(line):
            found.append(head[1])
            open_ = not head[2]
        elif (result := _RETURN.match(line)) and found and " -> " not in found[-1]:
            found[-1] += f" -> {result[1]}"
    return found or [line.rstrip() for line in source if line.strip()]


def _head(question: Question, *numbers: int) -> Heading:
    """The id and the title; what it takes, or some of its parts."""
    spec = question.spec
    which = ""
    last = len(spec.parts)
    if 0 < len(numbers) < last:
        which = f"part{'s' * (len(numbers) > 1)} {join_words(numbers)} of {last}, "
    minutes = sum(spec.parts[n - 1].minutes for n in numbers) or spec.minutes
    terms = f"{which}{minutes} min, {spec.level}, {' and '.join(spec.uses)}"
    terms += f", numbers of seed {question.number_set}" * bool(spec.given)
    return Heading(spec.title, terms, question.id, level=1)


def _interface(part: Part) -> CodeBlock:
    return CodeBlock(part.interface.strip("\n").split("\n"), 2, "python")


def _contract(question: Question, number: int) -> Iterator[Item]:
    """The clauses of a part, numbered through all parts; what else decides has a dash."""
    spec = question.spec
    *before, part = spec.parts[:number]
    first = 1 + sum(len(one.contract) for one in before)
    yield from (Item(clause, f"{at:>3}") for at, clause in enumerate(part.contract, first))
    # By what results may be: their names, and the checks that allow it.
    alike: dict[tuple[str, str], tuple[dict[str, None], list[str]]] = {}
    for check in part.checks:
        if (tolerance := getattr(check, "tolerance", None)) is not None:
            asked = getattr(check, "parts", ()) if forms.form_of(spec).is_text else ()
            names, checks = alike.setdefault(
                (tolerance.allowed_in_words, tolerance.because), ({}, [])
            )
            found = asked or tolerance.of or check.compared_results
            told = [x for x in found if asked or re.search(rf"\b{re.escape(x)}\b", part.interface)]
            names |= dict.fromkeys(f"`{x}`" for x in told)
            checks.append(check.about or check.id)
    usual = max((checks for _, checks in alike.values()), key=len, default=[])
    texts: dict[str, None] = {}
    for (words, because), (names, checks) in alike.items():
        others = {name for other, _ in alike.values() if other is not names for name in other}
        where = (
            f" (Where this is checked: {'; '.join(checks)}.)"
            if names.keys() & others and checks != usual
            else ""
        )
        if names:  # of what the candidate knows
            texts[f"{', '.join(names)} may be {words}: {because}{where}"] = None
        elif not any(text.startswith("Results") for text in texts):
            texts[f"Results may be {words}: {because}"] = None
    if not before and (seconds := spec.limits.cpu_seconds) is not None:
        texts[f"A call may take {seconds:g} seconds of CPU time."] = None
    yield from (Item(text, "  -") for text in texts)
