"""The head of a spec: title, track, level, minutes and uses, read without parsing the rest.

YAML is parsed as a stream of events and left as soon as the five keys are there, which they are in
the first lines of every spec: listing thirty questions costs what thirty first pages cost.
"""

from __future__ import annotations

from itertools import islice

import yaml

from grader.bank.document import events, one_line
from grader.bank.storage import BankFiles
from grader.model.errors import BankError
from grader.model.question import Header

KEYS = {"title", "track", "level", "minutes", "uses"}
MOST = 1 << 16  # bytes, in which every spec has them all
MOST_EVENTS = 500  # of YAML, which stand for time as bytes do not; specs have all five within 20
LONGEST = 200  # letters of a value


def read_head(question_id: str, files: BankFiles, name: str, before: str = "") -> Header:
    """Read a spec's head; what is missing or unreadable is shown as such, never raised.

    `before` is the bank's name and a `/`, where another bank holds the id too.
    """
    try:
        found = _scan(files.read(name, MOST))
    except (OSError, yaml.YAMLError, BankError):
        found = {}
    minutes = found.get("minutes", "")
    return Header(
        id=question_id,
        title=found.get("title", "(unreadable)"),
        track=found.get("track", ""),
        level=found.get("level", ""),
        minutes=int(minutes) if minutes.isdecimal() and len(minutes) < 10 else 0,
        bank=files.path,
        before=before,
        torch="torch" in found.get("uses", "").split(),
    )


def _scan(data: bytes) -> dict[str, str]:
    """The five keys, a list as its items with spaces."""
    found: dict[str, str] = {}
    depth = 0
    key: str | None = None  # at the top level, the key whose value comes next
    for event in islice(events(data.decode("utf-8", "ignore")), MOST_EVENTS):
        depth += isinstance(event, yaml.CollectionStartEvent)
        depth -= isinstance(event, yaml.CollectionEndEvent)
        if isinstance(event, yaml.ScalarEvent):
            if depth == 1 and key is None:
                key = event.value
                continue
            if key in KEYS and depth <= 2:
                words = f"{found.get(key, '')} {event.value[:LONGEST]}".split()
                found[key] = one_line(" ".join(words))[:LONGEST]
        if depth <= 1:
            key = None
            if found.keys() >= KEYS:
                break
    return found
