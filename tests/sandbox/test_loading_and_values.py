"""Odd files, results and exceptions, and what the judge receives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from grader.cases.step_syntax import parse_step
from grader.model.question import Support
from grader.sandbox.client import WorkerClient
from grader.sandbox.messages import ProgramError
from grader.sandbox.remote_program import RemoteProgram
from grader.sandbox.worker.values import describe_arguments
from grader.sandbox.worker.wire import Opaque
from tests.sandbox.running import given, load, run, started, steps

DEF = "import numpy as np\ndef f(x):\n    "


@pytest.fixture(scope="module")
def worker() -> Iterator[WorkerClient]:
    """Yield one worker for all tests, none of which may break it."""
    with started() as one:
        yield one
        assert one.ask({"op": "reportisolation"})["ok"]


def returned(worker: WorkerClient, source: str) -> Any:
    """Return the value that the judge receives for the result of `f`."""
    return run(load(worker, source)).values["y"]


def fault(worker: WorkerClient, source: str, *texts: str) -> ProgramError:
    """Return the error that the judge receives."""
    with pytest.raises(ProgramError) as told:
        run(load(worker, source), *texts)
    return told.value


HOSTILE = """\
class Hostile:
    def __str__(self): raise ValueError("str")
    __repr__ = __len__ = __iter__ = __bool__ = __float__ = __index__ = __hash__ = __str__
    def __reduce__(self): raise ValueError("reduce")
    def __array__(self, *a, **k): raise ValueError("array")
    def __eq__(self, other): raise ValueError("eq")
    def __getattr__(self, name): raise ValueError(name)
"""


MASKED, MATRIX = Opaque("numpy.ma.MaskedArray"), Opaque("numpy.matrix")


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        (DEF + "return True", True),
        (DEF + "return -0.5", -0.5),
        (DEF + "return 10 ** 300", 10**300),
        (DEF + "return -(10 ** 10_000)", Opaque("int of more than 300 digits")),
        (DEF + "return 'caf\\u00e9 \\ud800'", "caf\u00e9 \\ud800"),
        (DEF + "return [1, (2, [3.0]), {'a': None}]", [1, (2, [3.0]), {"a": None}]),
        (DEF + "return {1: 2}", Opaque("dict")),
        (DEF + "return (i for i in x)", Opaque("generator")),
        (DEF + "return 1j", Opaque("complex")),
        (DEF + "return f.__class__", Opaque("type")),
        (DEF + "return np.array([1, None], object)", Opaque("numpy.ndarray of object")),
        (DEF + "return np.longdouble(1)", Opaque("numpy.float128")),
        (DEF + "return [np.ma.masked_all(3), 1]", [MASKED, 1]),
        (DEF + "return np.ma.masked_array(x, [True, False, False])", MASKED),
        (DEF + "return np.ma.masked", MASKED),
        (DEF + "return type('Mine', (np.ma.MaskedArray,), {'__module__': 'numpy', "
               "'__class__': np.ndarray})(x)", MASKED),
        (DEF + "return np.matrix([[1.0]])", MATRIX),
        (DEF + "return np.asmatrix(x)", MATRIX),
        (DEF + "return type('Mine', (np.matrix,), {})(x)", MATRIX),
        ("class C: pass\n" + DEF + "return C()", Opaque("C")),
        ("import enum\nE = enum.IntEnum('E', 'A B')\n" + DEF + "return E.B", 2),
        ("class F(float): pass\n" + DEF + "return F(1.5)", 1.5),
        ("class S(str): pass\n" + DEF + "return S('s')", "s"),
        ("class S(str):\n  def __str__(s): raise ValueError\n" + DEF + "return S('s')", "s"),
        ("class F(float):\n  def __float__(s): raise ValueError\n" + DEF + "return F(1)", 1.0),
        ("class I(int):\n  def __int__(s): raise ValueError\n" + DEF + "return I(7)", 7),
        ("import collections\n" + DEF + "return collections.OrderedDict(a=1)", {"a": 1}),
        ("import collections\n" + DEF + "return collections.namedtuple('T', 'a')(1)", (1,)),
        (HOSTILE + DEF + "return Hostile()", Opaque("Hostile")),
        (HOSTILE + DEF + "return [Hostile()]", [Opaque("Hostile")]),
        ("class C: __module__ = 3\n" + DEF + "return C()", Opaque("3.C")),
    ],
)  # fmt: skip
def test_plain_values_arrive_and_only_the_type_of_others(
    worker: WorkerClient, source: str, expected: object
) -> None:
    if expected == Opaque("numpy.float128") and np.longdouble(0).itemsize != 16:
        pytest.skip("this machine has another long double")
    assert returned(worker, source) == expected


def test_methods_of_a_subclass_of_array_are_not_called(worker: WorkerClient) -> None:
    source = """\
