"""The head of a spec: title, track, level and minutes, read without parsing the rest.

YAML is parsed as a stream of events and left as soon as the four keys are there, which they are in the
first lines of every spec: listing thirty questions costs what thirty first pages cost.
"""

from __future__ import annotations

from pathlib import Path

import yaml

from grader.model.question import Header

KEYS = ("title", "track", "level", "minutes")
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read_head(question_id: str, path: Path, bank: Path) -> Header:
    """Read a spec's head; what is missing or unreadable is shown as such, never raised."""
    found: dict[str, str] = {}
    try:
        with path.open("rb") as stream:
            found = _scan(stream.read(4096)) or _scan(path.read_bytes())
    except (OSError, yaml.YAMLError, UnicodeDecodeError):
        found = {}
    minutes = found.get("minutes", "")
    return Header(
        id=question_id,
        title=found.get("title", "(unreadable)"),
        track=found.get("track", ""),
        level=found.get("level", ""),
        minutes=int(minutes) if minutes.isdecimal() else 0,
        bank=bank,
    )


def _scan(data: bytes) -> dict[str, str]:
    """The four keys, or nothing when the data ends before they are all there."""
    found: dict[str, str] = {}
    depth, key = 0, None
    try:
        for event in yaml.parse(data.decode("utf-8", "ignore"), Loader=_LOADER):
            if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                depth += 1
                key = None
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                depth -= 1
                key = None
            elif depth == 1 and isinstance(event, yaml.ScalarEvent):
                if key is None:
                    key = event.value
                else:
                    if key in KEYS:
                        found[key] = event.value
                        if len(found) == len(KEYS):
                            return found
                    key = None
    except yaml.YAMLError:
        return {}
    return found if found.keys() >= set(KEYS) else {}
