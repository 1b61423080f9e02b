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
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import Any

import yaml

from grader.model.errors import UsageError
from grader.reports.sheet import inert

ARCHIVE = ".zip"
PROGRAMS = (".py", ".ipynb")
TEXT = ".txt"  # of answers, where a question asks for text
METADATA = "submission_metadata.yml"  # of Gradescope
LONGEST = 200  # characters of what a student is called
FIELDS = ("student", "question", "at", "name", "email", "_")
# How surely a file is the answer: by its name, for want of another, not known, not at all.
EXACT, ANY, BROKEN, NONE = range(4)
_COPY = r"(?: ?\([0-9]{1,3}\)|-[0-9]{1,3})+"  # what browsers and Canvas add to a name
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_OWN = r"(?P<own>[^/]+\.(?i:zip)/.+|[^/]+)"  # a file, or what is in a zip file
_MOODLE = r"(?P<name>[^_/]+)(?:_(?P<number>[0-9]+))?_assignsubmission_"  # a team has no number
# Each layout: what it looks like, and the forms of a path; `own` is the part that the student made.
LAYOUTS: dict[str, tuple[str, tuple[str, ...]]] = {
    "files": (
        "STUDENT.py",
        (r"(?P<student>[^/]+)\.(?i:zip)/(?P<own>.+)", r"(?P<student>[^/]+)(?P<end>\.[^./]+)"),
    ),
    "folders": (
        "STUDENT/QUESTION.py",
        (
            r"(?P<student>[^/]+)\.(?i:zip)/(?P<own>.+)", r"(?P<student>[^/]+)/(?P<own>.+)",
            r"(?P<student>[^/]+)(?P<end>\.(?i:zip))",
        ),
    ),
    "gradescope": (
        "an export of Gradescope", (r"(?P<student>submission_[0-9]+)/(?P<own>.+)",)
    ),
    "moodle": (
        "an export of Moodle",
        (rf"{_MOODLE}file_?/(?P<own>.+)", rf"{_MOODLE}file_{_OWN}", rf"{_MOODLE}onlinetext.*"),
    ),
    # Canvas removes from names what would look like `_12_`; the first two numbers are the person's
    # and the file's, as Canvas itself has it when grades come back.
    "canvas": (
        "an export of Canvas",
        (
            rf"(?:(?P<late>LATE|late)_)?(?P<student>anon_[0-9A-Za-z]+)_[0-9]+_{_OWN}",
            r"(?P<student>(?P<name>[^/]+?)(?:_(?P<late>LATE|late))?_(?P<number>[0-9]+))_[0-9]+_"
            + _OWN,
        ),
    ),
}  # fmt: skip
_FORMS = {
    name: tuple(re.compile(form, re.DOTALL) for form in forms)
    for name, (_, forms) in LAYOUTS.items()
}


@dataclass(frozen=True, slots=True)
class Claim:
    """What a path says: whose a file is, and which question it answers."""

    student: str
    question: str
    rank: tuple[int, int] = (EXACT, 1)  # how sure, how deep: only files of the smallest count
    at: str | None = None  # None: the file's own time says it
    name: str = ""
    email: str = ""
    late: bool = False


@dataclass(frozen=True, slots=True)
class Person:
    """One of those who handed something in together."""

    id: str
    name: str = ""
    email: str = ""
    at: str = ""  # when they did


def acts(text: str) -> bool:
    """Return whether a name has characters that act instead of being seen."""
    return not text.isprintable() and any(
        char in _BIDI or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in text
    )


def normal(text: str) -> str:
    """Return a name in the form in which it is compared with others."""
    return unicodedata.normalize("NFC", text).strip()


def student_id(text: str) -> str:
    """Return a name by which a student can be told apart, "" where a text is none."""
    called = normal(text)
    fits = 0 < len(called) <= LONGEST and called not in {".", ".."}
    return "" if not fits or acts(called) or "/" in called else called


def suffix(name: str) -> str:
    """Return how a name ends: `.py`."""
    stem, dot, end = name.rpartition("/")[2].rpartition(".")
    return f"{dot}{end}".casefold() if stem else ""


