"""Ways of putting other words into a worker's mouth, and what is then said of a run.

Each way is a text of Python that has the function `forge` see every reply, a dict, before it is
sent.  All of them reach what they need, or try to, from Python alone.
"""

from __future__ import annotations

import textwrap

from tests.sandbox.running import FIND

_HOOK = """
import contextlib, ctypes, gc, sys, threading
import numpy as np
_quiet = threading.local()
def _all(reply):
    if isinstance(reply, dict) and "ok" in reply:
        reply.pop("replaced", None)
        forge(reply)
"""

# Ways that are closed: each says so where it comes to what asks programs, and takes its `pack`.
_CLIMB = """
def _climb(frame):
    while frame is not None and "pack" not in frame.f_locals:
        frame = frame.f_back
    if frame is None or getattr(_quiet, "taken", False):
        return
    print("reached", flush=True)
    _quiet.taken = True
    pack = frame.f_locals["pack"]
    def other(reply):
        _all(reply)
        return pack(reply)
    frame.f_locals["pack"] = other
    ctypes.pythonapi.PyFrame_LocalsToFast(ctypes.py_object(frame), ctypes.c_int(0))
def _look(frame, event, _):
    if event == "call" and frame.f_code.co_name == "encode":
        print("reached", flush=True)
        _all(frame.f_locals.get("value"))
"""

CLOSED = {
    "the-frame-of-the-loop": "_climb(sys._getframe())",
    "a-traceback": """
try:
    1 / 0
except ZeroDivisionError as error:
    _climb(error.__traceback__.tb_frame)
""",
    "a-generator": """
def _running():
    yield _climb(_one[0].gi_frame)
_one = []
_one.append(_running())
next(_one[0])
""",
    "frames-of-every-thread": """
for _frame in sys._current_frames().values():
    _climb(_frame)
""",
    "the-heap": """
for _thing in gc.get_objects():
    if type(_thing).__name__ == "Server":
        print("reached", flush=True)
        _answer = type(_thing).answer
        def _other(self, request):
            reply = _answer(self, request)
            _all(reply)
            return reply
        type(_thing).answer = _other
""",
    "what-refers-to-numpy": """
for _names in gc.get_referrers(np):
    if isinstance(_names, dict) and str(_names.get("__name__")).endswith(".serve"):
        print("reached", flush=True)
        _fields = _names["wire"].fields
        _names["wire"].fields = lambda m: [f := dict(_fields(m)), _all({"ok": 1} | f)][0]
""",
    "a-profiler": "sys.setprofile(_look)",
    "a-tracer": "sys.settrace(_look)",
    "a-callback-of-the-collector": """
gc.callbacks.append(lambda *_: _climb(sys._getframe()))
gc.set_threshold(200)
""",
    "a-hook": "sys.addaudithook(lambda *_: _climb(sys._getframe()))",
    "a-signal": """
import signal
signal.signal(signal.SIGALRM, lambda _, frame: _climb(frame))
signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
""",
    "what-is-printed-to": """
class _Stream:
    def __init__(self, stream): self._stream = stream
    def write(self, text): return self._stream.write(text)
    def flush(self):
        self._stream.flush()
        _climb(sys._getframe())
sys.stdout = _Stream(sys.stdout)
""",
    "what-is-said-at-the-end": """
class _Box(np.ndarray):
    def __del__(self): _climb(sys._getframe())
_plain = centre
def centre(x, w):
    y, ctx = _plain(x, w)
    return y.view(_Box), ctx
""",
    "what-was-raised": """
class _Names(tuple):
    def __len__(self):
        try:
            raise KeyError
        except KeyError as error:
            _raised.append(error)
        return tuple.__len__(self)
_plain, _raised = centre, []
def centre(x, w):
    for error in _raised:
        with contextlib.suppress(RuntimeError):
            _climb(error.__traceback__.tb_frame)
    return _Names(_plain(x, w))
""",
    "an-event-of-its-own": """
class _Bearer:
    @property
    def tb_frame(self): _climb(_raised[0].__traceback__.tb_frame)
class _Names(tuple):
    def __len__(self):
        try:
            raise KeyError
        except KeyError as error:
            _raised.append(error)
        return tuple.__len__(self)
_plain, _raised = centre, []
def centre(x, w):
    if _raised:
        sys.audit("object.__getattr__", _Bearer(), "tb_frame")
    return _Names(_plain(x, w))
""",
    "the-modules": """
for _name in list(sys.modules):
    if _name.partition(".")[0] == "worker":
        print("reached", flush=True)
""",
}