import numpy as np
class A(np.ndarray):
    def __array_finalize__(self, obj): pass
    def view(self, *a, **k): raise ValueError("view")
    def copy(self, *a, **k): raise ValueError("copy")
    def __array__(self, *a, **k): raise ValueError("array")
    def __len__(self): raise ValueError("len")
    def tobytes(self): raise ValueError("tobytes")
    def __array_ufunc__(self, *a, **k): raise ValueError("ufunc")
    def __getattribute__(self, name): raise ValueError(name)
def f(x):
    return np.ndarray.__new__(A, (2,), buffer=np.array([1.0, 2.0]))
"""
    found = returned(worker, source)
    assert type(found) is np.ndarray
    assert found.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(("depth", "flat"), [(5, True), (30, False), (900, False)])
def test_values_that_are_nested_too_deep_are_cut_off(
    worker: WorkerClient, depth: int, flat: bool
) -> None:
    source = DEF + f"y = []\n    for _ in range({depth}): y = [y]\n    return y"
    found = returned(worker, source)
    levels = 0
    while isinstance(found, list) and found:
        found, levels = found[0], levels + 1
    assert (found == []) is flat
    assert levels == depth if flat else found == Opaque("list")


@pytest.mark.parametrize(
    ("expression", "said"),
    [
        ("list(range(100_000))", "more than 20,000 values"),
        ("{str(i): i for i in range(25_000)}", "more than 20,000 values"),
        ("np.zeros((1,) * 9)", "an array of 9 dimensions, at most 8 allowed"),
        ("['x' * 60_000] * 40", "1,048,576 allowed"),
        ("None", "f returned None, expected 2 results (y, z)"),
        ("x", "f returned one numpy.ndarray, expected 2 results (y, z)"),
        ("{'a': 1, 'b': 2}", "f returned one dict, expected 2 results (y, z)"),
        ("(1,)", "f returned a tuple of 1, expected 2 results (y, z)"),
        ("[1, 2, 3]", "f returned a list of 3, expected 2 results (y, z)"),
    ],
)
def test_unusable_results_are_the_programs_fault(
    worker: WorkerClient, expression: str, said: str
) -> None:
    step = "y, z = f(x)" if said.endswith("(y, z)") else ""
    told = fault(worker, DEF + f"return {expression}", *filter(None, [step]))
    assert told.raised is None
    assert told.step == (parse_step(step) if step else None)
    assert told.message.startswith(said if step else "the result cannot be sent: ")
    assert said in told.message


@pytest.mark.parametrize(
    ("raised", "kind", "message"),
    [
        ("raise ValueError('no good')", "ValueError", "no good"),
        ("return x[9]", "IndexError", "index 9 is out of bounds for axis 0 with size 3"),
        ("sys.exit(0)", "SystemExit", "the code called sys.exit(0)"),
        ("raise KeyboardInterrupt", "KeyboardInterrupt", ""),
        ("raise MemoryError", "MemoryError", ""),
        ("raise Silent", "Silent", "(its text cannot be shown)"),
        ("raise ValueError('x' * 10 ** 7)", "ValueError", "x" * 2000),
        ("raise ExceptionGroup('many', [ValueError('a')])", "ExceptionGroup", "many (1 sub"),
        ("raise ValueError('\\ud800')", "ValueError", "\\ud800"),
        ("return f(x)", "RecursionError", "maximum recursion depth exceeded"),
        ("raise 3", "TypeError", "exceptions must derive from BaseException"),
        ("return next(iter([]))", "StopIteration", ""),
        ("return x.reshape(2)", "ValueError", "cannot reshape array of size 3 into shape (2,)"),
        ("return f(x, x)", "TypeError", "f() takes 1 positional argument but 2 were given"),
    ],
)  # fmt: skip
def test_an_exception_arrives_as_type_text_and_frames_of_the_program(
    worker: WorkerClient, raised: str, kind: str, message: str
) -> None:
    source = f"""\
import sys
class Silent(Exception):
    def __str__(self): raise SystemExit
class Named(Exception):
    pass
def f(x):
    {raised}
