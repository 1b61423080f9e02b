"""`python -m grader` is `drill`, and so is the function `main`.

Python puts the current folder first on the path, and a stranger's folder may hold a `typer.py`.
Nothing is imported before that is undone. What Python itself imports first cannot be helped here,
nor a folder called `grader`: `drill`, or `python -P -m grader`, is safe in any folder.
"""

import sys


def main() -> None:
    """Run the command line; Ctrl-C while it is imported shows no traceback."""
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
