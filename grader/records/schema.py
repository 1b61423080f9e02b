"""The tables, as a list of migrations: number N of the list brings `user_version` from N to N + 1.

A migration that has been released is never edited; a change of mind is one more migration.
`submissions` holds every file once, whoever graded it how often; `attempts.kind` tells a grading
from a copy kept before the starter, or an older version, was put in a file's place.
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
)

LATEST = len(MIGRATIONS)
