"""How learning platforms name what they export.

Canvas: `lib/content_zipper.rb` of instructure/canvas-lms.  Moodle: `downloader.php` in
`mod/assign/classes` of moodle/moodle.  Gradescope: the folders and `submission_metadata.yml` of
"Export Submissions".
Canvas and Moodle date every file by the export, so that nobody knows when it was handed in.
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import yaml

METADATA = "submission_metadata.yml"  # of Gradescope
_FOLDER = re.compile(r"submission_[0-9]+")
# Moodle turns every `_` of a name into a space; a team without a group has no number.
_MOODLE = re.compile(
    r"([^_]+)(?:_([0-9]+))?_assignsubmission_(file|onlinetext)(?:_(.*))?", re.DOTALL
)
# Canvas removes from names what would look like `_12_`; the first two numbers are the person's and
# the file's, as Canvas itself has it when grades come back.
_CANVAS = re.compile(r"(.+?)(?:_(LATE|late))?_([0-9]+)_([0-9]+)_(.+)", re.DOTALL)
_ANONYMOUS = re.compile(r"(?:(LATE|late)_)?anon_([0-9A-Za-z]+)_([0-9]+)_(.+)", re.DOTALL)
_TIME = re.compile(
    r"([0-9]{4})-?([0-9]{2})-?([0-9]{2})"
    r"(?:[T _-]?([0-9]{2})[:.-]?([0-9]{2})(?:[:.-]?([0-9]{2})(?:[.,]([0-9]{1,9}))?)?)?"
    r" ?(Z|UTC|[+-][0-9]{2}:?[0-9]{2})?",
)


@dataclass(frozen=True, slots=True)
class Person:
    """One of those who handed something in together."""

    id: str
    name: str = ""
    email: str = ""


@dataclass(frozen=True, slots=True)
class Submitted:
    """What a platform says of a submission."""

    id: str
    name: str = ""
    own: tuple[str, ...] = ()  # path of the file in what the student handed in
    at: str = ""
    late: bool = False
    together: tuple[Person, ...] = ()

    @property
    def people(self) -> tuple[Person, ...]:
        """Whose it is."""
        return self.together or (Person(self.id),)


def normal(text: str) -> str:
    """Return a name in the form in which it is compared with others."""
    return unicodedata.normalize("NFC", text).strip()


def gradescope(parts: Sequence[str]) -> bool:
    """Return whether a path is of a submission in an export of Gradescope."""
    return len(parts) > 1 and _FOLDER.fullmatch(parts[0]) is not None


def moodle(parts: Sequence[str]) -> Submitted | None:
    """Return whose a file of an export of Moodle is, in both of its forms."""
    found = _MOODLE.fullmatch(parts[0])
    if found is None:
        return None
    name, number, kind, file = found.groups()
    name = normal(name)
    flat = bool(file)
    if flat and len(parts) > 1 and not file.casefold().endswith(".zip"):
        return None
    if kind != "file" or (not number and name.isdigit()):  # a text; or a name like a number
        own: tuple[str, ...] = ()
    else:
        own = (file, *parts[1:]) if flat else tuple(parts[1:])
    return Submitted(number or name, name, own)


def canvas(parts: Sequence[str]) -> Submitted | None:
    """Return whose a file of an export of Canvas is.

    The name is part of what a student is told apart by: where people may choose their own, no
    choice leads to another one's place.
    """
    if len(parts) > 1 and not parts[0].casefold().endswith(".zip"):
        return None
    if found := _ANONYMOUS.fullmatch(parts[0]):
        late, code, _, file = found.groups()
        return Submitted(f"anon_{code}", "", (file, *parts[1:]), late=bool(late))
    if found := _CANVAS.fullmatch(parts[0]):
        name, late, person, _, file = found.groups()
        return Submitted(f"{name}_{person}", name, (file, *parts[1:]), late=bool(late))
    return None


def utc(text: str) -> str:
    """Return a time as ISO 8601 in UTC; "" where a text is none.  Without a zone it is UTC."""
    found = _TIME.fullmatch(text.strip())
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


def submitters(lines: Iterable[str]) -> dict[str, Submitted]:
    """Read Gradescope's metadata: by folder, whose it is and when it came.

    Read by lines: it also holds everything that the students' programs printed, which may be many
    megabytes, and tags of Ruby that YAML's safe loader refuses.  What is indented deeper than a
    key belongs to a value, so that no name can pass for a key.
    """
    found: dict[str, Submitted] = {}
    people: list[dict[str, str]] = []
    folder = section = at = ""
    column = -1

    def keep() -> None:
        if folder:
            persons = tuple(
                Person(
                    normal(one.get(":sid", "")), one.get(":name", ""), normal(one.get(":email", ""))
                )
                for one in people
            )
            found[folder] = Submitted(folder, at=at, together=persons)

    for line in lines:
        text = line.rstrip()
        indent = len(text) - len(text.lstrip(" "))
        if text and not indent and not text.startswith(("-", "#")):
            keep()
            folder = text[:-1] if text.endswith(":") and _FOLDER.fullmatch(text[:-1]) else ""
            people, section, at, column = [], "", "", -1
        elif indent == 2 and text[2] == ":":
            section, _, value = text[2:].partition(": ")
            section = section.removesuffix(":")
            column = -1
            if section == ":created_at":
                at = _first_time(value)
        elif section == ":created_at" and not at:
            at = _first_time(text)
        elif section == ":submitters":
            item = text[indent:].startswith("- :")
            if item and (column < 0 or indent + 2 == column):
                column = indent + 2
                people.append({})
            if people and (item or indent == column) and text[column : column + 1] == ":":
                key, _, value = text[column:].partition(": ")
                people[-1][key] = _scalar(value.strip())
    keep()
    return _told_apart(found)


def _first_time(text: str) -> str:
    found = _TIME.search(text)
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


def _told_apart(found: dict[str, Submitted]) -> dict[str, Submitted]:
    """Call everybody by their number, or by their address where a number is not theirs alone."""
    addresses = defaultdict(set)
    for one in found.values():
        for person in one.together:
            addresses[person.id].add(person.email)

    def called(folder: str, person: Person) -> Person:
        odd = "@" in person.id or _FOLDER.fullmatch(person.id)  # a number that says who else one is
        alone = person.id and not odd and len(addresses[person.id]) == 1
        return person if alone else replace(person, id=person.email or folder)

    return {
        folder: replace(one, together=tuple(called(folder, person) for person in one.together))
        for folder, one in found.items()
    }
