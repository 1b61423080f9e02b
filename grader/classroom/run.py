"""Grade many programs side by side: each once, whatever is killed, and never a fault as a zero."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from concurrent.futures import BrokenExecutor, CancelledError, Future
from dataclasses import replace
from queue import Empty, SimpleQueue

from grader.classroom.jobs import Job
from grader.classroom.ledger import Ledger
from grader.classroom.pools import Pool
from grader.model.classroom import Graded
from grader.model.errors import GraderError

TRIES = 3  # of a grade that is the grader's fault, before it is left for another day
AHEAD = 2  # jobs for each process: one that it works on, and the next
LOOK = 5.0  # seconds after which a pool is looked at again: it may have grown
SILENCE = 900.0  # seconds in which nothing comes back, before that is said


def grade_all(
    jobs: Iterable[Job],
    open_pool: Callable[[], Pool],
    ledger: Ledger,
    known: set[bytes],
    now: Callable[[], str],
    say: Callable[[str, str], None] = lambda _message, _hint: None,
) -> Generator[Graded, None, None]:
    """Grade jobs, and give each verdict when it is on the disk.

    Few jobs are taken at a time, so that it needs no more memory for many.  What ends the process
    that grades it is tried again alone, so that it costs the others nothing.

    Args:
        jobs: What to grade; what is `known` already is left out, and so are doubles.
        open_pool: Gives a new pool; called again where one has broken.
        ledger: Where the verdicts are written.
        known: Keys of what was graded before; grows by what is begun.
        now: Gives the time, UTC, ISO 8601.
        say: Says what the person should know, and what to do about it.

    Raises:
        GraderError: No pool takes jobs, or none has ever brought one to its end.
        UsageError: A verdict cannot be written.
    """
    running = _Running(open_pool, say)
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
            if not (more or running.busy):
                return
            found = [replace(one, at=now()) for one in running.ended()]
            ledger.add(found)
            yield from found
    finally:
        running.close()


class _Running:
    """The jobs that have begun, and those that wait to be tried again.

    An executor may do whatever it likes: cancel what it was given, refuse more, return something
    else, or nothing.  That futures call back is all that is relied on: `concurrent.futures.wait`
    never hears of one that was cancelled before it began.
    """

    def __init__(
        self, open_pool: Callable[[], Pool], say: Callable[[str, str], None] = lambda _m, _h: None
    ) -> None:
        self._open = open_pool
        self._say = say
        self._pool = open_pool()
        self._broken = False  # whether nothing more can begin in this pool
        self._futures: dict[Future[Graded], Job] = {}
        self._done: SimpleQueue[Future[Graded]] = SimpleQueue()
        self._waiting: deque[Job] = deque()
        self._suspects: deque[Job] = deque()  # each may have ended a process: one at a time
        self._alone = ""  # key of the one that runs by itself
        self._tries: dict[str, int] = {}
        self._refusals = 0  # pools in a row that took nothing
        self._in_vain: int | None = (
            0  # pools that broke before any job came to an end; None: one has
        )
        self._silent = 0.0  # seconds in which nothing came back

    @property
    def has_room(self) -> bool:
        """Whether another job can begin."""
        most = AHEAD * max(1, self._pool.size)
        held = self._broken or self._suspects or self._alone
        return not held and len(self._futures) + len(self._waiting) < most

    @property
    def busy(self) -> bool:
        """Whether anything is left to wait for."""
        return bool(self._futures or self._waiting or self._suspects)

    def begin(self, job: Job) -> None:
        """Begin a job.

        Raises:
            GraderError: One pool after another refuses.
        """
        try:
            future = self._pool.submit(job)
        except Exception as error:  # one has just ended it, or it is somebody else's and raises
            self._refusals += 1
            if self._refusals > TRIES:
                raise GraderError(
                    f"where grades are to run, no job is taken: {_words(error)}", hint=_AGAIN
                ) from error
            self._broken = True
            self._waiting.append(job)
            return
        self._refusals = 0
        self._tries[job.key] = self._tries.get(job.key, 0) + 1
        self._futures[future] = job
        future.add_done_callback(self._done.put)

    def ended(self) -> list[Graded]:
        """Wait for some to end, if any goes on; return those that need not be tried again."""
        self._go_on()
        found = [one for future in self._next() if (one := self._outcome(future)) is not None]
        for one in found:
            del self._tries[one.key]
        if not self._futures:
            self._alone = ""
        return found

    def _next(self) -> list[Future[Graded]]:
        """Wait until a job ends, though not for long: give all that have."""
        done: list[Future[Graded]] = []
        if not self._futures:
            return done
        try:
            done.append(self._done.get(timeout=LOOK))
            while True:
                done.append(self._done.get_nowait())
        except Empty:
            self._silent = 0.0 if done else self._silent + LOOK
        if self._silent >= SILENCE:
            self._silent = 0.0
            said = (
                f"nothing has come back for {SILENCE / 60:.0f} minutes: {len(self._futures)} wait"
            )
            self._say(said, "what was graded is kept: stop it, and begin it again, at any time")
        return done

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
        self._in_vain = None
        came: object = _failed(job, _words(error)) if error else future.result()
        if isinstance(came, Graded) and came.key == job.key:
            graded = came
        else:
            graded = _failed(job, "what came back is not what became of it")
        if graded.settled or self._tries[job.key] >= TRIES:
            return graded
        self._waiting.append(job)
        return None

    def _go_on(self) -> None:
        """Begin what waits to be tried again; what may end its process, by itself."""
        if self._broken and not self._futures:
            self._open_another()
        if self._suspects:
            if not self._futures:
                self._alone = self._suspects[0].key
                self.begin(self._suspects.popleft())
            return
        while self._waiting and not (self._broken or self._alone):
            self.begin(self._waiting.popleft())

    def _open_another(self) -> None:
        """Put a new pool in the place of one that has broken.

        Raises:
            GraderError: None has worked yet, and several different jobs were tried in them.
        """
        if self._in_vain is not None:
            self._in_vain += 1
            if self._in_vain > 3 * TRIES:
                text = "every process that was to grade has ended before it had graded anything"
                raise GraderError(text, hint="drill doctor shows what this machine lacks")
        self._pool.close()
        self._pool, self._broken = self._open(), False

    def close(self) -> None:
        """End everything now; what has not begun never does."""
        for future in self._futures:
            future.cancel()
        self._pool.close()


_AGAIN = "what was graded is kept: begun again, it goes on from there"


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def _failed(job: Job, why: str) -> Graded:
    return Graded(job.key, fault=why[:500])
