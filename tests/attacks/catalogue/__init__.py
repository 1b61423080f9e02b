"""All attacks, by their aim."""

from __future__ import annotations

from tests.attacks.catalogue import (
    answers,
    files,
    kernel,
    machine,
    network,
    others,
    processes,
    protocol,
)

ATTACKS = (
    *answers.ATTACKS,
    *protocol.ATTACKS,
    *files.ATTACKS,
    *processes.ATTACKS,
    *network.ATTACKS,
    *machine.ATTACKS,
    *kernel.ATTACKS,
    *others.ATTACKS,
)
