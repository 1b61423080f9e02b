"""The banks that a command looks in, and a word about those that are gone."""

from __future__ import annotations

from pathlib import Path

from grader.cli import output


def banks(explicit: Path | None) -> list[Path]:
    """Return the banks; what stands on the user's list and is none is told once, and left out.

    Raises:
        UsageError: What `--bank` or DRILL_BANK names is no bank.
    """
    from grader.bank import banks as all_banks

    return all_banks(explicit, gone=output.warn_once)
