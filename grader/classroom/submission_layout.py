"""Read the student of a file, and the question that it answers, from the path of the file.

Only a part of the path that the instructor or the learning platform wrote decides which student a
file belongs to, never a name that a student chose.

Canvas: `lib/content_zipper.rb` of instructure/canvas-lms.  Moodle: `downloader.php` in
`mod/assign/classes` of moodle/moodle.  Gradescope: the folders and `submission_metadata.yml` of
"Export Submissions".  Canvas and Moodle give every file the time of the export: the time of the
submission is unknown.
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
TEXT = ".txt"  # of answers, if a question asks for text
_MARKDOWN = (".md", ".markdown")  # answers in text, unless there is a `.txt`
METADATA = "submission_metadata.yml"  # of Gradescope
MAX_STUDENT_LENGTH = 200  # characters of a student's identity
PATTERN_FIELDS = ("student", "question", "at", "name", "email", "_")
# How certainly a file is an answer.  EXACT: it is named after the question.  ANY: its name does not
# exclude it, and no other question fits better.  BROKEN: perhaps, it is a zip file that cannot be
# read.  UNFIT: no, it is named after the question but has another type.  NONE: no, by its name.
EXACT, ANY, BROKEN, UNFIT, NONE = range(5)
_COPY = r"(?: ?\([0-9]{1,3}\)|-[0-9]{1,3})+"  # what browsers and Canvas add to a name
_VERSION = re.compile(r"(?: ?\([0-9]{1,3}\)|[ _-](?:v[0-9]{1,3}|final|copy|new))$", re.IGNORECASE)
# Windows hides the suffix of a name, and people add another; browsers add one to notebooks.
_DOUBLE_SUFFIX = re.compile(r"(\.(?:py|ipynb|txt))\.(?:txt|json)$", re.IGNORECASE)
# Words in the name of a file next to the answer.
_ASIDE = re.compile(r"\b(?:tests?|utils?|helpers?|old|backup|bak|original|starter|draft|notes)\b")
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_OWN = r"(?P<own>[^/]+\.(?i:zip)/.+|[^/]+)"  # a file, or the content of a zip file
_MOODLE = r"(?P<name>[^_/]+)(?:_(?P<number>[0-9]+))?_assignsubmission_(?:file|onlinetext)_"
_ZIP = r"(?P<student>[^/]+)\.(?i:zip)/(?P<own>.+)"
LAYOUTS = {  # with an example of each
    "files": "STUDENT.py",
    "folders": "STUDENT/QUESTION.py",
    "gradescope": "an export of Gradescope",
    "moodle": "an export of Moodle",
    "canvas": "an export of Canvas",
}
_PLATFORMS = ("gradescope", "moodle", "canvas")
# The forms of a path; `own` is the part that the student made.  Canvas removes from names all that
# looks like `_12_`; the first two numbers are the person's and the file's, as Canvas itself reads
# them when grades come back.  A team of Moodle has no number.
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
    """One reading of a file's path: the student, and a question that the file may answer."""

    student: str
    question: str = ""
    certainty: int = EXACT
    depth: int = 0  # 1 for a file directly in the student's folder, 2 below that; 0 if EXACT
    time: str | None = None  # of the submission, "" if unknown; None: use the file's
    name: str = ""
    email: str = ""
    late: bool = False


def has_control_characters(text: str) -> bool:
    """Return True if a text has invisible characters that a terminal obeys, such as ESC."""
    return not text.isprintable() and any(
        char in _BIDI or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in text
    )


def on_one_line(error: Exception) -> str:
    """Return the message of an error as one line of at most 200 characters."""
    return " ".join(str(error).split())[:200]


def normalize_name(text: str) -> str:
    """Return a name in Unicode form NFC, without blanks at its ends, to compare it with others."""
    return unicodedata.normalize("NFC", text).strip()


def to_student_id(text: str) -> str:
    """Return the normalized name of a student as an id.

    It is "" for a path, a name that is too long, and a name with control characters.
    """
    name = normalize_name(text)
    is_path = "/" in name or name in {".", ".."}
    if is_path or len(name) > MAX_STUDENT_LENGTH or has_control_characters(name):
        return ""
    return name


