"""The text of a question: one part on a page that fits a screen, all parts, and QUESTION.md."""

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

MIN_ROWS = 23  # of a page: a screen of 24 with a line for the prompt below it
_DEF = re.compile(r"^def\s+(.*?)(:(?:\s*\.\.\.)?)?\s*(?:#.*)?$")
_END = re.compile(r"^\s*(.*?):(?:\s*\.\.\.)?\s*(?:#.*)?$")  # of a `def` on several lines
_RETURN = re.compile(r"^\s+return\s+(.*?)\s*(?:#.*)?$")


def part_request_blocks(question: Question, number: int) -> Sequence[Block]:
    """Return the interviewer's request in a part (from 2), for the page of the pass before it."""
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
    """Return the part that is asked now, on one screen of at least `MIN_ROWS` rows.

    The prompt and the ending are never cut.  If there is no room, the interface becomes its
    signatures, and clauses are counted: QUESTION.md has them all.
    """
    part = question.spec.parts[number - 1]
    return (
        _head(question, number),
        BlankLine(),
        *from_markdown(part.prompt),
        BlankLine(),
        *_calls(part),
        BlankLine(),
        _clauses(question, number),
        BlankLine(),
        *ending,
    )


def _calls(part: Part) -> Blocks:
    """Yield the interface of a part; if the page is too long, only its signatures."""
    if part.interface:
        short = CodeBlock(signatures(part.interface), 2, "python")
        yield ShrinkableBlocks((_interface(part),), (ShorterForm(1, (short,)),))


def _clauses(question: Question, number: int) -> Block:
    """Return the clauses of a part; if the page is too long, the last ones are only counted."""
    clauses = tuple(_contract(question, number))
    shorter_forms = []
    for left_out in range(1, len(clauses) + 1):
        more = "more " if left_out < len(clauses) else ""
        are = "clauses are" if left_out > 1 else "clause is"
        note = Paragraph(f"{left_out} {more}{are} in QUESTION.md", indent=2)
        shorter_forms.append(ShorterForm(4 + left_out, (*clauses[:-left_out], note)))
    return ShrinkableBlocks(clauses, shorter_forms)


def question_blocks(question: Question, parts: int | None = None, *, alone: bool = False) -> Blocks:
    """Yield the question with its first `parts` parts (default: all).

    `alone` leaves out everything that needs `drill`, for students without it.
    """
    spec = question.spec
    many = len(spec.parts)
    numbers = range(1, (parts or many) + 1) if alone else ()
    yield _head(question, *numbers)
    if spec.prerequisites and not alone:
        yield Paragraph(f"Better after {' and '.join(spec.prerequisites)}.")
    level = 3 if many > 1 else 2
    for number, part in enumerate(spec.parts[:parts], 1):
        if many > 1:
            title = f"Part {number} of {many}, {part.points} points, {part.minutes} minutes"
            yield Heading(title)
        yield BlankLine()
        yield from from_markdown(part.prompt)
        if part.interface:
            yield Heading("Interface", level=level)
            yield _interface(part)
        if contract := list(_contract(question, number)):
            yield Heading("Contract", level=level)
            yield from contract
        if choices := list(_choice_questions(part)):
            yield Heading("Questions", level=level)
            yield from choices
    yield from _materials(question)
    if (runs := spec.experiments) is not None and not alone:
        yield BlankLine()
        file = forms.form_of(spec).file
        yield Paragraph(
            f"`drill run` runs `{file}` as it is, {format_count(runs.budget, 'time')} in all and up"
            f" to {runs.seconds:g} seconds of CPU time each; `--seed N` chooses the seed, else it"
            " is 0."
        )


def _materials(question: Question, level: int = 2) -> Blocks:
    """Yield the materials of a form: answers to choose from, a diff, a log."""
    for material in forms.form_of(question.spec).materials(question.spec):
        yield Heading(material.heading, level=level)
        if material.text:
            yield CodeBlock(material.text.splitlines(), 2, material.language)
        name_width = max((len(name) for name, _ in material.rows), default=0)
        for name, text in material.rows:
            yield Item(text, f"{name:<{name_width}} ", 2)


def _choice_questions(part: Part) -> Blocks:
    for check in part.checks:
        for name, ask, answers in check.choice_questions():
            yield BlankLine()
            yield Paragraph(ask, f"{name}:", indent=2)
            yield from (Item(text, letter, 4) for letter, text in answers.items())


def part_details(question: Question, number: int) -> Blocks:
    """Yield the clauses and choice questions of a part; with part 1 the question's materials.

    Tolerances and limits of time are left out.
    """
    yield from (clause for clause in _contract(question, number) if clause.mark.strip() != "-")
    yield from _choice_questions(question.spec.parts[number - 1])
    if number == 1:
        yield from _materials(question, level=3)