"""
    told = fault(worker, source)
    assert told.raised is not None
    assert (told.raised.type, told.step) == (kind, parse_step("y = f(x)"))
    assert told.raised.message.startswith(message)
    assert len(told.raised.message) <= 2000
    assert [(f.line, f.function, f.source) for f in told.raised.frames[-1:]] == [(7, "f", raised)]
    assert len(told.raised.frames) <= 6


@pytest.mark.parametrize(
    "source",
    [
        "class H:\n  @property\n  def __class__(s): raise ValueError('cls')\n"
        "def f(x):\n  return H()",
        "class H(list):\n  def __iter__(s): raise ValueError\ndef f(x):\n  return H()",
        "class H(dict):\n  def __iter__(s): raise ValueError\ndef f(x):\n  return H()",
        "class Q:\n  def __repr__(s): raise ValueError\ndef f(x):\n  raise SystemExit(Q())",
        "class Q(str):\n  def __getitem__(s, i): raise ValueError\n"
        "class E(Exception):\n  def __str__(s): return Q('q')\ndef f(x):\n  raise E",
        "class M(type):\n  def __getattribute__(s, n): raise SystemExit\n"
        "class E(Exception, metaclass=M): pass\ndef f(x):\n  raise E",
    ],
    ids=["class", "list", "dict", "exit-code", "text", "type"],
)
def test_a_result_that_raises_when_it_is_copied_is_reported_as_raising(
    worker: WorkerClient, source: str
) -> None:
    told = fault(worker, source)
    assert told.raised is not None
    assert told.raised.type == "ValueError" or "return H" not in source
    assert all(frame.line <= 6 for frame in told.raised.frames)


def test_a_reply_lists_the_functions_of_a_file(worker: WorkerClient) -> None:
    source = b"g = 3\ndef h(): pass\nclass K: pass\n_hidden = h\nfrom os import getcwd\n"
    program = RemoteProgram(worker, "submission", [source])
    found = program.load(["f", "g", "h", "getcwd"])
    assert found.missing == ("f",)
    assert found.uncallable == (("g", "int"),)
    assert found.defined == ("h", "K")


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbfdef f(x):\r\n    return x\r\n",
        b"def f(x):\r    return x\r",
        b"\f\ndef f(x):\n    return x\n\n\x0c",
        b"# coding: latin-1\n# \xe9\ndef f(x): return x\n",
        b"from functools import partial\ndef g(x, n): return x\nf = partial(g, n=1)\n",
        b"class F:\n    def __call__(self, x): return x\nf = F()\n",
        b"f = lambda x: x\nif __name__ == '__main__': raise SystemExit\n",
        b"from dataclasses import dataclass\n@dataclass\nclass D:\n    x: object\n"
        b"def f(x): return D(x).x\n",
        b"from __future__ import annotations\nimport inspect\n"
        b"def f(x): inspect.getsource(f); return x\n",
    ],
)  # fmt: skip
def test_files_written_in_any_usual_way_work(worker: WorkerClient, source: bytes) -> None:
    program = RemoteProgram(worker, "submission", [source])
    assert program.load(["f"]).missing == ()
    assert run(program).values["y"].tolist() == [0, 1, 2]


def test_layers_share_one_namespace_and_leave_other_programs_alone(worker: WorkerClient) -> None:
    base = b"def helper(x): return x\ndef f(x): return helper(x)\n"
    plain = RemoteProgram(worker, "plain", [base])
    layered = RemoteProgram(worker, "layered", [base, b"def helper(x): return -x\n"])
    plain.load(["f"])
    layered.load(["f"])
    assert run(layered).values["y"].tolist() == [0, -1, -2]
    assert run(plain).values["y"].tolist() == [0, 1, 2]


def test_a_driver_receives_the_program(worker: WorkerClient) -> None:
    driver = b"def twice(program, x, times=1):\n    return program.f(program.f(x)) * times\n"
    program = RemoteProgram(worker, "driven", [b"def f(x): return x + 1\n"], Support(driver))
    program.load(["f"])
    assert run(program, "y = driver.twice(x, times=2)").values["y"].tolist() == [4, 6, 8]


def test_inputs_of_every_kind_reach_the_function(worker: WorkerClient) -> None:
    program = load(worker, "def f(*a, **k): return [repr(v) for v in a], repr(sorted(k))")
    inputs = given(n=None, b=True, i=2**70, s="text", r=0.1)
    found = run(
        program, "y, k = f(n, b, i, s, r, 1, key=s, other=None)", inputs=inputs, want=["y", "k"]
    )
    assert found.values["y"] == ["None", "True", str(2**70), "'text'", "0.1", "1"]
    assert found.values["k"] == "['key', 'other']"


def test_a_list_argument_is_a_new_list_for_each_call(worker: WorkerClient) -> None:
    body = (
        "def f(many, *, more): many.append(9); x = many[0]; x += 1; return [repr(many), repr(more)]"
    )
    program = load(worker, body)
    inputs = given(x=np.zeros(1), n=3)
    texts = "a = f([x, n, 'k', None], more=[])", "b = f([x, n], more=[n])"
    found = program.run(steps(*texts), inputs, ["a", "b"])
    assert found.values["a"] == ["[array([1.]), 3, 'k', None, 9]", "[]"]
    assert found.values["b"] == ["[array([2.]), 3, 9]", "[3]"]
    assert found.changed == ((0, "x"),)


def test_arguments_are_described_unless_the_function_assigns_them() -> None:
    def called(x: Any, parts: Any, n: int, *, mixed: Any, other: Any) -> str:
        other = other + 1
        return describe_arguments(sys._getframe())

    x = np.zeros((2, 3), np.float32)
    assert called(x, [x, x], 3, mixed=(x, None), other=1) == (
        "x (2, 3) float32, parts: list of 2 arrays (2, 3) float32, n 3, mixed: tuple of 2"
    )


def test_an_array_of_nones_is_none(worker: WorkerClient) -> None:
    assert returned(worker, DEF + "return np.array([None, None])") is None
