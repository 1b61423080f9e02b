"""`python -m grader` is `drill`."""

from __future__ import annotations

from grader.cli.app import main

if __name__ == "__main__":
    main()
