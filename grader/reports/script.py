"""A case as a Python script: its inputs and the calls, and nothing of what is expected.

The script is run by the candidate, in the candidate's own Python. What comes from a bank goes into
it as names and literals alone: steps are assignments of calls (`grader.bank.steps`), a phrase
becomes a comment of one line.
"""

from __future__ import annotations

import keyword
import math
import pprint
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from grader.model.question import Question, Step
from grader.reports.inert import inert
from grader.sandbox.worker.wire import Tensor

MOST_ENTRIES = 24  # of an array that is written out; larger ones are loaded from a file
_WIDTH = 88
_INFINITE = re.compile(r"\b(inf|nan)\b(?!\")")
_HEAD = """\
import os
import sys
from pathlib import Path

here = Path(__file__).resolve().parents[1]  # where submission.py is, and what came with it
sys.path.insert(0, str(here))
os.chdir(here)

"""


@dataclass(frozen=True, slots=True)
class Script:
    """A script: what makes it one that can be run, and what there is to read."""

    head: str
    body: str
    arrays: Mapping[str, np.ndarray[Any, Any]]  # to be saved beside it, as .npz
    driver: bool  # whether it imports the question's driver
    first_call: int  # line of the whole script

    @property
    def text(self) -> str:
        """All of it."""
        return self.head + self.body


def script(
    question: Question,
    run: str,
    inputs: Mapping[str, Mapping[str, Any]],
    results: Sequence[str],
    remark: str,
) -> Script:
    """Write the script of a run on a case.

    Args:
        question: whose run it is.
        run: its name.
        inputs: as `grader.session.drawing` gives them.
        results: to be printed; those of the last step if empty.
        remark: on the first line.
    """
    steps = question.runs[run]
    torch = question.spec.needs_torch
    written, large = _inputs(inputs)
    calls = _calls(steps, inputs)
    shown = results or steps[-1].targets
    said = [f"print({name})" if len(shown) == 1 else f'print("{name}", {name}, sep="\\n")'
            for name in shown]  # fmt: skip
    libraries = _libraries(steps, written, large, torch=torch)
    lines = [*libraries, "", *written, "", *calls, "", *said]
    body = "\n".join(lines) + "\n"
    head = f"# {inert(' '.join(remark.split()))}\n{_HEAD}"
    before = head + "\n".join(lines[: len(libraries) + len(written) + 2])
    driver = any(step.owner == "driver" for step in steps)
    return Script(head, body, large, driver, before.count("\n") + 1)


def _libraries(
    steps: Sequence[Step], written: Sequence[str], large: Mapping[str, object], *, torch: bool
) -> list[str]:
    """What is imported, and where large arrays are taken from."""
    own = {step.function for step in steps if step.owner == "submission"}
    lines = []
    if large or any("np." in line for line in written):
        lines.append("import numpy as np")
    if any(_INFINITE.search(line) for line in written):
        lines.append("from numpy import inf, nan")
    if torch:
        lines.append("import torch")
    if any(step.owner == "driver" for step in steps):
        lines.append("import driver")
    if _by_module(steps) or any(step.owner == "driver" for step in steps):
        lines.append("import submission")
    if own and not _by_module(steps):
        lines.append(f"from submission import {', '.join(sorted(own))}")
    if large:
        lines += ["", 'arrays = np.load(Path(__file__).with_suffix(".npz"))']
    return lines


def _by_module(steps: Sequence[Step]) -> bool:
    """Whether a result has the name of a function, which it would take the place of."""
    functions = {step.function for step in steps if step.owner == "submission"}
    return bool(functions & {name for step in steps for name in step.targets})