def file_suffix(name: str) -> str:
    """Return the suffix of a name in lower case; "" if it has none.

    `a.PY` and `a.py.txt` have the suffix `.py`, and all Markdown files `.txt`.
    """
    file_name = _DOUBLE_SUFFIX.sub(r"\1", name.rpartition("/")[2])
    stem, dot, end = file_name.rpartition(".")
    if not stem:
        return ""
    suffix = f"{dot}{end}".casefold()
    return TEXT if suffix in _MARKDOWN else suffix


def is_markdown(name: str) -> bool:
    """Return True for a Markdown file, which is an answer only if its name says so."""
    return name.casefold().endswith(_MARKDOWN)


def version_numbers(path: str) -> tuple[int, int]:
    """Return the numbers of the version and of the copy in a file's name; 0 for a missing one.

    They are (2, 1) for `a_v2 (1).py`. A browser or Canvas numbers the copies of one name.
    """
    stem = path.rpartition("/")[2].rpartition(".")[0]
    copy = re.search(_COPY + "$", stem)
    copy_number = int(re.findall("[0-9]+", copy[0])[-1]) if copy else 0
    stem = re.sub(_COPY + "$", "", stem)
    version = re.search(r"(?:^|[ _-])(?:v|ver|version)[ ._-]?(\d{1,3})$", stem, re.IGNORECASE)
    return int(version[1]) if version else 0, copy_number


def best_pattern(paths: Iterable[str], names: AnswerNames) -> str:
    """Return a pattern such as `{question}_{student}.{_}` for names that begin with a question.

    The separator is the one that most of these names have after the question. Returns "" if in no
    name more than the number of a copy follows the question.
    """
    separators = Counter[str]()  # after the question
    for path in paths:
        question, remainder = names.split_question_name(path)
        if question not in names.ids or "/" in path or file_suffix(remainder) not in names.suffixes:
            continue
        separator = path[len(question)]
        if separator != "." and not re.fullmatch(f"(?:{_COPY})?", remainder.rpartition(".")[0]):
            separators[separator] += 1
    for separator, _ in separators.most_common(1):
        return f"{{question}}{separator}{{student}}.{{_}}"
    return ""


def doubtful_students(students: Collection[str]) -> list[tuple[str, str]]:
    """Return pairs of students who may be one: the second name is the first with a version.

    In a flat folder, `ann (1)` and `ann_v2` may be files of `ann`.
    """
    pairs = ((_VERSION.sub("", student), student) for student in students)
    return [(first, second) for first, second in pairs if first != second and first in students]


class AnswerNames:
    """The questions of a class, and the names that their answers may have.

    A file that is named after another question of the banks answers no question of the class.
    """

    def __init__(
        self, ids: Iterable[str], texts: Collection[str] = (), others: Iterable[str] = ()
    ) -> None:
        """Take the ids of the class, those answered in text, and the `others` of the banks."""
        self.ids = tuple(dict.fromkeys(ids))
        self.texts = frozenset(texts)
        self.suffixes = (*PROGRAMS, TEXT) if self.texts else PROGRAMS  # of possible answers
        by_name = {_loose_name(question): question for question in (*others, *self.ids)}
        # The longest name first.
        self._questions_by_name = sorted(by_name.items(), key=lambda item: -len(item[0]))

    def suffixes_for(self, question: str) -> tuple[str, ...]:
        """Return the suffixes of files that may answer a question."""
        return (TEXT,) if question in self.texts else PROGRAMS

    def split_question_name(self, name: str) -> tuple[str, str]:
        """Split a name after the question that it begins with; ("", "") if it begins with none.

        `Softmax_Ann` gives ("softmax", "-ann"): the rest is in lower case, with `-` for `_`.
        """
        loose = _loose_name(name)
        for start, question in self._questions_by_name:
            remainder = loose[len(start) :]
            if loose.startswith(start) and not remainder[:1].isalnum():
                return question, remainder
        return "", ""

    def questions_for_suffix(self, suffix: str) -> list[str]:
        """Return the questions that a file with this suffix may answer."""
        return [question for question in self.ids if suffix in self.suffixes_for(question)]

    def questions_answered(self, own: Sequence[str]) -> tuple[Sequence[str], int]:
        """Return the questions that a file may answer, and how certainly.

        `own` is the part of the file's path that the student made, split at `/`. The certainty is
        one of `EXACT` to `NONE`. If it is `NONE`, the file answers no question, and all questions
        are returned.
        """
        name = own[-1]
        suffix = file_suffix(name)
        if suffix == ARCHIVE:  # its content is unknown, because it cannot be read
            return self.ids, BROKEN
        no_answer = (self.ids, NONE)
        single_suffix = _DOUBLE_SUFFIX.sub(r"\1", name)
        stem = single_suffix.rpartition(".")[0] or single_suffix
        question, remainder = self.split_question_name(stem)
        certainty = ANY if _ASIDE.search(remainder) else EXACT
        folder_questions = [self.split_question_name(folder)[0] for folder in reversed(own[:-1])]
        folder_question = next(filter(None, folder_questions), "")  # of the innermost folder
        if folder_question and question not in {"", folder_question}:
            return no_answer
        fitting = self.questions_for_suffix(suffix)
        if folder_question:
            fitting = [folder_question] if folder_question in fitting else []
        # `drill start` makes QUESTION/submission.py, or answers.txt.
        own_name = re.sub(_COPY + "$", "", stem).casefold()
        if not question and own_name == ("answers" if suffix == TEXT else "submission"):
            question = folder_question or (fitting[0] if len(fitting) == 1 else "")
            certainty = EXACT if folder_question or len(own) == 1 else ANY
        if is_markdown(name):
            certainty = ANY
        if question in fitting:
            return [question], certainty
        if question in self.ids:
            return [question], UNFIT
        is_only = len(self.ids) == 1 or (len(fitting) == 1 and suffix in PROGRAMS)
        if question or is_markdown(name) or not (is_only or suffix == ".ipynb"):
            return no_answer
        return (fitting, ANY) if fitting else no_answer


