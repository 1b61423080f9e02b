"""Run `drill` as `python -m grader`; the command `drill` calls `main`.

`python -m grader` puts the current folder first on the import path, and a stranger's folder may
hold a `typer.py`.  So that entry is removed before anything but `sys` is imported.  This is too
late for the imports of Python itself, and for a folder called `grader`: in a folder that you do not
trust, use `drill` or `python -P -m grader`.
"""

import sys


def main() -> None:
    """Run the command line and exit; Ctrl-C during its imports shows no traceback."""
    try:
        from grader.commands.app import main as run
    except KeyboardInterrupt:
        sys.stderr.write("interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    if not sys.flags.safe_path:
        del sys.path[0]
    main()
