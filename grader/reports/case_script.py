"""A case as a Python script: its inputs and the calls, and what is expected where that is given.

The script is run by the candidate, in the candidate's own Python. What comes from a bank goes into
it as names and literals alone: steps are assignments of calls (`grader.cases.step_syntax`), a phrase
becomes a comment of one line.
"""

from __future__ import annotations

import ast
import io
import keyword
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from grader.model.question import Question
from grader.model.steps import Step
from grader.reports.text_layout import escape_line
from grader.sandbox.worker.wire import Tensor

MAX_ENTRIES = 24  # of an array that is written out; others are loaded from a file
_WIDTH = 88
# What scripts import. The file of a case is in their folder, and must not take the place of one.
_IMPORTED = {*sys.stdlib_module_names, "numpy", "torch", "driver", "submission"}
_HEAD = """\
import os
import sys
from pathlib import Path

here = Path(__file__).resolve().parents[1]  # where submission.py is, and what came with it
sys.path.insert(0, str(here))
os.chdir(here)

"""
_VJP = '''\
def vjp(y, grad_y, *inputs):
    """The gradients of sum(y * grad_y), None for an input that requires none."""
    asked = [x for x in inputs if x.requires_grad]
    found = torch.autograd.grad(y, asked, grad_y, retain_graph=True, allow_unused=True)
    each = iter(found)
    return [next(each) if x.requires_grad else None for x in inputs]


'''
_EXPECT = '''\
def expect(name, found, wanted):
    """Print a result, and what is expected where that is something else."""
    found = found.detach().double().numpy() if hasattr(found, "detach") else np.asarray(found)
    wanted = np.asarray(wanted)
    same = found.shape == wanted.shape and np.allclose(found, wanted, 1e-5, equal_nan=True)
    print(f"{name}, as expected:" if same else f"{name}:", found, sep="\\n")
    if not same:
        print(f"expected {name}:", wanted, sep="\\n")


'''
# What puts an input into memory as a case has it, where it is not contiguous.
_LAYOUTS = {
    "fortran": "{0} = np.asfortranarray({0})",
    "reversed": "{0} = np.flip(np.flip({0}).copy())",
    "strided": "{0} = np.repeat({0}, 2, axis=-1)[..., ::2]",
    "broadcast": "{0} = np.broadcast_to({0}[:1], {0}.shape)",
    "readonly": "{0}.flags.writeable = False",
}
_TENSOR_LAYOUTS = {
    "fortran": "{0} = {0}.permute({1}).contiguous().permute({1})",
    "reversed": "{0} = {0}.permute({1}).contiguous().permute({1})",  # torch has no negative strides
    "strided": "{0} = torch.repeat_interleave({0}, 2, -1)[..., ::2]",
    "broadcast": "{0} = {0}[:1].expand({0}.shape)",
}
Arrays = dict[str, Any]  # numpy arrays by name


class CaseScript(NamedTuple):
    """A script: what makes it one that can be run, and what there is to read."""

    head: str
    body: str
    arrays: Arrays  # to be saved beside it, as .npz
    driver: bytes  # the question's, where the script imports it; else empty
    first_call: int  # line of the whole script

    @property
    def text(self) -> str:
        """All of it."""
        return self.head + self.body

    def files(self, name: str) -> dict[str, bytes]:
        """What has to be in its folder, the script called NAME.py itself last."""
        found = {}
        if self.arrays:
            packed = io.BytesIO()
            np.savez(packed, **self.arrays)
            found[f"{name}.npz"] = packed.getvalue()
        if self.driver:
            found["driver.py"] = self.driver
        return {**found, f"{name}.py": self.text.encode()}


def write_script(
    question: Question,
    run: str,
    inputs: Mapping[str, Mapping[str, Any]],
    results: Sequence[str],
    remark: str,
    expected: Mapping[str, Any] | None = None,
) -> CaseScript:
    """Write the script of a run on a case, its remark on the first line.

    The inputs are as `case_inputs` of `grader.grading.bank_programs` gives them; what is printed are
    these results, else those of the last step; `expected` are numbers and arrays by result, the
    others of which are printed only.
    """
    steps = question.runs[run]
    driven = any(step.owner in {"driver", "judge"} for step in steps)
    driver = question.without_leading_blank_lines(question.driver or b"") if driven else b""
    large: Arrays = {}
    made = [line for name, given in inputs.items() for line in _input(name, given, large)]
    head = f"# {escape_line(' '.join(remark.split()))}\n{_HEAD}"
    if any(step.is_backward for step in steps):
        head += f"import torch\n\n\n{_VJP}"
    shown = results or steps[-1].targets
    ending = [line for name in shown for line in _printed(name, (expected or {}).get(name), large)]
    body = ["import numpy as np", *["import torch"] * question.spec.needs_torch]
    body += ["", *["import driver"] * driven, "import submission"]
    body += ["", "", *_EXPECT.splitlines()] if expected else []
    if large:
        body += ["", 'arrays = np.load(Path(__file__).with_suffix(".npz"))']
    body += ["", *made, ""]
    first_call = (head + "\n".join([*body, ""])).count("\n") + 1
    body += [*map(_call, steps), "", *ending, ""]
    return CaseScript(head, "\n".join(body), large, driver, first_call)


