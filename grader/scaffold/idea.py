"""A wrong idea that is put into a question: its program, and its entry in the spec.

Programs are text here.  Nothing is parsed: whether a program that is shortened still does what it
did is for a grade to say.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence

from grader.bank.document import Document, Spot
from grader.model.errors import UsageError

TODO = "TODO what is wrong, why, and what to do instead"
_CONTINUES = tuple(" \t)]}")  # begins a line that goes on with what is above it


def shortened(program: str, reference: str) -> Iterator[str]:
    """Give shorter texts of a program that may do the same on top of the reference, best first."""
    known = set(map(_said, _blocks(reference)))
    own = [block for block in _blocks(program) if _said(block) not in known]
    for blocks in (own, [*_blocks(program)]):
        if blocks:
            yield "\n\n\n".join("\n".join(block).rstrip() for block in blocks) + "\n"


def _blocks(program: str) -> Iterator[list[str]]:
    """Give what begins at the left margin with all that is below it; comments are left out."""
    block: list[str] = []
    decorated = False
    for line in program.splitlines():
        if line.lstrip().startswith("#"):
            continue
        if line.strip() and not line.startswith(_CONTINUES) and block and not decorated:
            yield block
            block = []
        if line.strip() or block:
            block.append(line)
        decorated = line.startswith("@")
    if block:
        yield block


def _said(block: Sequence[str]) -> tuple[str, ...]:
    return tuple(line.rstrip() for line in block if line.strip())


def with_idea(doc: Document, raw: bytes, name: str, checks: Sequence[str]) -> bytes:
    """Return a spec with one more misconception; no other line of it is touched.

    Args:
        doc: The spec, parsed.
        raw: Its bytes.
        name: The misconception's.
        checks: The ids of those that stop it.

    Raises:
        UsageError: Its misconceptions stand in a form that no line can be added to.
    """
    text = raw.decode()
    end = "\r\n" if "\r\n" in text else "\n"
    lines = text.splitlines(keepends=True)
    if lines and not lines[-1].endswith("\n"):
        lines[-1] += end
    top = doc.spots.get(("misconceptions",))
    known = [spot for at, spot in doc.spots.items() if at[:1] == ("misconceptions",) and at[1:]]
    indent = min((spot.key[1] - 1 for spot in known if spot.key), default=2)
    killers = checks[0] if len(checks) == 1 else f"[{', '.join(checks)}]"
    entry = [f"{name}:", f"  killed_by: {killers}", f"  feedback: {TODO}"]
    added = [f"{' ' * indent}{line}{end}" for line in entry]
    if top is None or top.key is None:
        return "".join([*lines, f"{end}misconceptions:{end}", *added]).encode()
    _check_block(lines, top, known)
    last = top.key[0]
    for number, line in enumerate(lines[last:], last + 1):
        if line.strip() and not line.startswith((" ", "#")):
            break
        if line.startswith(" ") and line.strip():
            last = number
    return "".join([*lines[:last], *added, *lines[last:]]).encode()


def _check_block(lines: Sequence[str], top: Spot, known: Sequence[Spot]) -> None:
    """Refuse what is written on the line of the key itself: `misconceptions: {...}`."""
    assert top.key is not None
    rest = lines[top.key[0] - 1].split(":", 1)[1].split("#")[0].strip()
    if rest or not known:
        raise UsageError(
            f"misconceptions: expected a line for each key, found {rest or 'none'} on line "
            f"{top.key[0]} of the spec",
            hint="write the keys below one another, two spaces in",
        )


def only_added(before: bytes, after: bytes) -> bool:
    """Return whether a text has all lines of another, in their order."""
    codes = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    return all(code in {"equal", "insert"} for code, *_ in codes.get_opcodes())