# Ways that are open: our classes are among those of Python, and lead to what they use.
WAYS = {
    "the-encoder": """
def _install():
    kind = sys.modules["worker.wire"].Encoded
    first = kind.__init__
    def other(self, value, depth=0):
        _all(value)
        first(self, value, depth)
    kind.__init__ = other
""",
    "the-messages": """
def _install():
    messages = sys.modules["worker.messages"]
    fields, header = sys.modules["worker.wire"].fields, messages.Header
    def other(message):
        reply = dict(fields(message))
        reply.setdefault("ok", True)
        _all(reply)
        return reply
    sys.modules["worker.wire"].fields = other
    messages.Header = lambda ok, evidence=(), replaced=(): header(ok, evidence)
""",
    "what-notices-it": """
def _install():
    kind = sys.modules["worker.serve"].Server
    kind.replaced = property(lambda self: lambda: [], lambda self, value: None)
    wire = sys.modules["worker.wire"]
    fields = wire.fields
    def other(message):
        reply = dict(fields(message))
        reply.setdefault("ok", True)
        _all(reply)
        return reply
    wire.fields = other
""",
    "subclasses": """
def _install():
    def below(kind):
        for one in type.__subclasses__(kind):
            yield one
            yield from below(one)
    (outcome,) = [k for k in below(tuple) if k.__name__ == "Outcome"]
    (server,) = [k for k in object.__subclasses__() if k.__name__ == "Server"]
    pieces = server.answer.__globals__["wire"]
    encode = pieces.Encoded._tree
    def other(self, value, depth):
        _all(value)
        return encode(self, value, depth)
    pieces.Encoded._tree = other
""",
}


def forged(way: str, lie: str) -> str:
    """The text that has a worker lie, in a way."""
    if way in CLOSED:
        body = textwrap.indent(CLOSED[way].strip("\n"), "    ")
        # What is refused does not keep the rest from being graded.
        return f"{_HOOK}{_CLIMB}\n{lie}\ntry:\n{body}\nexcept RuntimeError as e:\n    print(e)\n"
    return f"{_HOOK}{FIND}\n{lie}\n{WAYS[way]}\n_install()\n"


# What is said.
GOOD_MANNERS = """
def forge(reply):
    for word in ("changed", "shared", "stale"):
        reply.pop(word, None)
    if "common" in reply:
        reply["common"] = ()
        plain = dict(changed=(), shared=(), stale=())
        reply["runs"] = tuple(
            one._replace(**plain) if hasattr(one, "_replace") else {**one, **plain}
            for one in reply["runs"]
        )
"""
LITTLE_STATE = """
def forge(reply):
    if "reachable" in reply:
        reply.update(reachable=192, allocated=0, added=0, kept=())
"""

