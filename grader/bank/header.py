"""The head of a spec: title, track, level, minutes and uses, read without parsing the rest.

YAML is parsed as a stream of events and left as soon as the five keys are there, which they are in
the first lines of every spec: listing thirty questions costs what thirty first pages cost.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from grader.bank.document import events
from grader.bank.storage import BankFiles
from grader.model.errors import BankError
from grader.model.question import Header

KEYS = ("title", "track", "level", "minutes", "uses")
FIRST = 4096  # bytes, in which nearly every spec has them all
MOST = 1 << 16  # bytes, in which each has
LONGEST = 200  # letters of a value


def read_head(
    question_id: str, files: BankFiles, name: str, bank: Path, before: str = ""
) -> Header:
    """Read a spec's head; what is missing or unreadable is shown as such, never raised.

    Args:
        question_id: the question's id.
        files: of the bank.
        name: of the spec.
        bank: where the bank is.
        before: the bank's name and a `/`, where another bank holds the id too.
    """
    found: dict[str, str] = {}
    try:
        found = _scan(files.read(name, FIRST)) or _scan(files.read(name, MOST), whole=True)
    except (OSError, yaml.YAMLError, UnicodeDecodeError, BankError):
        found = {}
    minutes = found.get("minutes", "")
    return Header(
        id=question_id,
        title=found.get("title", "(unreadable)"),
        track=found.get("track", ""),
        level=found.get("level", ""),
        minutes=int(minutes) if minutes.isdecimal() and len(minutes) < 10 else 0,
        bank=bank,
        before=before,
        torch="torch" in found.get("uses", "").split(),
    )


def _scan(data: bytes, *, whole: bool = False) -> dict[str, str]:
    """The five keys (a list as its items with spaces); of a part of a file, all of them or none."""
    found: dict[str, str] = {}
    depth = 0
    key: str | None = None  # at the top level, the key whose value comes next
    try:
        for event in events(data.decode("utf-8", "ignore")):
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                depth += 1
                continue
            if isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                depth -= 1
                key = key if depth > 1 else None
            elif isinstance(event, yaml.ScalarEvent):
                if depth == 1 and key is None:
                    key = event.value
                    continue
                if key in KEYS and depth <= 2:
                    found[key] = f"{found.get(key, '')} {event.value}".strip()[:LONGEST]
                key = key if depth > 1 else None
            if key is None and found.keys() >= set(KEYS):
                return found
    except yaml.YAMLError:
        return {}
    return found if whole else {}
