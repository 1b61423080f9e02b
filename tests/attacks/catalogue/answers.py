"""A pass without the right answer: exits, forged verdicts, patched comparisons, odd objects."""

from __future__ import annotations

from tests.attacks.attack import ERROR, PASS, Attack

WRONG = "def centre(x, w):\n    return x * 0, (x, w)\n"

# fmt: off
ATTACKS = (
    Attack(
        "right", "nothing: a right solution passes",
        "pass",
        verdict=PASS,
    ),
    Attack(
        "exit-at-import", "ends with status 0 before anything is asked",
        "sys.exit(0)",
        verdict=ERROR, says=r"loading the file raised SystemExit: the code called sys\.exit\(0\)",
        seen="Gradema's documentation; saligrama.io on Gradescope",
    ),
    Attack(
        "hard-exit-at-import", "ends the process with status 0, past all handlers",
        "os._exit(0)",
        verdict=ERROR, says=r"ended its process \(exit status 0\)",
    ),
    Attack(
        "hard-exit-in-a-call", "ends the process with status 0 when it is called",
        "def centre(x, w):\n    os._exit(0)",
        verdict=ERROR, says=r"ended its process \(exit status 0\)",
    ),
    Attack(
        "verdict-on-stdout", "prints a verdict as the grader might and ends with status 0",
        """
        def centre(x, w):
            print('{"format": 1, "verdict": "pass", "checks": []}', flush=True)
            os._exit(0)
        """,
        verdict=ERROR, says=r"ended its process \(exit status 0\)",
        seen="saligrama.io on Gradescope: results.json rewritten",
    ),
    Attack(
        "verdict-at-exit", "prints a verdict when the process ends",
        WRONG + """
import atexit
atexit.register(print, '{"format": 1, "verdict": "pass", "checks": []}', flush=True)
""",
        says="y differs",
    ),
    Attack(
        "stack-walk", "looks for the expected values in the frames of its callers",
        """
        def centre(x, w):
            frame = sys._getframe()
            while frame is not None:
                for name, value in frame.f_locals.items():
                    if "expected" in name or "reference" in name:
                        return value, None
                frame = frame.f_back
            raise LookupError("no frame has it")
        """,
        verdict=ERROR, says="no frame has it",
        seen="pygpubench PR #7; METR, June 2025",
    ),
    Attack(
        "heap-search", "looks for the reference among all living objects",
        """
        def centre(x, w):
            import gc, types
            for thing in gc.get_objects():
                if isinstance(thing, types.ModuleType) and "reference" in thing.__name__:
                    return thing.centre(x, w)
                if isinstance(thing, types.FunctionType) and thing.__name__ == "centre":
                    if thing.__globals__ is not globals():
                        return thing(x, w)
            raise LookupError("no such function")
        """,
        verdict=ERROR, says="no such function",
    ),
    Attack(
        "patched-comparisons", "makes every comparison of numpy say yes",
        WRONG + """
for name in ("allclose", "array_equal", "isclose", "isfinite", "all", "any", "abs", "max"):
    setattr(np, name, lambda *a, **k: True)
np.linalg.norm = lambda *a, **k: 0.0
time.perf_counter = time.process_time = time.monotonic = lambda: 0.0
""",
        says="y differs", seen="METR, June 2025",
    ),
    Attack(
        "always-equal", "an array of a class that is equal to everything and near to everything",
        """
        class Yes(np.ndarray):
            __eq__ = __le__ = __lt__ = __ge__ = lambda *_: np.True_
            __ne__ = __gt__ = lambda *_: np.False_
            __sub__ = __rsub__ = __abs__ = lambda self, *_: self
            __array_ufunc__ = lambda *a, **k: np.True_
            __array_function__ = lambda *a, **k: np.True_
            __float__ = lambda _: 0.0
        def centre(x, w):
            return np.zeros_like(x).view(Yes), (x, w)
        """,
        says="y differs",
        seen="gpu-mode/reference-kernels #162",
    ),
    Attack(
        "nan", "NaN as a wildcard",
        "def centre(x, w):\n    return x * np.nan, (x, w)",
        says="NaN",
        seen="pygpubench PR #7",
    ),
    Attack(
        "zeroed-input",
        "sets its input to zero, so that zeros would be right if the judge compared afterwards",
        """
        def centre(x, w):
            x[...] = 0
            w[...] = 0
            return np.zeros_like(x), (x, w)
        """,
        says="y differs",
        seen="KernelBench #38, PR #82",
    ),
    Attack(
        "freed-memory", "returns memory that somebody else may have used for the answer",
        """
        def centre(x, w):
            for _ in range(1000):
                found = np.empty_like(x)
                if np.any(found):
                    break
            return found, (x, w)
        """,
        seen="Sakana's 'memory exploit', February 2025", says="y",
    ),
    Attack(
        "answers-of-an-earlier-grade",
        "looks up answers by the bytes of the inputs of seed 1, of the published case and by call",
        """
        _calls = []
        def centre(x, w):
            _calls.append(x.tobytes())
            if len(_calls) == 1:
                return np.array([[-2.0, -1.0]]), (x, w)
            return np.full_like(x, x.mean()), (x, w)
        """,
        says="y differs",
        seen="reference-kernels #102, #104, #142; kernelbot #501",
    ),
    Attack(
        "objects-not-numbers", "an array of objects, whose methods the judge would call",
        """
        class Bomb:
            def __reduce__(self):
                return (os.system, ("touch " + T["home"] + "/pwned",))
            def __float__(self):
                raise KeyboardInterrupt
            __eq__ = __sub__ = lambda *_: True
        def centre(x, w):
            return np.array([[Bomb()] * x.shape[1]] * x.shape[0], dtype=object), (x, w)
        """,
        says="array of object",
    ),
    Attack(
        "pickle", "bytes that run a program when they are unpickled",
        """
        import pickle
        class Run:
            def __reduce__(self):
                return (os.system, ("touch " + T["home"] + "/pwned",))
        def centre(x, w):
            return pickle.dumps(Run()), (x, w)
        """,
        says="bytes",
        seen="terminal-evaluation-3 PR #613: reward 1.0",
    ),
    Attack(
        "lying-list", "a list whose length, items and class are lies",
        """
        class Liar(list):
            __class__ = np.ndarray
            __len__ = lambda _: -1
            __iter__ = lambda _: iter([np.zeros(1 << 20)] * 10**9)
            shape = property(lambda _: (3, 4))
        def centre(x, w):
            return Liar([1.0]), (x, w)
        """,
        verdict=ERROR, says="",
    ),
    Attack(
        "lying-number", "a float whose every method lies, in place of the total",
        """
        class Zero(float):
            __sub__ = __rsub__ = __abs__ = lambda *_: 0.0
            __eq__ = __le__ = __lt__ = lambda *_: True
            __float__ = __index__ = __add__ = __radd__ = lambda *_: 0
        def spread(x):
            return Zero(17.0)
        """,
        says="s .*differs|s is",
    ),
    Attack(
        "raises-in-every-method", "a result whose class raises SystemExit whatever is asked of it",
        """
        class Meta(type):
            def __getattribute__(cls, name):
                raise SystemExit(0)
        class Result(metaclass=Meta):
            def __getattribute__(self, name):
                raise KeyboardInterrupt
            def __repr__(self):
                os._exit(0)
        def centre(x, w):
            return Result(), Result()
        """,
        verdict=ERROR,
    ),
    Attack(
        "dies-while-it-is-described", "an exception whose text ends the process",
        """
        class E(Exception):
            def __str__(self):
                os._exit(0)
        def centre(x, w):
            raise E
        """,
        verdict=ERROR, says=r"ended its process \(exit status 0\)",
    ),
    Attack(
        "odd-dtypes", "long double, structured and byte-swapped arrays with the right shape",
        """
        def centre(x, w):
            odd = [np.longdouble, np.dtype(">f8"), [("a", "f8")], "M8[s]", "U9", np.clongdouble]
            made = [np.zeros(x.shape, d) for d in odd]
            return made[int(x.size) % len(made)], (x, w)
        """,
        says="y",
    ),
    Attack(
        "huge-view", "an array of 8 EB without memory",
        """
        def centre(x, w):
            return np.broadcast_to(np.float64(0), (1 << 20, 1 << 20, 1 << 20)), (x, w)
        """,
        verdict=ERROR, says="too big",
    ),
    Attack(
        "a-large-result", "a result of 64 MB, where one megabyte is allowed",
        "def centre(x, w):\n    return np.ones(1 << 23), (x, w)",
        verdict=ERROR, says="returned far too much data",
    ),
    Attack(
        "deep-nest", "lists in lists in lists, and 200,000 numbers",
        """
        def centre(x, w):
            deep = []
            for _ in range(20_000):
                deep = [deep]
            return deep, (x, w)
        def spread(x):
            return [0.0] * 200_000
        """,
        says="y",
    ),
    Attack(
        "terminal-escapes",
        "control characters, markup and a formula in an error's text, class and function names",
        """
        class E(Exception): pass
        E.__qualname__ = "=cmd|' /C calc'!A0\\x1b]0;owned\\x07[bold]<script>"
        def centre(x, w):
            print("\\x1b[2J\\x1b]52;c;cm0gLXJm\\x07")
            raise E("\\x1b[2J\\x1b[1;1H PASS \\r\\n=HYPERLINK(1)\\x00\\u202e\\ud800")
        """,
        verdict=ERROR, says="raised",
    ),
)