def _loose_name(name: str) -> str:
    return name.casefold().replace("_", "-")


class Layout(NamedTuple):
    """One of `LAYOUTS`, which reads the claims of a class's files from their paths."""

    name: str
    names: AnswerNames
    base_folder: str = ""  # around all submissions, such as "hw1/"; "" if they have none
    claims_by_folder: Mapping[str, Sequence[Claim]] = {}  # of an export of Gradescope
    # Why a file does not count.
    mismatch_note: str = "its path does not name a student and a question of the class"

    @property
    def looks_like(self) -> str:
        return LAYOUTS[self.name]

    def claims(self, path: str) -> list[Claim]:
        """Return the claims of a file: its student, and each question that it may answer.

        If it answers no question, its claims have the certainty `NONE`. There are no claims if the
        path names no student.
        """
        match = _match_path(self.name, path.removeprefix(self.base_folder))
        if match is None:
            return []
        fields = defaultdict(str, match.groupdict(""))
        student = self._student(fields)
        # Files and folders have times; on a platform the time is in its metadata, or unknown.
        is_plain = self.name in {"files", "folders"}
        question, remainder = self.names.split_question_name(student)
        if is_plain and question and re.fullmatch(f"(?:{_COPY})?", remainder):
            return []  # a folder of answers
        own = fields["own"]
        suffix = fields["end"]
        if suffix:  # the name of the file says whose it is, and no more
            if student == "submission":
                return []
            own = f" {suffix}"
        person = Claim(
            student,
            time=None if is_plain else "",
            name=normalize_name(fields["name"]),
            late=bool(fields["late"]),
        )
        questions, certainty = self.names.questions_answered(own.split("/"))
        if suffix and certainty == NONE:
            return []
        depth = 0 if certainty == EXACT else own.count("/") + 1
        claims = []
        for submitter in self.claims_by_folder.get(student) or [person]:
            student_id = to_student_id(submitter.student)
            claim = submitter._replace(student=student_id, certainty=certainty, depth=depth)
            if student_id:
                claims += [claim._replace(question=question) for question in questions]
        return claims

    def _student(self, fields: Mapping[str, str]) -> str:
        name = fields["name"]
        number = fields["number"]
        if self.name == "moodle":
            if number:
                return number
            return "" if name.strip().isdigit() else name  # it would look like a number
        return f"{name}_{number}" if number else fields["student"]