def copy_number(path: str) -> int:
    """Return the number that a browser or Canvas gave a later file of one name, else 0."""
    found = re.search(_COPY + "$", path.rpartition("/")[2].rpartition(".")[0])
    return int(re.findall("[0-9]+", found[0])[-1]) if found else 0


class AnswerNames:
    """The questions that a class is asked, and what their answers may be called."""

    def __init__(self, ids: Iterable[str], texts: Collection[str] = ()) -> None:
        """Know the ids, and which of them are answered by a text."""
        self.ids = tuple(dict.fromkeys(ids))
        self.texts = frozenset(texts)
        self.ends = (*PROGRAMS, TEXT) if self.texts else PROGRAMS  # of what may be an answer

    def named(self, name: str) -> str:
        """Return the question that a name is of, whatever a browser added to it; "" if none."""
        loose = {one.casefold().replace("_", "-"): one for one in self.ids}
        names = (name, re.sub(_COPY + "$", "", name))
        found = (loose.get(one.casefold().replace("_", "-"), "") for one in names)
        return next(filter(None, found), "")

    def fitting(self, end: str) -> list[str]:
        """Return the questions that a file with this suffix may answer."""
        known = end in {*PROGRAMS, TEXT}
        return [one for one in self.ids if known and (one in self.texts) is (end == TEXT)]

    def answers(self, own: Sequence[str]) -> list[tuple[str, tuple[int, int]]]:
        """Return which questions a file answers, by its path from what is the student's.

        Where it is none, every question has the rank `NONE`.
        """
        end = suffix(own[-1])
        name = own[-1].rpartition(".")[0] or own[-1]
        fitting, question = self.fitting(end), self.named(name)
        if end == ARCHIVE:  # one that cannot be read: nobody knows what is in it
            return [(one, (BROKEN, len(own))) for one in self.ids]
        # As `drill start` has it: QUESTION/submission.py, or answers.txt.
        if not question and name == ("answers" if end == TEXT else "submission"):
            question = self.named(own[-2]) if len(own) > 1 else ""
            question = question or (self.ids[0] if len(self.ids) == 1 else "")
        if question in fitting:
            return [(question, (EXACT, len(own)))]
        if not question and fitting and (len(self.ids) == 1 or end == ".ipynb"):
            return [(one, (ANY, len(own))) for one in fitting]
        return [(one, (NONE, len(own))) for one in self.ids]


@dataclass(frozen=True, slots=True)
class Layout:
    """How submissions are laid out: one of `LAYOUTS`."""

    name: str
    asked: AnswerNames
    around: str = ""  # the folder in which all of it lies
    people: Mapping[str, Sequence[Person]] | None = None  # of each folder, as Gradescope says

    misfit = "its name says no question that is asked"  # why a program is nobody's answer

    @property
    def looks_like(self) -> str:
        """What a path looks like."""
        return LAYOUTS[self.name][0]

    def claims(self, path: str) -> list[Claim]:
        """Return whose a file is and what it answers; nothing where it is nobody's.

        A file that is somebody's and no answer has the rank `NONE`.
        """
        rest = path.removeprefix(f"{self.around}/") if self.around else path
        found = next((m for form in _FORMS[self.name] if (m := form.fullmatch(rest))), None)
        if found is None:
            return []
        said = {key: value or "" for key, value in found.groupdict().items()}
        name, number, student = (said.get(key, "") for key in ("name", "number", "student"))
        people: Sequence[Person] = [Person(f"{name}_{number}" if name else student, name)]
        if self.name == "gradescope":
            people = (self.people or {}).get(student) or [Person(student)]
        elif self.name == "moodle":
            # Nothing is told apart by a name like a number, and an online text is no program.
            alone = (not number and name.strip().isdigit()) or "own" not in said
            people = [] if alone else [Person(number or name, normal(name))]
        own = said.get("own", "").split("/")
        if "end" in said:  # its name says whose it is, and no more
            if self.asked.named(student) or student == "submission":
                return []
            own = [f" {said['end']}"]
        dated = self.name in {"files", "folders"}  # platforms say when, or nobody knows
        return [
            Claim(called, question, rank, None if dated else person.at, person.name, person.email,
                  bool(said.get("late")))
            for person in people
            if (called := student_id(person.id))
            for question, rank in self.asked.answers(own)
            if "end" not in said or rank[0] != NONE
        ]  # fmt: skip