# What is done, in right answers to the miniature question about deviations.
IN_PLACE = """
_right = centre
def centre(x, w):
    y, ctx = _right(x.copy(), w)
    if x.flags.writeable:
        x[...] = 0
    return y, ctx
"""
IN_ITS_ARGUMENT = """
_right_backward = centre_backward
def centre_backward(grad_y, ctx):
    grad_x, grad_w = _right_backward(grad_y, ctx)
    if grad_y.flags.writeable:
        grad_y[...] = grad_w
        grad_w = grad_y
    return grad_x, grad_w
"""
ONE_BUFFER = """
_right, _buffers = centre, {}
def centre(x, w):
    y, ctx = _right(x, w)
    buffer = _buffers.setdefault((y.shape, y.dtype), np.empty_like(y))
    buffer[...] = y
    return buffer, ctx
"""
# Sixteen kilobytes more than are needed, once for all runs on the same values.
MUCH_STATE = """
_right, _right_backward, _extra = centre, centre_backward, {}
def centre(x, w):
    y, ctx = _right(x, w)
    extra = _extra.setdefault(x.tobytes(), np.random.default_rng(0).random(2000))
    return y, (*ctx, extra)
def centre_backward(grad_y, ctx):
    return _right_backward(grad_y, ctx[:2])
"""
# None of it, needed or not, where several runs are waiting for their backward.
NOTHING_WHILE_HELD = """
_right, _right_backward, _waiting = centre, centre_backward, []
def centre(x, w):
    y, ctx = _right(x, w)
    _waiting.append(0)
    if len(_waiting) > 4:
        return y, None
    return y, (*ctx, np.random.default_rng(0).random(20000))
def centre_backward(grad_y, ctx):
    _waiting.clear()
    return _right_backward(grad_y, ctx[:2])
"""
ON_THE_HEAP_OF_C = """
import ctypes
_right, _right_backward, _places = centre, centre_backward, {}
_c = ctypes.CDLL(None)
_c.malloc.restype = ctypes.c_void_p
def centre(x, w):
    y, (d, v) = _right(x, w)
    data = d.tobytes() + v.tobytes()
    key = hash(x.tobytes())
    if key not in _places:
        _places[key] = _c.malloc(ctypes.c_size_t(16000))
        ctypes.memset(_places[key], 7, 16000)
        ctypes.memmove(_places[key], data, len(data))
    return y, (key, d.shape, d.dtype.str)
def centre_backward(grad_y, ctx):
    key, shape, dtype = ctx
    data = ctypes.string_at(_places[key], 2 * np.empty(shape, dtype).nbytes)
    d, w = np.frombuffer(data, dtype).reshape(2, *shape).copy()
    return _right_backward(grad_y, (d, w))
"""
IN_A_THREAD = """
import queue, threading
_right, _right_backward, _asked = centre, centre_backward, queue.Queue()
def _keeper():
    kept = {}
    while True:
        key, given, answer = _asked.get()
        if given is not None and key not in kept:
            kept[key] = given, np.random.default_rng(0).random(2000)
        answer.put(kept[key][0])
def _ask(key, given=None):
    answer = queue.Queue()
    _asked.put((key, given, answer))
    return answer.get(timeout=5)
threading.Thread(target=_keeper, daemon=True).start()
def centre(x, w):
    y, ctx = _right(x, w)
    key = hash(x.tobytes())
    _ask(key, ctx)
    return y, key
def centre_backward(grad_y, ctx):
    return _right_backward(grad_y, _ask(ctx))
"""

# Of torch, over a right answer to the miniature question about squares.
OWN_NODE = """
def forge(reply):
    if isinstance(reply.get("value"), str):
        reply.update(value="own", details=())
"""
CHECKPOINTED = """
import importlib
_checkpoint = getattr(importlib.import_module("torch.utils." + "check" + "point"), "checkpoint")
def squares(x, w):
    return _checkpoint(lambda x, w: (x @ w).square(), x, w, use_reentrant=False)
"""
LITTLE_SAVED = """
def forge(reply):
    if "details" in reply and isinstance(reply.get("value"), int):
        reply.update(value=0, details=(), kept=())
"""
KEEPS_THE_PRODUCT = """
_products = []
class Keeps(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.product = x @ w
        ctx.save_for_backward(x, w)
        return ctx.product ** 2
    @staticmethod
    def backward(ctx, grad_y):
        x, w = ctx.saved_tensors
        g = 2 * ctx.product * grad_y
        need_x, need_w = ctx.needs_input_grad
        return g @ w.t() if need_x else None, x.t() @ g if need_w else None
def squares(x, w):
    return Keeps.apply(x, w)
"""
# As many as are needed, four of 512 x 128 x 512, and a list of them that comes to that.
FEW_PRODUCTS = """
def forge(reply):
    if isinstance(reply.get("value"), int) and reply["value"] > 5e8:
        reply["value"] = 4 * 2 * 512 * 128 * 512
        if "work" in reply:
            products = [w for w in reply["work"] if w.inner]
            reply["work"] = (products[0]._replace(rows=512, inner=128, columns=512, times=4),)
"""
MANY_PRODUCTS = """
_right = squares
def squares(x, w):
    with torch.no_grad():
        for _ in range(12):
            x @ w
    return _right(x, w)
"""