class PatternLayout:
    """A layout that an instructor describes: `{student}/{question}.py`.

    A field is any text without `/`. It ends at the first occurrence of the text after it, even if
    the rest then does not fit: a student may have chosen the rest, and the rest must not decide
    which student the file belongs to.
    """

    name = "pattern"
    mismatch_note = "it does not fit the pattern, or names no question of the class"

    def __init__(self, text: str, names: AnswerNames) -> None:
        self.looks_like = text
        self._names = names
        pieces = re.split(r"\{([^{}]*)\}", text)  # a text, a field, a text, ..., a text
        texts = pieces[::2]
        fields = [field for field in pieces[1::2] if field != "_"]
        if (
            "student" not in fields
            or not {*fields} <= {*PATTERN_FIELDS}
            or len(fields) > len({*fields})
            or "" in texts[1:-1]
            or re.search("[{}]", "".join(texts))
        ):
            listed = ", ".join(f"{{{field}}}" for field in PATTERN_FIELDS)
            raise UsageError(
                f"pattern {text}: expected the fields {listed}, each but {{_}} once at most, "
                "{student} among them, and something between two fields",
                hint="for example --pattern '{student}/{question}.py'; {_} is anything",
            )
        questions = names.ids if "question" in fields else [""]
        self._forms = {
            question: re.compile(_pattern_form(pieces, question), re.DOTALL)
            for question in questions
        }

    def claims(self, path: str) -> list[Claim]:
        tried = {question: form.fullmatch(path) for question, form in self._forms.items()}
        matches = {question: match for question, match in tried.items() if match}
        if len({match["student"] for match in matches.values()}) != 1:  # nobody's, or of two people
            return []
        question = max(matches, key=len)
        fields = matches[question].groupdict()
        student = to_student_id(fields["student"])
        time = to_utc(fields["at"]) if "at" in fields else None
        if not student or time == "":
            return []
        fitting = self._names.questions_for_suffix(file_suffix(path))
        claim = Claim(
            student, time=time, name=fields.get("name", ""), email=fields.get("email", "")
        )
        if not question:
            return [claim._replace(question=name, certainty=ANY) for name in fitting]
        certainty = EXACT if question in fitting else UNFIT
        return [claim._replace(question=question, certainty=certainty)]


def _pattern_form(pieces: Sequence[str], question: str) -> str:
    """Return a regular expression for a pattern, in which `{question}` is this question only.

    The pieces of the pattern are a text, a field, a text, ..., a text.
    """
    form, *texts = map(re.escape, pieces[::2])
    for number, (field, text) in enumerate(zip(pieces[1::2], texts, strict=True), 1):
        is_last = number == len(texts)
        anything = "[^/]+" if is_last else rf"(?>[^/](?:(?!{text})[^/])*)"
        if field == "question":
            name = re.escape(question).replace(r"\-", "[-_]")
            form += rf"(?i:{name})"
            if "<student>" in form:
                form += rf"(?:{_COPY})?"
        elif field == "_":
            form += f"(?:{anything})"
        else:
            form += f"(?P<{field}>{anything})"
        form += text
    return form


def _match_path(layout: str, path: str) -> re.Match[str] | None:
    for form in _FORMS[layout]:
        match = re.fullmatch(form, path, re.DOTALL)
        if match:
            return match
    return None


def detect_layout(paths: Sequence[str], names: AnswerNames, name: str) -> Layout:
    """Return the layout of the paths, with the folder around all submissions if there is one.

    If `name` is given, it is the layout of that name. If `name` is "", UsageError if the answers
    have several layouts, or if all lie in one folder that may be a single student's.
    """
    suffixes = {*names.suffixes, ARCHIVE}
    answers = [path for path in paths if file_suffix(path) in suffixes]
    outer = _Shapes(answers, names)
    counts = outer.counts
    base = _common_folder(path for path in paths if "/" in path or file_suffix(path) in suffixes)
    if base:
        inner = _Shapes([path.removeprefix(base) for path in answers], names)
        if not inner.counts or {*_PLATFORMS} & {*outer.counts}:
            base = ""
        elif name:
            if name in {"folders", *outer.counts} or name not in inner.counts:
                base = ""
        elif len(inner.students) < 2 or outer.has_direct_answer:
            # A student alone could make folders for others.
            raise UsageError(
                f"expected folders of several students, found {escape_line(base[:-1])} alone: "
                "is it one's?",
                hint="--layout folders if it is; else give that folder as SUBMISSIONS",
            )
        if base:
            counts = inner.counts
    layouts = [shape for shape in counts if shape]
    if not layouts:
        layouts = ["files"] if counts else ["folders"]
    if name or len(layouts) == 1:
        return Layout(name or layouts[0], names, base)
    raise UsageError(
        "expected submissions in one layout, found "
        + "; ".join(f"{counts[layout]:,} like {LAYOUTS[layout]}" for layout in layouts),
        hint=f"--layout {' or '.join(sorted(layouts))} says which; --pattern describes another",
    )


