"""How well a worker is walled off: a word for it, from what it was refused when it tried."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from grader.sandbox.worker.walls.canary import ABSENT, DONE, REFUSED

STRONG, LIMITED, PROCESS = "strong", "limited", "process"

ACTS = {
    "read": "read a file of yours",
    "write": "write to a file of yours",
    "create": "create a file outside its scratch folder",
    "change": "change the permissions of a file of yours",
    "touch": "change the times of a file of yours",
    "list": "list a folder of yours",
    "kept": "read this program or the system, or torch in a numpy question",
    "memory": "read the memory of the judge",
    "signal": "send the judge a signal",
    "limit": "look at or change the judge's limits",
    "network": "open a network connection",
    "socket": "open a socket to programs on this machine",
    "process": "start a process, which might stay",
    "program": "run a program",
    "uncounted": "take memory that no limit counts",
    "shared": "leave something in shared memory",
    "ring": "make system calls through io_uring",
    "namespace": "make namespaces of its own",
    "outlive": "outlive the judge",
    "root": "act as root",
    "unbounded": "use time and memory without limit",
}


@dataclass(frozen=True, slots=True)
class Isolation:
    """What one worker was refused, tried in it before it ran anything of a submission's."""

    acts: Mapping[str, str]  # "refused", "done", or "absent": the system has no such thing
    missing: Sequence[str] = ()  # why walls are missing

    @property
    def level(self) -> str:
        """`strong`: nothing could be done; `limited`: there are limits at least; `process`."""
        if not self.done and not self.missing:
            return STRONG
        return PROCESS if "unbounded" in self.done else LIMITED

    @property
    def done(self) -> list[str]:
        """What could be done, of what a level rests on."""
        return [name for name in ACTS if self.acts.get(name, DONE) == DONE]


def read(reply: object) -> Isolation:
    """Isolation from a worker's own words, said before it ran anything foreign."""
    said = reply if isinstance(reply, dict) else {}
    acts, missing = said.get("acts"), said.get("missing")
    known = acts if isinstance(acts, dict) else {}
    reasons = missing if isinstance(missing, tuple) else ["it did not say"]
    return Isolation(
        {str(n): str(v) for n, v in known.items() if v in (REFUSED, DONE, ABSENT)},
        tuple(map(str, reasons)),
    )