def question_markdown(question: Question, *, parts: int | None = None) -> str:
    """Return QUESTION.md for the folder of a submission, with the first `parts` parts."""
    form = forms.form_of(question.spec)
    commands = f"`drill grade` grades `{form.file}`; `drill hint {question.id}` gives a hint."
    ending = [Paragraph(commands)]
    if form.allows_one_try:
        ending.append(Paragraph("The first grade counts, and no later one."))
    return render_markdown([*question_blocks(question, parts), *ending], written=True)


def handed_out_markdown(question: Question, parts: int, examples: Sequence[str]) -> str:
    """Return the question as Markdown for students without `drill`; `examples` are script paths."""
    form = forms.form_of(question.spec)
    text = (
        f"Work in `{form.file}`, and hand in that file under this name. If you were given several"
        f" questions, keep it in its folder, `{question.id}`."
    )
    if form.allows_one_try:
        text += " The first answer counts, and no later one."
    ending: list[Block] = [Heading("Your answer"), Paragraph(text)]
    if examples:
        packages = " and ".join(question.spec.uses)
        text = f"Examples print what comes out and what is expected ({packages} needed):"
        commands = [f"python {name}" for name in examples]
        ending += [Paragraph(text), CodeBlock(commands, 2, "sh")]
    return render_markdown([*question_blocks(question, parts, alone=True), *ending], written=True)


def signatures(interface: str) -> list[str]:
    """Return the calls of an interface, such as `forward(x, kernel) -> y, ctx`.

    Returns all its lines if it has no `def`.
    """
    lines = interface.strip("\n").split("\n")
    calls: list[str] = []
    is_open = False  # whether the next line continues the last call
    for line in lines:
        if is_open:
            end = _END.match(line)
            calls[-1] += f" {end[1] if end else line.strip()}"
            is_open = end is None
        elif head := _DEF.match(line):
            calls.append(head[1])
            is_open = not head[2]
        elif (result := _RETURN.match(line)) and calls and " -> " not in calls[-1]:
            calls[-1] += f" -> {result[1]}"
    return calls or [line.rstrip() for line in lines if line.strip()]


def _head(question: Question, *numbers: int) -> Heading:
    """Return the title line of a question or of some of its parts, with minutes and level."""
    spec = question.spec
    terms = ""
    last = len(spec.parts)
    if 0 < len(numbers) < last:
        parts = "parts" if len(numbers) > 1 else "part"
        terms = f"{parts} {join_words(numbers)} of {last}, "
    minutes = sum(spec.parts[n - 1].minutes for n in numbers) or spec.minutes
    terms += f"{minutes} min, {spec.level}, {' and '.join(spec.uses)}"
    if spec.given:
        terms += f", numbers of seed {question.number_set}"
    return Heading(spec.title, terms, question.id, level=1)


def _interface(part: Part) -> CodeBlock:
    return CodeBlock(part.interface.strip("\n").split("\n"), 2, "python")


def _contract(question: Question, number: int) -> Iterator[Item]:
    """Yield the clauses of a part, numbered through all parts, and its tolerances.

    Part 1 also has the CPU time that a call may take.
    """
    spec = question.spec
    *before, part = spec.parts[:number]
    first = 1 + sum(len(earlier_part.contract) for earlier_part in before)
    for clause_number, clause in enumerate(part.contract, first):
        yield Item(clause, f"{clause_number:>3}")
    texts = _tolerance_texts(part, is_text=forms.form_of(spec).is_text)
    if not before and (seconds := spec.limits.cpu_seconds) is not None:
        texts.append(f"A call may take {seconds:g} seconds of CPU time.")
    yield from (Item(text, "  -") for text in texts)


def _tolerance_texts(part: Part, *, is_text: bool) -> list[str]:
    """Return a sentence on each tolerance of a part: its results, the tolerance and the reason.

    The checks are added if a result has several tolerances.
    """
    # The results and the checks of each tolerance, by its text and reason.
    tolerances: dict[tuple[str, str], tuple[dict[str, None], list[str]]] = {}
    for check in part.checks:
        tolerance = getattr(check, "tolerance", None)
        if tolerance is None:
            continue
        key = (tolerance.allowed_in_words, tolerance.because)
        names, checks = tolerances.setdefault(key, ({}, []))
        asked = getattr(check, "parts", ()) if is_text else ()
        for name in asked or tolerance.of or check.compared_results:
            # A candidate knows only the results in the interface.
            if asked or re.search(rf"\b{re.escape(name)}\b", part.interface):
                names[f"`{name}`"] = None
        checks.append(check.about or check.id)
    usual_checks = max((checks for _, checks in tolerances.values()), key=len, default=[])
    texts: dict[str, None] = {}
    for (allowed, because), (names, checks) in tolerances.items():
        text = f"{', '.join(names) or 'Results'} may be {allowed}: {because}"
        if not names:
            if not any(other.startswith("Results") for other in texts):
                texts[text] = None
            continue
        other_names = [other for other, _ in tolerances.values() if other is not names]
        is_shared = any(names.keys() & other.keys() for other in other_names)
        if is_shared and checks != usual_checks:
            text += f" (Where this is checked: {'; '.join(checks)}.)"
        texts[text] = None
    return list(texts)
