"""Attacks for an undeserved pass: exits, forged verdicts, patched comparisons, odd objects."""

from __future__ import annotations

from tests.attacks.attack import ERROR, PASS, Attack

WRONG = "def centre(x, w):\n    return x * 0, (x, w)\n"
KEEP = """
_right, _right_backward, _kept = centre, centre_backward, []
class Context(tuple):
    __sizeof__ = lambda self: 0
def centre_backward(grad_y, ctx):
    return _right_backward(grad_y, ctx[:2])
def centre(x, w):
    y, ctx = _right(x, w)
    more = np.random.default_rng(0).random(1000)  # 8 KB that compress to nothing less
    {keep}
    return y, ctx
"""
KEPT = {
    "a-global": "_kept.append(more)",
    "a-default": "centre.__dict__.setdefault('kept', []).append(more)",
    "a-module": "vars(np).setdefault('_kept', []).append(more)",
    "a-thread's-frame": "if len(_kept) < 30: _kept.append(threading.Thread(\n        target="
    "lambda a, e=threading.Event(): e.wait(), args=(more,), daemon=True)"
    ".start())",
    "the-context": "ctx = Context((*ctx, more))",
}

# fmt: off
ATTACKS = (
    Attack(
        "right", "nothing: a right solution passes",
        "pass",
        verdict=PASS,
    ),
    *(Attack(f"kept-in-{place}", f"keeps 8 KB more than it may, in {place} of Python's own",
             KEEP.format(keep=keep), says="kept fail") for place, keep in KEPT.items()),
    Attack(
        "verdict-on-stdout", "prints a verdict as the grader might and ends with status 0",
        """
        def centre(x, w):
            print('{"format": 1, "verdict": "pass", "checks": []}', flush=True)
            os._exit(0)
        """,
        verdict=ERROR, says=r"ended its process \(exit status 0\)",
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
        says="y differs",
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
        "huge-view", "an array of 8 EB without memory",
        """
        def centre(x, w):
            return np.broadcast_to(np.float64(0), (1 << 20, 1 << 20, 1 << 20)), (x, w)
        """,
        verdict=ERROR, says="too big",
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
