"""The tables, as a list of migrations: number N of the list brings `user_version` from N to N + 1.

A migration that has been released is never edited; a change of mind is one more migration.

`events` says who did what to which question, and when; rows are added and never changed.
`submissions` holds every file once, however often it was graded. `attempts` is a view: a grade is
two events, `begun` (or `review`) with the bytes and `graded` with the verdict, so that a grade that
was interrupted has its bytes.
"""

from __future__ import annotations

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """
        CREATE TABLE submissions (
            sha256 TEXT PRIMARY KEY,
            bytes BLOB NOT NULL
        )
        """,
        """
        CREATE TABLE attempts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            kind TEXT NOT NULL CHECK (kind IN ('grade', 'kept')),
            question TEXT NOT NULL,
            bank TEXT NOT NULL,
            created_at TEXT NOT NULL,
            finished_at TEXT,
            seed INTEGER,
            verdict TEXT,
            isolation TEXT,
            seconds REAL,
            sha256 TEXT NOT NULL REFERENCES submissions (sha256),
            report TEXT
        )
        """,
        "CREATE INDEX attempts_by_question ON attempts (question, id)",
        """
        CREATE TABLE starts (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            question TEXT NOT NULL,
            bank TEXT NOT NULL,
            folder TEXT NOT NULL,
            created_at TEXT NOT NULL
        )
        """,
        "CREATE TABLE hints (question TEXT PRIMARY KEY, shown INTEGER NOT NULL)",
        "CREATE TABLE solutions (question TEXT PRIMARY KEY, given_up_at TEXT NOT NULL)",
    ),
    (
        """
        CREATE TABLE events (
            id INTEGER PRIMARY KEY AUTOINCREMENT,
            what TEXT NOT NULL,
            at TEXT NOT NULL,
            who TEXT NOT NULL DEFAULT '',
            program TEXT NOT NULL DEFAULT '',
            question TEXT NOT NULL,
            bank TEXT NOT NULL DEFAULT '',
            digest TEXT NOT NULL DEFAULT '',
            attempt INTEGER,
            path TEXT,
            hint INTEGER,
            seed INTEGER,
            sha256 TEXT REFERENCES submissions (sha256),
            verdict TEXT,
            isolation TEXT,
            seconds REAL,
            report TEXT,
            UNIQUE (attempt, what)
        )
        """,
        "CREATE INDEX events_by_question ON events (question, what)",
        """
        INSERT INTO events (what, at, question, bank, path)
        SELECT 'started', created_at, question, bank, folder FROM starts ORDER BY id
        """,
        """
        INSERT INTO events (what, at, question, bank, attempt, seed, sha256)
        SELECT iif(kind = 'kept', 'kept', 'begun'), created_at, question, bank, id, seed, sha256
        FROM attempts ORDER BY id
        """,
        """
        INSERT INTO events (
            what, at, question, bank, attempt, verdict, isolation, seconds, report
        )
        SELECT 'graded', finished_at, question, bank, id, verdict, isolation, seconds, report
        FROM attempts WHERE finished_at IS NOT NULL ORDER BY id
        """,
        """
        INSERT INTO events (what, at, question, hint) SELECT 'hint', '', question, shown FROM hints
        """,
        """
        INSERT INTO events (what, at, question)
        SELECT 'solution', given_up_at, question FROM solutions
        """,
        *(f"DROP TABLE {table}" for table in ("attempts", "starts", "hints", "solutions")),
        *(
            f"CREATE TRIGGER events_no_{what} BEFORE {what} ON events"
            " BEGIN SELECT RAISE(ABORT, 'events are never changed'); END"
            for what in ("UPDATE", "DELETE")
        ),
        """
        CREATE VIEW attempts AS
        SELECT
            begun.attempt AS id,
            CASE begun.what
                WHEN 'begun' THEN 'grade' WHEN 'review' THEN 'review' ELSE 'kept'
            END AS kind,
            begun.question, begun.bank, begun.digest, begun.program,
            begun.at AS created_at, graded.at AS finished_at,
            begun.seed, graded.verdict, graded.isolation, graded.seconds,
            begun.sha256, graded.report
        FROM events AS begun
        LEFT JOIN events AS graded ON graded.attempt = begun.attempt AND graded.what = 'graded'
        WHERE begun.attempt IS NOT NULL AND begun.what != 'graded'
        """,
    ),
)

LATEST = len(MIGRATIONS)
