"""Whose a file is and which question it answers, from its path alone.

What a student chooses (the names of files and what is in them) never decides whose a file is: that
is said by the part of a path that the instructor or the learning platform wrote.

Canvas: `lib/content_zipper.rb` of instructure/canvas-lms.  Moodle: `downloader.php` in
`mod/assign/classes` of moodle/moodle.  Gradescope: the folders and `submission_metadata.yml` of
"Export Submissions".  Canvas and Moodle date every file by the export, so that nobody knows when it
was handed in.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, NamedTuple

import yaml

from grader.model.errors import UsageError
from grader.reports.text_layout import escape_line

ARCHIVE = ".zip"
PROGRAMS = (".py", ".ipynb")
TEXT = ".txt"  # of answers, where a question asks for text
_MARKDOWN = (".md", ".markdown")  # an answer in text, if there is no `.txt`
METADATA = "submission_metadata.yml"  # of Gradescope
MAX_STUDENT_LENGTH = 200  # characters of what a student is called
PATTERN_FIELDS = ("student", "question", "at", "name", "email", "_")
# How surely a file is the answer: by its name, for want of another, unknown, of another type, not.
EXACT, ANY, BROKEN, UNFIT, NONE = range(5)
_COPY = r"(?: ?\([0-9]{1,3}\)|-[0-9]{1,3})+"  # what browsers and Canvas add to a name
_VERSION = re.compile(r"(?: ?\([0-9]{1,3}\)|[ _-](?:v[0-9]{1,3}|final|copy|new))$", re.IGNORECASE)
# Windows hides the end of a name, so that people add a second one; browsers add one to notebooks.
_DOUBLE = re.compile(r"(\.(?:py|ipynb|txt))\.(?:txt|json)$", re.IGNORECASE)
# What a name says of a file that lies beside the answer.
_ASIDE = re.compile(r"\b(?:tests?|utils?|helpers?|old|backup|bak|original|starter|draft|notes)\b")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_OWN = r"(?P<own>[^/]+\.(?i:zip)/.+|[^/]+)"  # a file, or what is in a zip file
_MOODLE = r"(?P<name>[^_/]+)(?:_(?P<number>[0-9]+))?_assignsubmission_(?:file|onlinetext)_"
_ZIP = r"(?P<student>[^/]+)\.(?i:zip)/(?P<own>.+)"
LAYOUTS = {  # and what they look like
    "files": "STUDENT.py",
    "folders": "STUDENT/QUESTION.py",
    "gradescope": "an export of Gradescope",
    "moodle": "an export of Moodle",
    "canvas": "an export of Canvas",
}
_PLATFORMS = ("gradescope", "moodle", "canvas")
# The forms of a path; `own` is the part that the student made.  Canvas removes from names what
# would look like `_12_`; the first two numbers are the person's and the file's, as Canvas itself
# has it when grades come back.  A team of Moodle's has no number.
_FORMS = {
    "files": (_ZIP, r"(?P<student>[^/]+?)(?P<end>(?:\.(?i:py|ipynb|txt))?\.[^./]+)"),
    "folders": (
        _ZIP, r"(?P<student>[^/]+)/(?P<own>.+)", r"(?P<student>[^/]+)(?P<end>\.(?i:zip))",
    ),
    "gradescope": (r"(?P<student>submission_[0-9]+)/(?P<own>.+)",),
    "moodle": (rf"{_MOODLE}?/(?P<own>.+)", _MOODLE + _OWN),
    "canvas": (
        rf"(?:(?P<late>LATE|late)_)?(?P<student>anon_[0-9A-Za-z]+)_[0-9]+_{_OWN}",
        rf"(?P<name>[^/]+?)(?:_(?P<late>LATE|late))?_(?P<number>[0-9]+)_[0-9]+_{_OWN}",
    ),
}  # fmt: skip


class Claim(NamedTuple):
    """What a path says: whose a file is, and which question it answers."""

    student: str
    question: str = ""
    rank: tuple[int, int] = (EXACT, 0)  # how sure, how deep if unsure: only the smallest count
    at: str | None = None  # None: the file's own time says it
    name: str = ""
    email: str = ""
    late: bool = False


def has_control_characters(text: str) -> bool:
    """Whether a name has characters that act instead of being seen."""
    return not text.isprintable() and any(
        char in _BIDI or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in text
    )


def on_one_line(error: Exception) -> str:
    """Return the message of an error as one line, cut where it is long."""
    return " ".join(str(error).split())[:200]


def normalize_name(text: str) -> str:
    """Return a name in the form in which it is compared with others."""
    return unicodedata.normalize("NFC", text).strip()


def to_student_id(text: str) -> str:
    """Return a name by which a student can be told apart, "" where a text is none."""
    called = normalize_name(text)
    fits = 0 < len(called) <= MAX_STUDENT_LENGTH and called not in {".", ".."}
    return "" if not fits or has_control_characters(called) or "/" in called else called


def file_suffix(name: str) -> str:
    """Return the suffix of a name: `.py`, also of `a.py.txt`; `.txt` of Markdown."""
    stem, dot, end = _DOUBLE.sub(r"\1", name.rpartition("/")[2]).rpartition(".")
    found = f"{dot}{end}".casefold() if stem else ""
    return TEXT if found in _MARKDOWN else found


def is_markdown(name: str) -> bool:
    """Return True for a Markdown file, which answers only if its name says so."""
    return name.casefold().endswith(_MARKDOWN)


def version_numbers(path: str) -> tuple[int, int]:
    """Return the numbers of a version (`_v2`) and of a copy (` (1)`) in a file's name, else 0.

    A browser or Canvas numbers the copies of one name.
    """
    stem = path.rpartition("/")[2].rpartition(".")[0]
    copy = re.search(_COPY + "$", stem)
    copies = re.findall("[0-9]+", copy[0]) if copy else [0]
    stem = re.sub(_COPY + "$", "", stem)
    version = re.search(r"(?:^|[ _-])(?:v|ver|version)[ ._-]?(\d{1,3})$", stem, re.IGNORECASE)
    return int(version[1]) if version else 0, int(copies[-1])


def best_pattern(paths: Iterable[str], asked: AnswerNames) -> str:
    """Return the pattern that most files of a flat folder fit by the question in front, or "".

    It ends with `{_}` if these files have several suffixes.
    """
    ends: dict[str, Counter[str]] = {}  # the suffixes of the files, by the separator
    for path in paths:
        question, behind = asked.split_question_name(path)
        if question in asked.ids and "/" not in path and file_suffix(behind) in asked.suffixes:
            separator = path[len(question)]
            if not re.fullmatch(f"(?:{_COPY})?", behind.rpartition(".")[0]) and separator != ".":
                ends.setdefault(separator, Counter())[file_suffix(path)] += 1
    if not ends:
        return ""
    separator, found = max(ends.items(), key=lambda item: item[1].total())
    end = ".{_}" if len(found) > 1 else next(iter(found))
    return f"{{question}}{separator}{{student}}{end}"


def doubtful_students(students: Collection[str]) -> list[tuple[str, str]]:
    """Return pairs of students of whom the second may be the first, with a version in the name.

    `ann (1)` and `ann_v2` may be files of `ann`, if each file of a flat folder is a student's.
    """
    pairs = ((_VERSION.sub("", student), student) for student in students)
    return [(first, second) for first, second in pairs if first != second and first in students]


class AnswerNames:
    """The questions that a class is asked, and what their answers may be called.

    What is named after one of the `others` of the banks in use answers none of them.
    """

    def __init__(
        self, ids: Iterable[str], texts: Collection[str] = (), others: Iterable[str] = ()
    ) -> None:
        self.ids = tuple(dict.fromkeys(ids))
        self.texts = frozenset(texts)
        self.suffixes = (*PROGRAMS, TEXT) if self.texts else PROGRAMS  # of what may be an answer
        known = {one.casefold().replace("_", "-"): one for one in (*others, *self.ids)}
        self._known = dict(sorted(known.items(), key=lambda one: -len(one[0])))

    def suffixes_for(self, question: str) -> tuple[str, ...]:
        """Return how the files that may answer a question end."""
        return (TEXT,) if question in self.texts else PROGRAMS

    def split_question_name(self, name: str) -> tuple[str, str]:
        """Return the question with which a name begins, "" if none, and what stands behind it."""
        loose = name.casefold().replace("_", "-")
        for one, question in self._known.items():
            if loose.startswith(one) and not loose[len(one) :][:1].isalnum():
                return question, loose[len(one) :]
        return "", ""

    def questions_for_suffix(self, end: str) -> list[str]:
        """Return the questions that a file with this suffix may answer."""
        return [one for one in self.ids if end in self.suffixes_for(one)]

    def questions_answered(self, own: Sequence[str]) -> list[tuple[str, tuple[int, int]]]:
        """Return which questions a file answers, by its path from what is the student's.

        Where it is none, every question has the rank `NO_VERDICT`.
        """
        end = file_suffix(own[-1])
        depth = len(own)
        last = _DOUBLE.sub(r"\1", own[-1])
        name = last.rpartition(".")[0] or last
        none = [(one, (NONE, depth)) for one in self.ids]
        if end == ARCHIVE:  # one that cannot be read: nobody knows what is in it
            return [(one, (BROKEN, depth)) for one in self.ids]
        question, behind = self.split_question_name(name)
        sure = ANY if _ASIDE.search(behind) else EXACT
        around = next(filter(None, (self.split_question_name(one)[0] for one in own[-2::-1])), "")
        if around and question not in {"", around}:
            return none
        fitting = [one for one in self.questions_for_suffix(end) if around in {"", one}]
        # As `drill start` has it: QUESTION/submission.py, or answers.txt.
        plain = re.sub(_COPY + "$", "", name).casefold()
        if not question and plain == ("answers" if end == TEXT else "submission"):
            question = around or (fitting[0] if len(fitting) == 1 else "")
            sure = EXACT if around or depth == 1 else ANY
        if is_markdown(own[-1]):
            sure = ANY
        if question in fitting:
            return [(question, (sure, depth * (sure != EXACT)))]
        if question in self.ids:
            return [(question, (UNFIT, depth))]
        only = len(self.ids) == 1 or (len(fitting) == 1 and end in PROGRAMS)
        if not question and fitting and (only or end == ".ipynb") and not is_markdown(own[-1]):
            return [(one, (ANY, depth)) for one in fitting]
        return none


class Layout(NamedTuple):
    """How submissions are laid out: one of `LAYOUTS`."""

    name: str
    asked: AnswerNames
    base_folder: str = ""  # the folder in which all of it lies
    claims_by_folder: Mapping[str, Sequence[Claim]] = {}  # by folder, on Gradescope
    mismatch_note: str = (
        "its path does not name a student and a question of the class"  # of no answer
    )

    @property
    def looks_like(self) -> str:
        return LAYOUTS[self.name]

    def claims(self, path: str) -> list[Claim]:
        """Return whose a file is and what it answers; that is nothing where the rank is `NO_VERDICT`."""
        found = _matched(
            self.name, path.removeprefix(f"{self.base_folder}/" if self.base_folder else "")
        )
        if found is None:
            return []
        said = defaultdict(str, found.groupdict(""))
        name = said["name"]
        student = said["student"]
        own = said["own"]
        number = said["number"]
        if self.name == "moodle":  # nobody is told apart by a name like a number
            student = number or ("" if name.strip().isdigit() else name)
        elif number:
            student = f"{name}_{number}"
        # Files and folders have times; a platform says when, or nobody knows.
        at = None if (is_plain := self.name in {"files", "folders"}) else ""
        called, behind = self.asked.split_question_name(student)
        if is_plain and called and re.fullmatch(f"(?:{_COPY})?", behind):  # a folder of answers
            return []
        if end := said["end"]:  # its name says whose it is, and no more
            if student == "submission":
                return []
            own = f" {end}"
        person = Claim(student, at=at, name=normalize_name(name), late=bool(said["late"]))
        return [
            one._replace(student=called, question=question, rank=rank)
            for one in self.claims_by_folder.get(student) or [person]
            if (called := to_student_id(one.student))
            for question, rank in self.asked.questions_answered(own.split("/"))
            if not end or rank[0] != NONE
        ]


class PatternLayout:
    """A layout that an instructor describes: `{student}/{question}.py`.

    A field is any text without `/`, and ends where the text after it first occurs: were another end
    tried where the rest does not fit, the rest, which a student may have chosen, would decide whose
    the file is.
    """

    name = "pattern"
    mismatch_note = "it does not fit the pattern, or names no question of the class"

    def __init__(self, text: str, asked: AnswerNames) -> None:
        self.looks_like = text
        self._asked = asked
        pieces = re.split(r"\{([^{}]*)\}", text)  # a text, a field, a text, ..., a text
        between = pieces[::2]
        named = [name for name in pieces[1::2] if name != "_"]
        if (
            "student" not in named
            or not {*named} <= {*PATTERN_FIELDS}
            or len(named) > len({*named})
            or "" in between[1:-1]
            or re.search("[{}]", "".join(between))
        ):
            known = ", ".join(f"{{{one}}}" for one in PATTERN_FIELDS)
            raise UsageError(
                f"pattern {text}: expected the fields {known}, each but {{_}} once at most, "
                "{student} among them, and something between two fields",
                hint="for example --pattern '{student}/{question}.py'; {_} is anything",
            )
        names = asked.ids if "question" in named else [""]
        self._forms = {one: re.compile(_form(pieces, one), re.DOTALL) for one in names}

    def claims(self, path: str) -> list[Claim]:
        found = {one: m for one, form in self._forms.items() if (m := form.fullmatch(path))}
        if len({one["student"] for one in found.values()}) != 1:  # nobody's, or of two people
            return []
        question = max(found, key=len)
        said = found[question].groupdict()
        called = to_student_id(said["student"])
        at = said.get("at")
        when = None if at is None else to_utc(at)
        if not called or when == "":
            return []
        fitting = self._asked.questions_for_suffix(file_suffix(path))
        sure = ANY if not question else EXACT if question in fitting else UNFIT
        one = Claim(called, "", (sure, 0), when, said.get("name", ""), said.get("email", ""))
        return [one._replace(question=each) for each in ([question] if question else fitting)]


def _form(pieces: Sequence[str], question: str) -> str:
    form, *texts = map(re.escape, pieces[::2])
    for at, (name, after) in enumerate(zip(pieces[1::2], texts, strict=True), 1):
        free = rf"(?>[^/](?:(?!{after})[^/])*)" if at < len(texts) else "[^/]+"
        if name == "question":
            called = re.escape(question).replace(r"\-", "[-_]")
            form += rf"(?i:{called})" + (rf"(?:{_COPY})?" if "<student>" in form else "")
        else:
            form += f"(?:{free})" if name == "_" else f"(?P<{name}>{free})"
        form += after
    return form


def _matched(layout: str, path: str) -> re.Match[str] | None:
    found = (re.fullmatch(form, path, re.DOTALL) for form in _FORMS[layout])
    return next(filter(None, found), None)


def detect_layout(paths: Sequence[str], asked: AnswerNames, name: str) -> Layout:
    """Return the layout that every answer fits, in the folder that all of it lies in, if one does.

    UsageError where it can be more than one, and is not named.
    """
    ends = {*asked.suffixes, ARCHIVE}
    answers = [path for path in paths if file_suffix(path) in ends]
    split = [path.partition("/") for path in paths if "/" in path or file_suffix(path) in ends]
    tops = {"" if not below or file_suffix(top) == ARCHIVE else top for top, _, below in split}
    around = tops.pop() if len(tops) == 1 else ""
    seen, _, direct = _shapes(answers, asked)
    if around:
        inner, students, _ = _shapes([path.partition("/")[2] for path in answers], asked)
        if not inner or {*_PLATFORMS} & {*seen}:
            around = ""
        elif name:
            around = around if name not in {"folders", *seen} and name in inner else ""
        elif len(students) < 2 or direct:  # a student alone could make folders for others
            raise UsageError(
                f"expected folders of several students, found {escape_line(around)} alone: is it one's?",
                hint="--layout folders if it is; else give that folder as SUBMISSIONS",
            )
        seen = inner if around else seen
    ways = [one for one in seen if one] or (["files"] if seen else ["folders"])
    if name or len(ways) == 1:
        return Layout(name or ways[0], asked, around)
    raise UsageError(
        "expected submissions in one layout, found "
        + "; ".join(f"{seen[one]:,} like {LAYOUTS[one]}" for one in ways),
        hint=f"--layout {' or '.join(sorted(ways))} says which; --pattern describes another",
    )


def _shapes(answers: Iterable[str], asked: AnswerNames) -> tuple[Counter[str], set[str], bool]:
    """Count layouts of what may be answers, "" for a zip file alone.

    Returns also whose they are, and whether one lies where a student's own folder would have it.
    """
    shapes = Counter[str]()
    students = set[str]()
    direct = False
    for path in answers:
        matching = (name for name in _PLATFORMS if _matched(name, path))
        shape = "folders" if "/" in path else "files"
        shape = next(matching, "" if file_suffix(path.split("/")[0]) == ARCHIVE else shape)
        claims = Layout(shape or "files", asked).claims(path)
        if sure := [one for one in claims if one.rank[0] < UNFIT]:
            shapes[shape] += 1
            students |= {one.student for one in sure}
            direct |= any((one.rank[0], path.count("/")) == (EXACT, 1) for one in sure)
    return shapes, students, direct


def to_utc(text: str) -> str:
    """Return a time as ISO 8601 in UTC; "" where a text is none.  Without a zone it is UTC."""
    with suppress(ValueError, OverflowError):
        found = datetime.fromisoformat(text.strip().removesuffix(" UTC"))
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        form = "milliseconds" if found.microsecond else "seconds"
        return found.astimezone(UTC).isoformat(timespec=form)
    return ""


def read_submitters(content: bytes) -> dict[str, list[Claim]]:
    """Read Gradescope's metadata: by folder, whose it is and when it came.

    Somebody is called by their number, or by their address where it is not theirs alone.
    """
    try:
        # Every scalar is text to this loader, and it passes over tags, such as those of Ruby.
        read = getattr(yaml, "CBaseLoader", yaml.BaseLoader)(content).get_single_data()
        found = {folder: _people(said) or [Claim("")] for folder, said in read.items()}
    except (yaml.YAMLError, ValueError, AttributeError, TypeError, RecursionError) as fault:
        raise UsageError(
            f"{METADATA}: expected what Gradescope exports: {on_one_line(fault)}"
        ) from fault
    known = {(one.student, one.email) for people in found.values() for one in people}
    numbers = Counter(number for number, _ in known if not re.search("@|^submission_|^$", number))
    return {
        folder: [
            one if numbers[one.student] == 1 else one._replace(student=one.email or folder)
            for one in people
        ]
        for folder, people in found.items()
    }


def _people(said: Any) -> list[Claim]:  # noqa: ANN401 - whatever YAML holds
    at = said.get(":created_at", "")
    at = at.get("utc", "") if isinstance(at, dict) else at
    at = to_utc(re.sub(r"(\.\d{6})\d+", r"\1", at).replace(" Z", "Z"))

    def text(one: dict[str, str], key: str) -> str:
        value = one.get(key, "")
        return "" if value in {"null", "~"} else normalize_name(value)

    return [
        Claim(text(one, ":sid"), at=at, name=text(one, ":name"), email=text(one, ":email"))
        for one in said.get(":submitters") or []
    ]