def _printed(name: str, value: object, large: Arrays) -> Iterator[str]:
    """The lines that print a result, and what is expected if that can be written."""
    entries = value if isinstance(value, dict) else {}
    if isinstance(value, (list, tuple)):
        entries = dict(enumerate(value))
    if _is_number(value):
        right = f"right_{re.sub(r'[^0-9A-Za-z_]+', '_', name).strip('_')}"
        yield from _input(right, {"value": value}, large)
        yield f"expect({name!r}, {name}, {right})"
    elif entries and all(map(_is_number, entries.values())):
        for key, entry in entries.items():
            yield from _printed(f"{name}[{key!r}]", entry, large)
    else:
        yield f'print("{name}", {name}, sep="\\n")'
        with suppress(ValueError, SyntaxError):  # arrays within something else
            ast.literal_eval(repr(value))
            if value is not None:
                yield f'print("expected {name}", {value!r}, sep="\\n")'


def _is_number(value: object) -> bool:
    """Whether a result is a number or an array of some, so that it can be written and compared."""
    array = value.values if isinstance(value, Tensor) else value
    return isinstance(array, (bool, int, float)) or (
        isinstance(array, np.ndarray) and array.dtype.kind in "biuf"
    )


def _call(step: Step) -> str:
    """A step as it is written, so that it runs in a script."""
    targets, _, call = (part.strip() for part in " ".join(step.text.split()).partition("="))
    if step.is_backward:
        call += "" if step.unpack else "[0]"
    elif step.owner == "driver":
        name, _, rest = call.partition("(")
        call = f"{name}(submission{'' if rest.startswith(')') else ', '}{rest}"
    elif step.owner == "judge":
        call = f"driver.{call.removeprefix('judge.')}"
    else:
        call = f"submission.{call}"
    return f"{targets} = {call}"


def _input(name: str, given: Mapping[str, Any], large: Arrays) -> Iterator[str]:
    """The lines that make an input; a large array is added to `large`."""
    value = given["value"]
    array = value.values if isinstance(value, Tensor) else value
    if not isinstance(array, np.ndarray):
        finite = not isinstance(array, float) or math.isfinite(array)
        yield f"{name} = {array!r}" if finite else f'{name} = float("{array}")'
        return
    if 0 < array.size <= MAX_ENTRIES:
        yield _written(f"{name} = np.array(", array)
    else:
        large[name] = array
        yield f'{name} = arrays["{name}"]'
    if given.get("tensor"):
        dtype = value.dtype if isinstance(value, Tensor) else array.dtype.name
        other = f".to(torch.{dtype})" if dtype != array.dtype.name else ""
        yield f"{name} = torch.from_numpy({name}){other}"
    layout = given.get("layout", "contiguous")
    broken = array.ndim == 0 or (layout == "broadcast" and not array.shape[0])
    lines = _TENSOR_LAYOUTS if given.get("tensor") else _LAYOUTS
    if layout in lines and not (broken and layout != "readonly"):
        axes = ", ".join(map(str, reversed(range(array.ndim))))
        yield lines[layout].format(name, axes)
    if given.get("grad"):
        yield f"{name}.requires_grad_()"


def _written(before: str, array: np.ndarray[Any, Any]) -> str:
    """An array written out, row by row, in the shortest decimals that give its entries back."""
    with np.printoptions(nanstr="np.nan", infstr="np.inf", floatmode="unique", suppress=False):
        text = np.array2string(array, _WIDTH, separator=", ", prefix=before, threshold=sys.maxsize)
    usual = np.asarray(array.tolist()).dtype == array.dtype
    return f"{before}{text}{'' if usual else f', np.{array.dtype.name}'})"


def module_name(case: str) -> str:
    """What the file of a case is called, without `.py`: a name that can be imported."""
    name = "".join(c if c.isalnum() and c.isascii() else "_" for c in case).strip("_")
    is_free = name.isidentifier() and not keyword.iskeyword(name) and name not in _IMPORTED
    return name if is_free else f"case_{name}"