class Pattern:
    """A layout that an instructor describes: `{student}/{question}.py`.

    A field is any text without `/`, and ends where the text after it first occurs: were another end
    tried where the rest does not fit, the rest, which a student may have chosen, would decide whose
    the file is.
    """

    name = "pattern"
    misfit = "it does not fit the pattern, or says no question that is asked"

    def __init__(self, text: str, asked: AnswerNames) -> None:
        """Read a pattern.

        Raises:
            UsageError: It is none.
        """
        self.looks_like, self._asked = text, asked
        pieces = [m.groups("") for m in re.finditer(r"\{([^{}]*)\}|([^{}]+|[{}])", text)]
        fields = [field for field, _ in pieces if field]
        known = ", ".join(f"{{{one}}}" for one in FIELDS)
        wrong = ""
        if any(between in {"{", "}"} for _, between in pieces) or {*fields} - {*FIELDS}:
            wrong = f"texts and the fields {known}"
        elif "student" not in fields or any(fields.count(f) > 1 for f in fields if f != "_"):
            wrong = "the field {student}, and each field once"
        elif any(one[0] and two[0] for one, two in pairwise(pieces)):
            wrong = "something between two fields"
        if wrong:
            hint = "for example --pattern '{student}/{question}.py'; {_} is anything"
            raise UsageError(f"--pattern {text}: expected {wrong}", hint=hint)
        names = asked.ids if "question" in fields else [""]
        self._forms = {one: re.compile(_form(pieces, one), re.DOTALL) for one in names}

    def claims(self, path: str) -> list[Claim]:
        """Return whose a file is and what it answers."""
        found = {one: m for one, form in self._forms.items() if (m := form.fullmatch(path))}
        if len({one["student"] for one in found.values()}) != 1:  # nobody's, or of two people
            return []
        question = max(found, key=len)
        said = found[question].groupdict()
        called, at = student_id(said["student"]), said.get("at")
        if not called or (at is not None and not utc(at)):
            return []
        return [
            Claim(called, one, (EXACT if question else ANY, 1), None if at is None else utc(at),
                  said.get("name", ""), said.get("email", ""))
            for one in ([question] if question else self._asked.ids)
            if one in self._asked.fitting(suffix(path))
        ]  # fmt: skip


def _form(pieces: Sequence[tuple[str, ...]], question: str) -> str:
    """Return a regular expression for a pattern; it never tries two ends of a field."""
    form = ""
    for at, (field, text) in enumerate(pieces):
        after = re.escape(pieces[at + 1][1]) if at + 1 < len(pieces) else ""
        last = at + 2 >= len(pieces)  # what follows ends the path
        free = "[^/]+" if last else rf"(?>[^/](?:(?!{after})[^/])*)"
        if not field:
            form += re.escape(text)
        elif field == "question":
            name = re.escape(question).replace(r"\-", "[-_]")
            form += rf"(?i:{name})" + (rf"(?:{_COPY})?" if "<student>" in form else "")
        else:
            form += f"(?:{free})" if field == "_" else f"(?P<{field}>{free})"
    return form


