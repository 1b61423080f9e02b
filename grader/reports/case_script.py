"""A case as a Python script: its inputs, its calls, and the expected results if they are given.

The candidate runs the script in their own Python.  Data of a bank goes into it only as names and
literals: steps are assignments of calls (`grader.cases.step_syntax`), text becomes a comment of one
line.
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

MAX_ENTRIES = 24  # of an array in the script; larger ones are loaded from a file
_WIDTH = 88
# Modules that scripts import.  The file of a case is in their folder, and must not hide one.
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
# Lines that give an input the memory layout of its case, if it is not contiguous.
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
    """A script: a head that makes it run, and a body to read."""

    head: str
    body: str
    arrays: Arrays  # for the .npz file next to it
    driver: bytes  # of the question; empty if the script does not import it
    first_call: int  # its line in the whole script

    @property
    def text(self) -> str:
        """The whole script."""
        return self.head + self.body

    def files(self, name: str) -> dict[str, bytes]:
        """Return the files of its folder by name; the script itself, NAME.py, is the last."""
        files = {}
        if self.arrays:
            archive = io.BytesIO()
            np.savez(archive, **self.arrays)
            files[f"{name}.npz"] = archive.getvalue()
        if self.driver:
            files["driver.py"] = self.driver
        files[f"{name}.py"] = self.text.encode()
        return files


def write_script(
    question: Question,
    run: str,
    inputs: Mapping[str, Mapping[str, Any]],
    results: Sequence[str],
    remark: str,
    expected: Mapping[str, Any] | None = None,
) -> CaseScript:
    """Write the script of a run (a sequence of steps) on a case, with a remark on the first line.

    The inputs are as `grader.grading.case_inputs` returns them.  The script prints the named
    results (default: those of the last step).  `expected` has the expected results by name, if they
    are given: the script compares numbers and arrays with them, and only prints other values.
    """
    steps = question.runs[run]
    uses_driver = any(step.owner in {"driver", "judge"} for step in steps)
    driver = b""
    if uses_driver:
        driver = question.without_leading_blank_lines(question.driver or b"")
    head = f"# {escape_line(' '.join(remark.split()))}\n{_HEAD}"
    if any(step.is_backward for step in steps):
        head += f"import torch\n\n\n{_VJP}"
    arrays: Arrays = {}  # those that are too large for the script
    input_lines: list[str] = []
    for name, value in inputs.items():
        input_lines += _input_lines(name, value, arrays)
    result_lines: list[str] = []
    for name in results or steps[-1].targets:
        result_lines += _result_lines(name, (expected or {}).get(name), arrays)

    body = ["import numpy as np"]
    if question.spec.needs_torch:
        body.append("import torch")
    body.append("")
    if uses_driver:
        body.append("import driver")
    body.append("import submission")
    if expected:
        body += ["", "", *_EXPECT.splitlines()]
    if arrays:
        body += ["", 'arrays = np.load(Path(__file__).with_suffix(".npz"))']
    body += ["", *input_lines, ""]
    first_call = (head + "\n".join([*body, ""])).count("\n") + 1
    body += [*map(_call_line, steps), "", *result_lines, ""]
    return CaseScript(
        head=head, body="\n".join(body), arrays=arrays, driver=driver, first_call=first_call
    )


def _result_lines(name: str, value: object, arrays: Arrays) -> Iterator[str]:
    """Yield lines that print a result, and the expected value if there is one.

    Numbers and arrays are also compared; large arrays join `arrays`.
    """
    entries = value if isinstance(value, dict) else {}
    if isinstance(value, (list, tuple)):
        entries = dict(enumerate(value))
    if _is_numeric(value):
        right = f"right_{re.sub(r'[^0-9A-Za-z_]+', '_', name).strip('_')}"
        yield from _input_lines(right, {"value": value}, arrays)
        yield f"expect({name!r}, {name}, {right})"
    elif entries and all(map(_is_numeric, entries.values())):
        for key, entry in entries.items():
            yield from _result_lines(f"{name}[{key!r}]", entry, arrays)
    else:
        yield f'print("{name}", {name}, sep="\\n")'
        with suppress(ValueError, SyntaxError):  # arrays inside a container
            ast.literal_eval(repr(value))
            if value is not None:
                yield f'print("expected {name}", {value!r}, sep="\\n")'


def _is_numeric(value: object) -> bool:
    """Return True for a number or an array of numbers, which a script can write and compare."""
    array = value.values if isinstance(value, Tensor) else value
    if isinstance(array, np.ndarray):
        return array.dtype.kind in "biuf"
    return isinstance(array, (bool, int, float))


def _call_line(step: Step) -> str:
    """Return a step as a line of a script: `y = submission.f(x)` for the step `y = f(x)`."""
    targets, _, call = (part.strip() for part in " ".join(step.text.split()).partition("="))
    if step.is_backward:
        if not step.unpack:
            call += "[0]"
    elif step.owner == "driver":
        name, _, arguments = call.partition("(")
        separator = "" if arguments.startswith(")") else ", "
        call = f"{name}(submission{separator}{arguments}"
    elif step.owner == "judge":
        call = f"driver.{call.removeprefix('judge.')}"
    else:
        call = f"submission.{call}"
    return f"{targets} = {call}"


def _input_lines(name: str, spec: Mapping[str, Any], arrays: Arrays) -> Iterator[str]:
    """Yield lines that make an input with its layout; a large array joins `arrays`."""
    value = spec["value"]
    array = value.values if isinstance(value, Tensor) else value
    if not isinstance(array, np.ndarray):
        if isinstance(array, float) and not math.isfinite(array):
            yield f'{name} = float("{array}")'
        else:
            yield f"{name} = {array!r}"
        return
    if 0 < array.size <= MAX_ENTRIES:
        yield _array_literal(f"{name} = np.array(", array)
    else:
        arrays[name] = array
        yield f'{name} = arrays["{name}"]'
    layouts = _LAYOUTS
    if spec.get("tensor"):
        layouts = _TENSOR_LAYOUTS
        dtype = value.dtype if isinstance(value, Tensor) else array.dtype.name
        conversion = f".to(torch.{dtype})" if dtype != array.dtype.name else ""
        yield f"{name} = torch.from_numpy({name}){conversion}"
    layout = spec.get("layout", "contiguous")
    has_no_layout = array.ndim == 0 or (layout == "broadcast" and not array.shape[0])
    if layout in layouts and (layout == "readonly" or not has_no_layout):
        axes = ", ".join(map(str, reversed(range(array.ndim))))
        yield layouts[layout].format(name, axes)
    if spec.get("grad"):
        yield f"{name}.requires_grad_()"


def _array_literal(before: str, array: np.ndarray[Any, Any]) -> str:
    """Return `before` and an array as code: rows of the shortest decimals that are still exact."""
    with np.printoptions(nanstr="np.nan", infstr="np.inf", floatmode="unique", suppress=False):
        text = np.array2string(array, _WIDTH, separator=", ", prefix=before, threshold=sys.maxsize)
    if np.asarray(array.tolist()).dtype != array.dtype:
        text += f", np.{array.dtype.name}"
    return f"{before}{text})"


def module_name(case: str) -> str:
    """Return the stem of a case's file, such as `two_rows` for "two-rows".

    It gets the prefix `case_` if Python could not import it, or if it would hide a module.
    """
    name = re.sub("[^0-9A-Za-z]", "_", case).strip("_")
    is_free = name.isidentifier() and not keyword.iskeyword(name) and name not in _IMPORTED
    return name if is_free else f"case_{name}"
