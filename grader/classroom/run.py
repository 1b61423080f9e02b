"""Grade many programs side by side: each once, whatever is killed, and never a fault as a zero."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Future, wait
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
        self._broken = False  # whether nothing more can begin in this pool
        self._futures: dict[Future[Graded], Job] = {}
        self._waiting: deque[Job] = deque()
        self._suspects: deque[Job] = deque()  # each may have ended a process: one at a time
        self._alone = ""  # key of the one that runs by itself
        self._tries: dict[str, int] = {}

    @property
    def has_room(self) -> bool:
        """Whether another job can begin."""
        held = self._broken or self._suspects or self._alone
        return not held and len(self._futures) + len(self._waiting) < AHEAD * self._pool.size

    @property
    def busy(self) -> bool:
        """Whether anything is left to wait for."""
        return bool(self._futures or self._waiting or self._suspects)

    def begin(self, job: Job) -> None:
        """Begin a job."""
        try:
            future = self._pool.submit(job)
        except BrokenExecutor:  # another one has just ended it
            self._broken = True
            self._waiting.append(job)
        else:
            self._tries[job.key] = self._tries.get(job.key, 0) + 1
            self._futures[future] = job

    def ended(self) -> list[Graded]:
        """Wait for some to end, if any goes on; return those that need not be tried again."""
        self._go_on()
        done, _ = wait(self._futures, return_when=FIRST_COMPLETED)
        found = [one for future in done if (one := self._outcome(future)) is not None]
        for one in found:
            del self._tries[one.key]
        if not self._futures:
            self._alone = ""
        return found

    def _outcome(self, future: Future[Graded]) -> Graded | None:
        """Return what came of a job; None where it has to be tried again."""
        job = self._futures.pop(future)
        error = CancelledError("it was cancelled") if future.cancelled() else future.exception()
        if isinstance(error, BrokenExecutor):
            self._broken = True
            if job.key != self._alone:
                self._tries[job.key] -= 1  # another one may have ended the process
            elif self._tries[job.key] >= TRIES:
                return _failed(job, "the process that graded it ended, each time")
            self._suspects.append(job)
            return None
        graded = _failed(job, f"{type(error).__name__}: {error}") if error else future.result()
        if graded.settled or self._tries[job.key] >= TRIES:
            return graded
        self._waiting.append(job)
        return None

    def _go_on(self) -> None:
        """Begin what waits to be tried again; what may end its process, by itself."""
        if self._broken and not self._futures:
            self._pool.close()
            self._pool, self._broken = self._open(), False
        if self._suspects:
            if not self._futures:
                self._alone = self._suspects[0].key
                self.begin(self._suspects.popleft())
            return
        while self._waiting and not (self._broken or self._alone):
            self.begin(self._waiting.popleft())

    def close(self) -> None:
        """End everything now."""
        self._pool.close()


def _failed(job: Job, why: str) -> Graded:
    return Graded(job.key, fault=why[:500])