def _common_folder(paths: Iterable[str]) -> str:
    """Return the top folder that holds all files, such as "hw1/".

    Returns "" if they have no such folder in common, or if it is a zip file.
    """
    folders = {path.rpartition("/")[0] and path.partition("/")[0] for path in paths}
    folder = folders.pop() if len(folders) == 1 else ""
    return f"{folder}/" if folder and file_suffix(folder) != ARCHIVE else ""


class _Shapes:
    """Counts of possible answers by layout, and their students.

    Answers in a zip file at the top fit two layouts, and are counted under the key "".
    """

    def __init__(self, answers: Iterable[str], names: AnswerNames) -> None:
        self.counts = Counter[str]()
        self.students = set[str]()
        self.has_direct_answer = False  # FOLDER/QUESTION.py: FOLDER may be a student's
        for path in answers:
            shape = _shape(path)
            claims = Layout(shape or "files", names).claims(path)
            possible = [claim for claim in claims if claim.certainty < UNFIT]
            if possible:
                self.counts[shape] += 1
                self.students |= {claim.student for claim in possible}
                if path.count("/") == 1 and any(claim.certainty == EXACT for claim in possible):
                    self.has_direct_answer = True


def _shape(path: str) -> str:
    for platform in _PLATFORMS:
        if _match_path(platform, path):
            return platform
    if file_suffix(path.split("/")[0]) == ARCHIVE:
        return ""
    return "folders" if "/" in path else "files"


def to_utc(text: str) -> str:
    """Return a time as ISO 8601 in UTC, or "" for another text. Without a zone it is UTC."""
    with suppress(ValueError, OverflowError):
        moment = datetime.fromisoformat(text.strip().removesuffix(" UTC"))
        if not moment.tzinfo:
            moment = moment.replace(tzinfo=UTC)
        precision = "milliseconds" if moment.microsecond else "seconds"
        return moment.astimezone(UTC).isoformat(timespec=precision)
    return ""


def read_submitters(content: bytes) -> dict[str, list[Claim]]:
    """Return from Gradescope's metadata a claim for each student, by folder.

    A claim has the time of the submission and no question yet.

    A student's id is their number. If they have none, or share it, it is their address, or else the
    name of the folder. UsageError if the content is not as Gradescope writes it.
    """
    try:
        # To this loader every scalar is text, and it ignores tags such as those of Ruby.
        loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
        metadata = loader(content).get_single_data()
        submitters = {folder: _submitters(entry) for folder, entry in metadata.items()}
    except (yaml.YAMLError, ValueError, AttributeError, TypeError, RecursionError) as error:
        raise UsageError(
            f"{METADATA}: expected what Gradescope exports: {on_one_line(error)}"
        ) from error
    people = {(claim.student, claim.email) for claims in submitters.values() for claim in claims}
    numbers = Counter(number for number, _ in people if not re.search("@|^submission_|^$", number))
    return {
        folder: [
            claim if numbers[claim.student] == 1 else claim._replace(student=claim.email or folder)
            for claim in claims
        ]
        for folder, claims in submitters.items()
    }


def _submitters(entry: Any) -> list[Claim]:  # noqa: ANN401 - any value of YAML
    time = entry.get(":created_at", "")
    if isinstance(time, dict):
        time = time.get("utc", "")
    time = to_utc(time.replace(" Z", "Z"))

    def text(person: dict[str, str], key: str) -> str:
        value = person.get(key, "")
        return "" if value in {"null", "~"} else normalize_name(value)

    return [
        Claim(
            text(person, ":sid"),
            time=time,
            name=text(person, ":name"),
            email=text(person, ":email"),
        )
        for person in entry.get(":submitters") or []
    ]
