"""Load drill files by path and layer them as a worker does, to compare them with an oracle."""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
import sys
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from grader.sandbox.spawn import Zygote

ROOT = Path(__file__).resolve().parents[1]
Lend = Callable[..., Zygote | None]  # gives a zygote to who needs one; see `lend` in conftest.py


def right_solutions(question_id: str) -> list[Path]:
    """Return the files of all right solutions: those that the question comes with, and others."""
    others = ROOT / "tests" / "solutions" / question_id / "right"
    own = ROOT / "drills" / question_id / "accepted"
    return sorted((*own.glob("*.py"), *others.glob("*.py")), key=lambda path: path.stem)


def load(path: Path) -> types.SimpleNamespace:
    """Execute one file in a namespace of its own and return its names as attributes."""
    with contextlib.redirect_stdout(io.StringIO()):  # some print
        return _execute(path)


def variants(drill: Path) -> Callable[[str], types.SimpleNamespace]:
    """Return what loads a misconception of a drill's folder by the name of its file."""
    return lambda name: load_layered(
        drill / "reference.py", drill / "misconceptions" / f"{name}.py"
    )


def load_layered(reference: Path, variant: Path) -> types.SimpleNamespace:
    """Execute a reference and, in the same namespace, a misconception on top of it."""
    return _execute(reference, variant)


def load_text(text: str) -> types.SimpleNamespace:
    """Execute what a file would hold."""
    return _execute(text)


def _execute(*programs: Path | str) -> types.SimpleNamespace:
    module = types.ModuleType("submission")
    sys.modules["submission"] = module  # dataclasses look their module up
    for one in programs:
        text, name = (
            (one, "submission.py") if isinstance(one, str) else (one.read_bytes(), str(one))
        )
        exec(compile(text, name, "exec", dont_inherit=True), module.__dict__)
    return types.SimpleNamespace(**module.__dict__)


def each(names: str | tuple[str, ...], values: Iterable[Any]) -> Callable[..., Callable[..., None]]:
    """Run a test with every value in turn, as `parametrize` does, but as one test.

    For what takes less time than pytest does for a test.
    """
    wanted = (names,) if isinstance(names, str) else names
    several = [(value,) if isinstance(names, str) else value for value in values]

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(test)
        def run(**others: Any) -> None:
            for value in several:
                given = dict(zip(wanted, value, strict=True))
                try:
                    test(**others, **given)
                except BaseException as error:
                    error.add_note(f"with {given}")
                    raise

        signature = inspect.signature(test)
        left = [p for name, p in signature.parameters.items() if name not in wanted]
        run.__signature__ = signature.replace(parameters=left)  # type: ignore[attr-defined]
        return run

    return decorate
