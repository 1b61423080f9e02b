"""What can become of a worker; each message completes 'the submission ...'."""

from __future__ import annotations


class WorkerError(Exception):
    """The worker can no longer be used."""


class Died(WorkerError):
    """The process ended without answering."""


class Overran(WorkerError):
    """A limit of time, memory, files or output was reached."""


class Garbled(WorkerError):
    """What came back is not an answer."""
