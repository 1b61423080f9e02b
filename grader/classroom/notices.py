"""Sentences for the instructor about the submissions of a class, when grading starts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from grader.classroom.hand_ins import MAX_LISTED_FILES, HandIns
from grader.classroom.results import ClassResults
from grader.classroom.submission_layout import best_pattern, doubtful_students
from grader.model.classroom import ClassSettings
from grader.model.errors import UsageError
from grader.model.number_format import format_count, join_words
from grader.model.question import Question
from grader.reports.text_layout import escape_line


class NothingHandedIn(UsageError):
    """No file is a student's answer."""


def grading_notices(
    root: Path,
    hand_ins: HandIns,
    results: ClassResults,
    earlier: ClassSettings,
    questions: Sequence[Question],
    count: int,
) -> Iterator[str]:
    """Give all notices on submissions that were read and stored.

    `earlier` are the settings of the last grading, and `count` is the number of stored files.
    NothingHandedIn if no student has an answer.
    """
    settings = results.class_settings
    yield from _change_notices(earlier, results)
    yield from _file_notices(root, settings, hand_ins, count)
    yield from hidden_check_notices(settings)
    yield from _doubtful_student_notices(root, results)
    yield from _drawn_number_notices(settings, questions)
    others = results.count_other_students()
    if others:
        yield f"{results.folder}: {format_count(others, 'student')} of other SUBMISSIONS stay in it"
    yield from _late_notices(results, hand_ins)


def hidden_check_notices(settings: ClassSettings) -> list[str]:
    """Return a sentence on each question whose feedback is shortened because of hidden checks."""
    return [
        f"{question.id} hides {join_words(question.hidden, MAX_LISTED_FILES)}: all feedback on "
        "this question leaves out lines, shapes, types and texts that a program can choose"
        for question in settings.questions
        if question.hidden
    ]


def _list_texts(texts: Iterable[str]) -> str:
    return join_words((escape_line(text, 200) for text in texts), MAX_LISTED_FILES)


def _change_notices(earlier: ClassSettings, results: ClassResults) -> Iterator[str]:
    """Give notices on removed grades, and on options that grade everybody again."""
    if results.gone:
        listed = _list_texts(f"{student} ({question})" for student, question in results.gone)
        yield f"{results.folder}: left out, as they are not handed in now: {listed}"
    now = results.class_settings
    if (earlier.seed, earlier.level, earlier.strict_text) != (now.seed, now.level, now.strict_text):
        text = "another seed, isolation or --strict-text than before: all of this is graded again"
        yield f"{results.folder}: {text}"


def _file_notices(
    root: Path, settings: ClassSettings, hand_ins: HandIns, count: int
) -> Iterator[str]:
    """Give notices on the layout, on files with a doubt, and on students without an answer.

    NothingHandedIn if there is no answer at all.
    """
    layout = hand_ins.layout
    unassigned = hand_ins.describe_unassigned()
    answers = count - len(hand_ins.students_without_file)
    pattern_hint = _pattern_hint(hand_ins)
    if not answers:
        raise NothingHandedIn(
            f"{root}: expected files like {_expected_paths(settings, hand_ins)}, "
            f"found {unassigned or 'none'}",
            hint=pattern_hint or "--layout or --pattern says how they are named",
        )
    students = format_count(len(hand_ins.students), "student")
    counted = f"{format_count(answers, 'answer')} of {students}"
    yield f"{root}: {counted}, read by the layout {layout.name}"
    if layout.name == "files" and pattern_hint:
        yield f"{root}: names begin or end with a question: {pattern_hint} better"
    if unassigned:
        yield f"{root}: {unassigned}"
    without = list(dict.fromkeys(hand_ins.students_without_file))
    lists = {
        "graded with what they import": [
            f"{path} with {', '.join(names)}" for path, names in hand_ins.joined.items()
        ],
        "has another name, graded for what it defines": [
            f"{path} for {question}" for path, question in hand_ins.recognized.items()
        ],
        "nothing handed in, and so in no table": sorted(hand_ins.empty),
        f"no answer from {format_count(len(without), 'student')}": without,
    }
    for reason, texts in lists.items():
        if texts:
            yield f"{root}: {reason}: {_list_texts(texts)}"


def _expected_paths(settings: ClassSettings, hand_ins: HandIns) -> str:
    layout = hand_ins.layout
    if layout.name != "folders":
        return f"{layout.looks_like} ({layout.name})"
    suffixes = {question.id: "txt" if question.is_text else "py" for question in settings.questions}
    return " or ".join(f"STUDENT/{name}.{suffix}" for name, suffix in suffixes.items())


def _doubtful_student_notices(root: Path, results: ClassResults) -> Iterator[str]:
    """Give a notice on pairs of students who may be one, such as `ann` and `ann_v2`."""
    pairs = doubtful_students(results.all_students())
    if pairs:
        listed = _list_texts(f"{second} of {first}" for first, second in pairs)
        yield (
            f"{root}: graded as two students each, but it may be one: {listed}. If it is one, "
            "remove the file that must not count; if not, rename one, and the names are clear"
        )


def _drawn_number_notices(settings: ClassSettings, questions: Sequence[Question]) -> Iterator[str]:
    """Say which numbers were graded, for each question whose numbers depend on the seed."""
    for question in questions:
        sets = len(question.spec.given)
        if not sets:
            continue
        seed = settings.seed % sets
        option = f" --seed {settings.seed}" if seed else ""
        yield (
            f"{question.id}: graded with the numbers of seed {seed}, which drill pack "
            f"{question.id}{option} hands out; if students got others, choose --seed"
        )


def _pattern_hint(hand_ins: HandIns) -> str:
    """Return advice to use a `--pattern` that fits names such as softmax_ann.py, or ""."""
    pattern = best_pattern((file.path for file in hand_ins.files), hand_ins.names)
    return f"--pattern '{pattern}' fits these names" if pattern else ""


def _late_notices(results: ClassResults, hand_ins: HandIns) -> Iterator[str]:
    """Give notices on uncertain or unknown times, and on students with an extension and no file."""
    late = results.class_settings.late
    if late is None:
        return
    layout = hand_ins.layout
    if layout.name in {"files", "folders", "pattern"} and "{at}" not in layout.looks_like:
        yield "late: the time of a file is when it was last changed, which copying it may alter"
    count = results.count_without_time()
    if count:
        yield f"late: no time is known of {format_count(count, 'file')}, which lose nothing"
    absent = sorted(late.extensions.keys() - set(results.all_students()))
    if absent:
        yield f"late: an extension and no file: {_list_texts(absent)}"
