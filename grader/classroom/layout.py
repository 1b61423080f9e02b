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
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import yaml

from grader.model.errors import UsageError
from grader.reports.inert import inert

ARCHIVE = ".zip"
PROGRAMS = (".py", ".ipynb")
TEXT = ".txt"  # of answers, where a question asks for text
METADATA = "submission_metadata.yml"  # of Gradescope
LONGEST = 200  # characters of what a student is called
FIELDS = ("student", "question", "at", "name", "email", "_")
# How surely a file is the answer: by its name, for want of another, not known, not at all.
EXACT, ANY, BROKEN, NONE = range(4)

_MOST_PIECES = 12  # of a pattern
_COPY = r"(?: ?\([0-9]{1,3}\)|-[0-9]{1,3})+"  # what browsers and Canvas add to a name
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
_TIME = (
    r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})"
    r"(?:[T _-]?([0-9]{2})[:.-]?([0-9]{2})(?:[:.-]?([0-9]{2})(?:[.,]([0-9]{1,9}))?)?)?"
    r" ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?"
)
_OWN = r"(?P<own>[^/]+\.(?i:zip)/.+|[^/]+)"  # a file, or what is in a zip file
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
        "an export of Gradescope", (r"(?P<folder>submission_[0-9]+)/(?P<own>.+)",)
    ),
    # Moodle turns every `_` of a name into a space; a team without a group has no number.
    "moodle": (
        "an export of Moodle",
        (
            r"(?P<name>[^_/]+)(?:_(?P<number>[0-9]+))?_assignsubmission_file_?/(?P<own>.+)",
            rf"(?P<name>[^_/]+)(?:_(?P<number>[0-9]+))?_assignsubmission_file_{_OWN}",
            r"(?P<name>[^_/]+)(?:_(?P<number>[0-9]+))?_assignsubmission_onlinetext.*",
        ),
    ),
    # Canvas removes from names what would look like `_12_`; the first two numbers are the person's
    # and the file's, as Canvas itself has it when grades come back.
    "canvas": (
        "an export of Canvas",
        (
            rf"(?:(?P<late>LATE|late)_)?(?P<code>anon_[0-9A-Za-z]+)_[0-9]+_{_OWN}",
            rf"(?P<name>[^/]+?)(?:_(?P<late>LATE|late))?_(?P<number>[0-9]+)_[0-9]+_{_OWN}",
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
    """One of those who handed something in together on Gradescope."""

    id: str
    name: str = ""
    email: str = ""
    at: str = ""  # when they did


def acts(text: str) -> bool:
    """Return whether a name has characters that act instead of being seen."""
    return not text.isprintable() and any(
        char in _BIDI or unicodedata.category(char) in {"Cc", "Cs", "Zl", "Zp"} for char in text
    )


def student_id(text: str) -> str:
    """Return a name by which a student can be told apart, "" where a text is none."""
    called = unicodedata.normalize("NFC", text).strip()
    fits = 0 < len(called) <= LONGEST and called not in {".", ".."}
    return "" if not fits or acts(called) or "/" in called else called


def suffix(name: str) -> str:
    """Return how a name ends: `.py`."""
    stem, dot, end = name.rpartition("/")[2].rpartition(".")
    return f"{dot}{end}".casefold() if stem else ""


def copy_number(path: str) -> int:
    """Return the number that a browser or Canvas gave a later file of one name, else 0."""
    stem = path.rpartition("/")[2].rpartition(".")[0]
    found = re.search(_COPY + "$", stem)
    return int(re.findall("[0-9]+", found[0])[-1]) if found else 0


class AnswerNames:
    """The questions that a class is asked, and what their answers may be called."""

    def __init__(self, ids: Iterable[str], texts: Collection[str] = ()) -> None:
        """Know the ids, and which of them are answered by a text."""
        self.ids = tuple(dict.fromkeys(ids))
        self.texts = frozenset(texts)
        self.ends = (*PROGRAMS, TEXT) if self.texts else PROGRAMS  # of what may be an answer
        self._loose = {_loose(one): one for one in self.ids}

    def named(self, name: str) -> str:
        """Return the question that a name is of, whatever a browser added to it; "" if none."""
        for one in (name, re.sub(_COPY + "$", "", name)):
            if found := self._loose.get(_loose(one), ""):
                return found
        return ""

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


def _loose(name: str) -> str:
    return name.casefold().replace("_", "-")


class Layout:
    """How submissions are laid out: one of `LAYOUTS`."""

    misfit = "its name says no question that is asked"  # why a program is nobody's answer

    def __init__(
        self,
        name: str,
        asked: AnswerNames,
        skip: int = 0,
        people: Mapping[str, Sequence[Person]] | None = None,
    ) -> None:
        """Choose it.

        Args:
            name: One of `LAYOUTS`.
            asked: The questions that the class is asked.
            skip: How many folders at the top everything lies in.
            people: What Gradescope says of each of its folders.
        """
        self.name, self.skip = name, skip
        self.looks_like = LAYOUTS[name][0]
        self._asked, self._people = asked, people or {}

    def claims(self, path: str) -> list[Claim]:
        """Return whose a file is and what it answers; nothing where it is nobody's.

        A file that is somebody's and no answer has the rank `NONE`.
        """
        rest = "/".join(path.split("/")[self.skip :])
        found = next((m for form in _FORMS[self.name] if (m := form.fullmatch(rest))), None)
        if found is None:
            return []
        said = {key: value or "" for key, value in found.groupdict().items()}
        own = said.get("own", "").split("/")
        if self.name == "gradescope":
            people = self._people.get(said["folder"]) or [Person(said["folder"])]
        elif self.name == "canvas":
            people = [Person(said.get("code") or f"{said['name']}_{said['number']}",
                             said.get("name", ""))]  # fmt: skip
        elif self.name == "moodle":
            alone = not said["number"] and said["name"].strip().isdigit()  # a name like a number
            called = student_id(said["name"])
            people = [] if alone or "own" not in said else [
                Person(said["number"] or called, called)
            ]  # fmt: skip
        else:
            people = [Person(said["student"])]
            if "end" in said:  # its name says whose it is, and no more
                if self._asked.named(said["student"]) or said["student"] == "submission":
                    return []
                own = [f" {said['end']}"]
        dated = self.name in {"files", "folders"}  # platforms say when, or nobody knows
        claims = [
            Claim(called, question, rank, None if dated else person.at, person.name, person.email,
                  bool(said.get("late")))
            for person in people
            if (called := student_id(person.id))
            for question, rank in self._asked.answers(own)
        ]  # fmt: skip
        # Of a file that is no answer, its own name does not say that it is a student's either.
        return [one for one in claims if "end" not in said or one.rank[0] != NONE]


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
        self.looks_like = text
        self._asked = asked
        pieces = list(_pieces(text))
        fields = [field for field, _ in pieces if field]
        if twice := next((f for f in fields if f != "_" and fields.count(f) > 1), ""):
            raise _wrong(text, f"each field once, found {{{twice}}} twice")
        if "student" not in fields:
            raise _wrong(text, "the field {student}, found none")
        if len(pieces) > _MOST_PIECES:
            raise _wrong(text, f"at most {_MOST_PIECES} fields and texts between them")
        for (one, _), (two, _) in pairwise(pieces):
            if one and two:
                raise _wrong(text, f"something between two fields, found none before {{{two}}}")
        self._has_question = "question" in fields
        names = asked.ids if self._has_question else [""]
        self._forms = {one: re.compile(_form(pieces, one), re.DOTALL) for one in names}

    def claims(self, path: str) -> list[Claim]:
        """Return whose a file is and what it answers."""
        fitting = self._asked.fitting(suffix(path))
        found = {one: m for one, form in self._forms.items() if (m := form.fullmatch(path))}
        if len({one["student"] for one in found.values()}) != 1:  # nobody's, or of two people
            return []
        question = max(found, key=len)
        said = found[question].groupdict()
        called, at = student_id(said["student"]), said.get("at")
        if not called or (at is not None and not utc(at)):
            return []
        name, email = said.get("name", ""), said.get("email", "")
        return [
            Claim(called, one, (EXACT if question else ANY, 1), None if at is None else utc(at),
                  name, email)
            for one in ([question] if question else self._asked.ids)
            if one in fitting
        ]  # fmt: skip


def _pieces(text: str) -> Iterator[tuple[str, str]]:
    """Give the fields of a pattern, and the texts between them with an empty field."""
    for found in re.finditer(r"\{([^{}]*)\}|([^{}]+)|([{}])", text):
        field, between, brace = found.groups()
        if brace:
            raise _wrong(text, f"braces around a field, found {brace!r} alone")
        if field is not None and field not in FIELDS:
            known = ", ".join(f"{{{one}}}" for one in FIELDS)
            raise _wrong(text, f"{known}, found {{{field}}}")
        yield (field or "", between or "")


def _form(pieces: Sequence[tuple[str, str]], question: str) -> str:
    """Return a regular expression for a pattern; it never tries two ends of a field."""
    form, behind = "", False  # whether the student was before
    for at, (field, text) in enumerate(pieces):
        after = pieces[at + 1][1] if at + 1 < len(pieces) else ""
        last = at + 2 >= len(pieces)  # what follows ends the path
        free = "[^/]+" if last else rf"(?>[^/](?:(?!{re.escape(after)})[^/])*)"
        if not field:
            form += re.escape(text)
        elif field == "question":
            name = re.escape(question).replace(r"\-", "[-_]")
            form += rf"(?i:{name})" + (rf"(?:{_COPY})?" if behind else "")
        elif field == "at":
            form += f"(?P<at>{_TIME})"
        else:
            form += f"(?:{free})" if field == "_" else f"(?P<{field}>{free})"
        behind = behind or field == "student"
    return form


def _wrong(text: str, expected: str) -> UsageError:
    return UsageError(
        f"--pattern {text}: expected {expected}",
        hint="for example --pattern '{student}/{question}.py'; {_} is anything",
    )


def detected(paths: Iterable[str], asked: AnswerNames, name: str = "") -> tuple[str, int, str]:
    """Return the layout that every answer fits, how many folders all of it lies in, and which.

    Args:
        paths: Of every file.
        asked: The questions that the class is asked.
        name: The layout, where it is known.

    Raises:
        UsageError: It can be more than one.
    """
    tops: set[str] = set()
    shapes: tuple[Counter[str], Counter[str]] = (Counter(), Counter())  # below no folder, below one
    first: dict[tuple[int, str], str] = {}
    below: set[str] = set()  # whose files lie in the folder around
    direct = False  # whether an answer lies right in it
    for path in paths:
        parts = path.split("/")
        if len(parts) > 1 or suffix(path) in {*asked.ends, ARCHIVE}:
            tops.add(parts[0] if len(parts) > 1 and suffix(parts[0]) != ARCHIVE else "")
        if suffix(path) not in {*asked.ends, ARCHIVE}:
            continue
        for skip in (0, 1) if len(parts) > 1 else (0,):
            rest = "/".join(parts[skip:])
            found = _shape(rest)
            claims = Layout(found or "files", asked).claims(rest)
            if claims := [one for one in claims if one.rank[0] != NONE]:
                shapes[skip][found] += 1
                first.setdefault((skip, found), path)
                if skip and len(below) < 2:
                    below |= {one.student for one in claims}
                direct = direct or (not skip and any(one.rank == (EXACT, 1) for one in claims))
    around = tops.pop() if len(tops) == 1 else ""
    platforms = {"gradescope", "moodle", "canvas"}
    skip = 0
    if around and not set(shapes[0]) & platforms and shapes[1]:
        if name:
            skip = int(name != "folders" and name in shapes[1] and name not in shapes[0])
        elif len(below) > 1 and not direct:
            skip = 1
        else:  # a student who alone handed something in could make folders for others
            raise UsageError(
                f"expected folders of several students, found {inert(around)} alone: is it a "
                "student's?",
                hint="--layout folders if it is; else give that folder as SUBMISSIONS",
            )
    ways = [one for one in shapes[skip] if one] or (["files"] if shapes[skip] else ["folders"])
    if name or len(ways) == 1:
        return name or ways[0], skip, around if skip else ""
    listed = "; ".join(
        f"{shapes[skip][one]:,} like {LAYOUTS[one][0]} ({inert(first[skip, one], 200)})"
        for one in ways
    )
    raise UsageError(
        f"expected submissions in one layout, found {listed}",
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
    found = re.fullmatch(_TIME, text.strip())
    return _utc(found) if found else ""


def _utc(found: re.Match[str]) -> str:
    year, month, day, hour, minute, second, part, zone = found.groups()
    try:
        moment = datetime(
            int(year), int(month), int(day), int(hour or 0), int(minute or 0), int(second or 0),
            int((part or "0").ljust(6, "0")[:6]), tzinfo=UTC,
        )  # fmt: skip
        if zone and zone[0] in "+-":
            offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
            moment += -offset if zone[0] == "+" else offset
    except (ValueError, OverflowError):
        return ""
    return moment.isoformat(timespec="milliseconds" if part else "seconds")


def submitters(lines: Iterable[str]) -> dict[str, list[Person]]:
    """Read Gradescope's metadata: by folder, whose it is and when it came.

    Read by lines: it also holds everything that the students' programs printed, which may be many
    megabytes, and tags of Ruby that YAML's safe loader refuses.  What is indented deeper than a
    key belongs to a value, so that no name can pass for a key.
    """
    times: dict[str, str] = {}
    people: dict[str, list[dict[str, str]]] = {}
    folder = section = ""
    column = -1  # in which the keys of a person stand
    for line in lines:
        text = line.rstrip()
        indent = len(text) - len(text.lstrip(" "))
        if text and not indent and not text.startswith(("-", "#")):
            folder = text[:-1] if re.fullmatch(r"submission_[0-9]+:", text) else ""
            section, column = "", -1
            if folder:
                people[folder], times[folder] = [], ""
        elif not folder:
            continue
        elif indent == 2 and text[2] == ":":
            section, _, value = text[2:].partition(":")[2].partition(":")
            column = -1
            if section == "created_at":
                times[folder] = _first_time(value)
        elif section == "created_at" and not times[folder]:
            times[folder] = _first_time(text)
        elif section == "submitters":
            begins = text[indent:].startswith("- :")
            if begins and (column < 0 or indent + 2 == column):
                column = indent + 2
                people[folder].append({})
            mine = people[folder] and (begins or indent == column)
            if mine and text[column : column + 1] == ":":
                key, _, value = text[column + 1 :].partition(":")
                people[folder][-1][key] = _scalar(value.strip())
    return _told_apart({
        one: [
            Person(_normal(p.get("sid", "")), p.get("name", ""), _normal(p.get("email", "")), at)
            for p in people[one]
        ]
        for one, at in times.items()
    })  # fmt: skip


def _normal(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


def _first_time(text: str) -> str:
    found = re.search(_TIME, text)
    return _utc(found) if found else ""


def _scalar(text: str) -> str:
    """Return what a scalar of one line says."""
    if text.startswith(("|", ">", "!", "&", "*")) or len(text) > 1000:
        return ""
    if text.startswith(("'", '"')):
        try:
            read = yaml.safe_load(text)
        except (yaml.YAMLError, ValueError):
            return ""
        return read if isinstance(read, str) else ""
    return "" if text in {"null", "~"} else text


def _told_apart(found: dict[str, list[Person]]) -> dict[str, list[Person]]:
    """Call everybody by their number, or by their address where a number is not theirs alone."""
    addresses = defaultdict(set)
    for people in found.values():
        for person in people:
            addresses[person.id].add(person.email)

    def called(folder: str, person: Person) -> Person:
        odd = "@" in person.id or re.fullmatch(r"submission_[0-9]+", person.id)
        alone = person.id and not odd and len(addresses[person.id]) == 1
        return person if alone else replace(person, id=person.email or folder)

    return {
        folder: [called(folder, person) for person in people] or [Person(folder, at="")]
        for folder, people in found.items()
    }
