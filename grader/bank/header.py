"""The head of a spec: title, track, level, minutes and uses, read without parsing the rest.

YAML is parsed as a stream of events and left as soon as the five keys are there, which they are in
the first lines of a spec, or behind its parts, each of which has minutes of its own.
"""

from __future__ import annotations

import yaml

from grader.bank.document import events, one_line
from grader.bank.storage import BankFiles
from grader.model.errors import BankError
from grader.model.question import Header

KEYS = {"title", "track", "level", "minutes", "uses"}
ALSO = {"prerequisites", "form"}  # which a spec may have, above the last of them
MOST = 1 << 18  # bytes, in which every spec has them all
MOST_EVENTS = 500  # of YAML, which stand for time as bytes do not; specs have all five within 20
MOST_EVENTS_OF_PARTS = 5000  # the same up to the end of the parts, which have the minutes
LONGEST = 200  # letters of a value


def read_head(question_id: str, files: BankFiles, name: str, before: str = "") -> Header:
    """Read a spec's head; what is missing or unreadable is shown as such, never raised.

    `before` is the bank's name and a `/`, where another bank holds the id too.
    """
    try:
        found = _scan(files.read(name, MOST))
    except (OSError, yaml.YAMLError, BankError):
        found = {}
    uses = {*found.get("uses", "").split()}
    return Header(
        id=question_id,
        title=found.get("title", "(unreadable)"),
        track=found.get("track", ""),
        level=found.get("level", ""),
        minutes=_whole(found.get("minutes", "")),
        bank=files.path,
        before=before,
        parts=_whole(found.get("parts", "1")),
        prerequisites=tuple(found.get("prerequisites", "").split()),
        form=found.get("form", "fix"),
        torch="torch" in uses,
    )


def _scan(data: bytes) -> dict[str, str]:
    """The five keys, a list as its items with spaces, and the number of parts where it has some."""
    found: dict[str, str] = {}
    depth = minutes = parts = 0
    keys: dict[int, str | None] = {1: None, 3: None}  # of which the value comes next, by depth
    for number, event in enumerate(events(data.decode("utf-8", "ignore")), 1):
        text = event.value if isinstance(event, yaml.ScalarEvent) else None
        is_key = text is not None and keys.get(depth, "") is None
        if is_key:
            keys[depth] = text
        elif text is not None and depth == 3 and parts and keys[3] == "minutes":
            minutes += _whole(text)
        elif text is not None and keys[1] in KEYS | ALSO and depth <= 2:
            words = f"{found.get(keys[1], '')} {text[:LONGEST]}".split()
            found[keys[1]] = one_line(" ".join(words))[:LONGEST]
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.MappingStartEvent) and depth == 3 and keys[1] == "parts":
            parts += 1
        if depth <= 3 and not is_key:
            keys[3] = None
        if depth <= 1 and not is_key:
            keys[1] = None
            if parts:
                found |= {"minutes": str(minutes), "parts": str(parts)}
            if found.keys() >= KEYS:
                break
        if number == (MOST_EVENTS_OF_PARTS if parts else MOST_EVENTS):
            break
    return found


def _whole(text: str) -> int:
    """A number of minutes, or 0 where it is none."""
    return int(text) if text.isdecimal() and len(text) < 10 else 0
