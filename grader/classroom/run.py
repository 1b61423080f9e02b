"""Grade many programs side by side: each once, whatever is killed, and never a fault as a zero."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Future, wait
from dataclasses import replace

from grader.classroom.jobs import Job
from grader.classroom.ledger import Ledger
from grader.classroom.pools import Pool
from grader.model.classroom import Graded

TRIES = 3  # of a grade that is the grader's fault, before it is left for another day
AHEAD = 2  # jobs for each process: one that it works on, and the next


def grade_all(
    jobs: Iterable[Job],
    open_pool: Callable[[], Pool],
    ledger: Ledger,
    known: set[bytes],
    now: Callable[[], str],
) -> Generator[Graded, None, None]:
    """Grade jobs, and give each verdict when it is on the disk.

    Few jobs are taken at a time, so that it needs no more memory for many.  What ends the process
    that grades it is tried again alone, so that it costs the others nothing.

    Args:
        jobs: What to grade; what is `known` already is left out, and so are doubles.
        open_pool: Gives a new pool; called again where one has broken.
        ledger: Where the verdicts are written.
        known: Keys of what was graded before; grows.
        now: Gives the time, UTC, ISO 8601.
    """
    running = _Running(open_pool)
    todo = iter(jobs)
    try:
        more = True
        while True:
            while more and running.has_room:
                job = next(todo, None)
                more = job is not None
                if job is not None and (key := bytes.fromhex(job.key)) not in known:
                    known.add(key)
                    running.begin(job)
            if not running.busy:
                if more:
                    continue
                return
            found = [replace(one, at=now()) for one in running.ended()]
            ledger.add(found)
            for one in found:
                if not one.settled:
                    known.discard(bytes.fromhex(one.key))
            yield from found
    finally:
        running.close()


class _Running:
    """The jobs that have begun, and those that wait to be tried again."""

    def __init__(self, open_pool: Callable[[], Pool]) -> None:
        self._open = open_pool
        self._pool = open_pool()
        self._futures: dict[Future[Graded], Job] = {}
        self._again: deque[Job] = deque()
        self._alone: deque[Job] = deque()  # one of these ended its process: one at a time
        self._tries: dict[str, int] = {}
        self._suspect = ""  # key of the one that runs alone

    @property
    def has_room(self) -> bool:
        """Whether another job can begin."""
        waiting = len(self._futures) + len(self._again)
        return not (self._alone or self._suspect) and waiting < AHEAD * self._pool.size

    @property
    def busy(self) -> bool:
        """Whether anything is left to wait for."""
        return bool(self._futures or self._again or self._alone)

    def begin(self, job: Job) -> None:
        """Begin a job."""
        self._tries[job.key] = self._tries.get(job.key, 0) + 1
        try:
            self._futures[self._pool.submit(job)] = job
        except BrokenExecutor:  # another one has just ended it
            self._tries[job.key] -= 1
            self._again.append(job)
            if not self._futures:
                self._reopen()

    def ended(self) -> list[Graded]:
        """Wait for some to end; return those that need not be tried again."""
        self._go_on()
        done, _ = wait(self._futures, return_when=FIRST_COMPLETED)
        found, broken = [], False
        for future in done:
            job = self._futures.pop(future)
            error = future.exception()
            if isinstance(error, BrokenExecutor):
                broken = True
                suspect = job.key == self._suspect
                self._tries[job.key] -= not suspect  # else another one may have ended the process
                if suspect and self._tries[job.key] >= TRIES:
                    found.append(_failed(job, "the process that graded it ended, each time"))
                else:
                    self._alone.append(job)
                continue
            graded = future.result() if error is None else _failed(job, str(error))
            if graded.settled or self._tries[job.key] >= TRIES:
                found.append(graded)
            else:
                self._again.append(job)
        for one in found:
            del self._tries[one.key]
        self._suspect = ""
        if broken and not self._futures:
            self._reopen()
        return found

    def _go_on(self) -> None:
        """Begin what waits to be tried again; what may end its process, by itself."""
        if self._alone and not self._futures:
            self._suspect = self._alone[0].key
            self.begin(self._alone.popleft())
        while self._again and not self._alone and not self._suspect:
            self.begin(self._again.popleft())

    def _reopen(self) -> None:
        self._pool.close()
        self._pool = self._open()

    def close(self) -> None:
        """End everything now."""
        self._pool.close()


def _failed(job: Job, why: str) -> Graded:
    return Graded(job.key, fault=why or "the grade came to no end")