def detected(paths: Iterable[str], asked: AnswerNames, name: str = "") -> tuple[str, str]:
    """Return the layout that every answer fits, and the folder that all of it lies in, if one does.

    Args:
        paths: Of every file.
        asked: The questions that the class is asked.
        name: The layout, where it is known.

    Raises:
        UsageError: It can be more than one.
    """
    tops: set[str] = set()
    shapes: tuple[Counter[str], Counter[str]] = (Counter(), Counter())  # in no folder, in one
    students: set[str] = set()  # whose files lie in the folder around
    direct = False  # whether an answer lies right in it
    for path in paths:
        top, slash, below = path.partition("/")
        answer = suffix(path) in {*asked.ends, ARCHIVE}
        if slash or answer:
            tops.add(top if slash and suffix(top) != ARCHIVE else "")
        for number, rest in enumerate((path, below)) if answer else ():
            claims = Layout(_shape(rest) or "files", asked).claims(rest) if rest else []
            if claims := [one for one in claims if one.rank[0] != NONE]:
                shapes[number][_shape(rest)] += 1
                students |= {one.student for one in claims if number and len(students) < 2}
                direct = direct or (not number and any(o.rank == (EXACT, 1) for o in claims))
    around = tops.pop() if len(tops) == 1 else ""
    if not around or set(shapes[0]) & {"gradescope", "moodle", "canvas"} or not shapes[1]:
        around = ""
    elif name:
        around = around if name not in {"folders", *shapes[0]} and name in shapes[1] else ""
    elif len(students) < 2 or direct:  # a student alone could make folders for others
        raise UsageError(
            f"expected folders of several students, found {inert(around)} alone: is it one's?",
            hint="--layout folders if it is; else give that folder as SUBMISSIONS",
        )
    seen = shapes[bool(around)]
    ways = [one for one in seen if one] or (["files"] if seen else ["folders"])
    if name or len(ways) == 1:
        return name or ways[0], around
    raise UsageError(
        "expected submissions in one layout, found "
        + "; ".join(f"{seen[one]:,} like {LAYOUTS[one][0]}" for one in ways),
        hint=f"--layout {' or '.join(sorted(ways))} says which; --pattern describes another",
    )


def _shape(path: str) -> str:
    """Return the one layout that a path can be of; "" where it may be `files` or `folders`."""
    for name in ("gradescope", "moodle", "canvas"):
        if any(form.fullmatch(path) for form in _FORMS[name]):
            return name
    if suffix(path.split("/")[0]) == ARCHIVE:
        return ""
    return "folders" if "/" in path else "files"


def utc(text: str) -> str:
    """Return a time as ISO 8601 in UTC; "" where a text is none.  Without a zone it is UTC."""
    with suppress(ValueError, OverflowError):
        found = datetime.fromisoformat(text.strip().removesuffix(" UTC"))
        found = found if found.tzinfo else found.replace(tzinfo=UTC)
        form = "milliseconds" if found.microsecond else "seconds"
        return found.astimezone(UTC).isoformat(timespec=form)
    return ""


class _RubyLoader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """Reads YAML that Ruby wrote: every scalar is text, and its tags are passed over."""


_RubyLoader.yaml_implicit_resolvers = {}
_RubyLoader.add_multi_constructor(
    "!ruby", lambda loader, _, node: loader.construct_mapping(node) if node.value else {}
)


def submitters(content: bytes) -> dict[str, list[Person]]:
    """Read Gradescope's metadata: by folder, whose it is and when it came.

    Raises:
        UsageError: It is none.
    """
    try:
        read = _RubyLoader(content).get_single_data()
        found = {folder: _people(said) for folder, said in read.items()}
    except (yaml.YAMLError, ValueError, AttributeError, TypeError, RecursionError) as fault:
        said = " ".join(str(fault).split())[:200]
        raise UsageError(f"{METADATA}: expected what Gradescope exports: {said}") from fault
    addresses: dict[str, set[str]] = {}
    for person in (one for people in found.values() for one in people):
        addresses.setdefault(person.id, set()).add(person.email)

    def called(folder: str, person: Person) -> Person:
        """Call somebody by their number, or by their address where it is not theirs alone."""
        odd = "@" in person.id or person.id.startswith("submission_")
        alone = person.id and not odd and len(addresses[person.id]) == 1
        id_ = person.id if alone else person.email or folder
        return Person(id_, person.name, person.email, person.at)

    return {
        folder: [called(folder, one) for one in people or [Person("")]]
        for folder, people in found.items()
    }


def _people(said: Any) -> list[Person]:  # noqa: ANN401 - whatever YAML holds
    at = said.get(":created_at", "")
    at = at.get("utc", "") if isinstance(at, dict) else at
    at = utc(re.sub(r"(\.\d{6})\d+", r"\1", at).replace(" Z", "Z"))

    def text(one: dict[str, str], key: str) -> str:
        value = one.get(key, "")
        return "" if value in {"null", "~"} else normal(value)

    return [
        Person(text(one, ":sid"), text(one, ":name"), text(one, ":email"), at)
        for one in said.get(":submitters") or []
    ]