def _calls(steps: Sequence[Step], inputs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The steps as they are written, so that they run in a script."""
    module = "submission." if _by_module(steps) else ""
    lines = []
    for step in steps:
        targets, _, call = " ".join(step.text.split()).partition("=")
        targets, call = targets.strip(), call.strip()
        if step.owner == "torch":
            lines += _gradients(step, targets, inputs)
            continue
        if step.owner == "driver":
            name, _, rest = call.partition("(")
            call = f"{name}(submission{'' if rest.startswith(')') else ', '}{rest}"
        lines.append(f"{targets} = {module if step.owner == 'submission' else ''}{call}")
    return lines


def _gradients(step: Step, targets: str, inputs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """A step that asks torch for gradients; there is none of an input that requires none."""
    y, cotangent, *sources = step.reads
    wanted = [name for name in sources if inputs.get(name, {}).get("grad", True)]
    given = f"{y}, [{', '.join(wanted)}], {cotangent}, retain_graph=True, allow_unused=True"
    call = f"torch.autograd.grad({given})"
    if wanted == sources:
        return [f"{targets} = {call}" if step.unpack else f"{targets} = {call}[0]"]
    if not step.unpack or len(step.targets) != len(sources):
        return [f"{targets} = {', '.join(['None'] * len(sources))}"]
    asked = dict(zip(sources, step.targets, strict=True))
    lines = [f"{', '.join(asked[name] for name in wanted)}, = {call}"] if wanted else []
    return lines + [f"{asked[name]} = None" for name in sources if name not in wanted]


def _inputs(
    inputs: Mapping[str, Mapping[str, Any]],
) -> tuple[list[str], dict[str, np.ndarray[Any, Any]]]:
    """Lines that make every input, and the arrays that are too large to be written out."""
    lines: list[str] = []
    large: dict[str, np.ndarray[Any, Any]] = {}
    plain = {}
    for name, given in inputs.items():
        value = given["value"]
        dtype = value.dtype if isinstance(value, Tensor) else ""
        array = value.values if isinstance(value, Tensor) else value
        if not isinstance(array, np.ndarray):
            plain[name] = _literal(array)
            continue
        dtype = dtype or array.dtype.name
        if array.size > MOST_ENTRIES:
            large[name] = array
        lines += (_tensor if given.get("tensor") else _array)(name, array, dtype)
        lines += _layout(
            name, given.get("layout", "contiguous"), array, torch=bool(given.get("tensor"))
        )
        if given.get("grad"):
            lines.append(f"{name}.requires_grad_()")
    if plain:
        lines.append(f"{', '.join(plain)} = {', '.join(plain.values())}")
    return lines, large


def _literal(value: object) -> str:
    """A number, text or None as Python has it."""
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def _array(name: str, array: np.ndarray[Any, Any], dtype: str) -> list[str]:
    """An array of numpy's."""
    if array.size > MOST_ENTRIES:
        return [f'{name} = arrays["{name}"]']
    if array.size == 0:
        return [f"{name} = np.zeros({array.shape}, np.{array.dtype.name.replace('bool', 'bool_')})"]
    usual = np.asarray(array.tolist()).dtype == array.dtype
    return _folded(f"{name} = np.array(", array, "" if usual else f"np.{dtype}")


def _tensor(name: str, array: np.ndarray[Any, Any], dtype: str) -> list[str]:
    """A tensor of torch's."""
    if array.size > MOST_ENTRIES:
        changed = f".to(torch.{dtype})" if dtype != array.dtype.name else ""
        return [f'{name} = torch.from_numpy(arrays["{name}"]){changed}']
    if array.size == 0:
        return [f"{name} = torch.zeros({array.shape}, dtype=torch.{dtype})"]
    return _folded(f"{name} = torch.tensor(", array, f"dtype=torch.{dtype}")


def _folded(before: str, array: np.ndarray[Any, Any], dtype: str) -> list[str]:
    """An array written out: on one line where it fits, else below the opening bracket."""
    entries = _shortest(array) if array.dtype == np.float32 else array.tolist()
    text = pprint.pformat(entries, width=_WIDTH - 4, compact=True)
    after = f", {dtype})" if dtype else ")"
    if "\n" not in text and len(before + text + after) <= _WIDTH:
        return [before + text + after]
    lines = f"{text},\n{dtype}," if dtype else text
    return [before, *(f"    {line}" for line in lines.split("\n")), ")"]


def _shortest(array: np.ndarray[Any, Any]) -> Any:  # noqa: ANN401 a number or nested lists
    """The shortest decimals that give the entries of this dtype back."""
    if array.ndim == 0:
        return float(str(array[()]))
    return [_shortest(row) for row in array]


def _layout(name: str, layout: str, array: np.ndarray[Any, Any], *, torch: bool) -> list[str]:
    """What puts an input into memory as the case has it, where it is not contiguous."""
    if array.ndim == 0 and layout != "readonly":
        return []
    if layout == "broadcast" and not array.shape[0]:
        return []
    numpy = {
        "fortran": f"{name} = np.asfortranarray({name})",
        "reversed": f"{name} = np.flip(np.flip({name}).copy())",
        "strided": f"{name} = np.repeat({name}, 2, axis=-1)[..., ::2]",
        "broadcast": f"{name} = np.broadcast_to({name}[:1], {name}.shape)",
        "readonly": f"{name}.flags.writeable = False",
    }
    axes = ", ".join(map(str, reversed(range(array.ndim))))
    turned = f"{name} = {name}.permute({axes}).contiguous().permute({axes})"
    tensors = {
        "fortran": turned,
        "reversed": turned,  # torch has no negative strides
        "strided": f"{name} = torch.repeat_interleave({name}, 2, -1)[..., ::2]",
        "broadcast": f"{name} = {name}[:1].expand({name}.shape)",
    }
    line = (tensors if torch else numpy).get(layout)
    return [line] if line else []


def module_name(case: str) -> str:
    """What the file of a case is called, without `.py`: a name that can be imported."""
    name = "".join(c if c.isalnum() and c.isascii() else "_" for c in case).strip("_")
    return f"case_{name}" if not name.isidentifier() or keyword.iskeyword(name) else name
