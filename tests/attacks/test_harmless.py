"""The walls allow what right solutions do, and a sentence explains each refusal."""

from __future__ import annotations

import importlib.util

import numpy as np
import pytest

from grader.sandbox.client import WorkerClient
from grader.sandbox.messages import ProgramError
from grader.sandbox.spawn import Zygote
from tests.sandbox.running import given, load, run

HAS_TORCH = importlib.util.find_spec("torch") is not None
NEEDS_TORCH = pytest.mark.skipif(not HAS_TORCH, reason="needs torch")

NUMPY = {
    "einsum": "return np.einsum('i,j->ij', x, x, optimize=True)[1] * 0 + x",
    "tensordot": "return np.tensordot(np.eye(3), x, 1)",
    "windows": "return np.lib.stride_tricks.sliding_window_view(x, 2).sum() * 0 + x",
    "strides": "return np.lib.stride_tricks.as_strided(x, (3,), (8,)).copy()",
    "decompositions": """
        a = np.diag([1.0, 2.0, 3.0])
        np.linalg.svd(a); np.linalg.eigh(a); np.linalg.cholesky(a); np.linalg.lstsq(a, x, None)
        return np.linalg.inv(a) @ a @ x""",
    "fft": "return np.fft.ifft(np.fft.fft(x)).real",
    "random": """
        import random, secrets, uuid
        rng = np.random.default_rng(1); rng.standard_normal(10); np.random.rand(3)
        random.random(); secrets.token_hex(); uuid.uuid4()
        return x.copy()""",
    # As many as an executor starts by itself on a machine of 28 processors and more.
    "many-threads": """
        from concurrent.futures import ThreadPoolExecutor
        import threading
        together = threading.Barrier(32)
        def work(i):
            together.wait(20)
            np.dot(np.ones((64, 64)), np.ones((64, 64)))
            return len([str(n) * 500 for n in range(20)])
        with ThreadPoolExecutor(32) as pool:
            assert sum(pool.map(work, range(32))) == 640
        return x.copy()""",
    "temporary-files": """
        import os, tempfile, shutil
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryFile() as anonymous:
            anonymous.write(b"x")
            path = os.path.join(folder, "deep", "er")
            os.makedirs(path)
            np.save(os.path.join(path, "a.npy"), x)
            os.replace(os.path.join(path, "a.npy"), os.path.join(path, "b.npy"))
            mapped = np.load(os.path.join(path, "b.npy"), mmap_mode="c")
            result = np.array(mapped)
            del mapped
            with tempfile.NamedTemporaryFile(dir=folder) as named: named.write(b"x")
            shutil.rmtree(os.path.join(folder, "deep"))
        return result""",
    "standard-library": """
        import array, bisect, collections, contextlib, copy, dataclasses, datetime
        import decimal, enum, fractions
        import functools, hashlib, heapq, inspect, io, itertools, json, logging, math
        import operator, pickle
        import re, statistics, string, struct, textwrap, types, typing, unittest, warnings
        import zlib, zoneinfo
        import ctypes, locale, platform, sqlite3, csv, asyncio, queue, difflib, gzip, base64, abc
        hashlib.sha256(b"x").hexdigest(); hashlib.scrypt(b"x", salt=b"y", n=2, r=1, p=1)
        zoneinfo.ZoneInfo("UTC"); decimal.Decimal(1).sqrt(); fractions.Fraction(1, 3)
        db = sqlite3.connect(":memory:"); db.execute("CREATE TABLE t (a)")
        db.execute("INSERT INTO t VALUES (1)")
        assert db.execute("SELECT a FROM t").fetchall() == [(1,)]
        pickle.loads(pickle.dumps(x)); ctypes.CDLL(None).getpid(); platform.platform()
        datetime.datetime.now().astimezone(); locale.getlocale()
        logging.getLogger("a").warning("b")
        inspect.getsource(f); warnings.warn("careful")
        asyncio.run(asyncio.sleep(0))
        return x.copy()""",
    "more-threads-of-blas": "a = np.ones((400, 400)); return x + 0 * (a @ a)[0, 0]",
    "clocks-and-time-limits": """
        import signal, time
        time.sleep(0.001); time.perf_counter(); time.process_time(); time.thread_time()
        def late(*_): raise TimeoutError
        before = signal.signal(signal.SIGALRM, late)
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.001)
            while True: x.sum()
        except TimeoutError:
            pass
        signal.signal(signal.SIGALRM, before)
        return x.copy()""",
    "recursion": """
        def down(n): return 0 if n == 0 else 1 + down(n - 1)
        return x + 0 * down(900)""",
}

TORCH = {
    "convolution": """
        c = torch.nn.Conv2d(1, 2, 3); y = c(torch.ones(1, 1, 8, 8)); y.sum().backward()
        assert c.weight.grad is not None""",
    "lstm": "torch.nn.LSTM(4, 5, 2, batch_first=True)(torch.ones(2, 3, 4))[0].sum().backward()",
    "svd": "torch.linalg.svd(torch.rand(5, 4)); torch.linalg.eigh(torch.eye(3))",
    "attention": """
        q = torch.rand(1, 2, 5, 8, requires_grad=True)
        attend = torch.nn.functional.scaled_dot_product_attention
        attend(q, q, q, is_causal=True).sum().backward()""",
    "fft": "torch.fft.irfft(torch.fft.rfft(torch.rand(16)))",
    "files": """
        torch.save({"w": torch.ones(3)}, "model.pt")
        assert torch.load("model.pt")["w"].sum() == 3""",
    "functions": """
        from torch.func import functional_call, grad, jacrev, vmap
        assert vmap(grad(lambda v: (v ** 2).sum()))(torch.ones(3, 2)).sum() == 12
        jacrev(torch.sin)(torch.ones(3))
        functional_call(torch.nn.Linear(2, 2), {}, torch.ones(2))""",
    "threads": """
        from concurrent.futures import ThreadPoolExecutor
        torch.set_num_threads(2)
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda _: torch.ones(200, 200) @ torch.ones(200, 200), range(8)))
        torch.set_num_threads(1)""",
    "script": """
        assert torch.jit.script(scripted)(torch.ones(3)).sum() == 6
        torch.jit.trace(torch.nn.Linear(2, 2), torch.ones(1, 2))""",
    "checkpoints": """
        from torch.utils.checkpoint import checkpoint
        v = torch.ones(3, requires_grad=True)
        checkpoint(torch.sin, v, use_reentrant=False).sum().backward()""",
    "optimisers": """
        model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.BatchNorm1d(4))
        best = torch.optim.AdamW(model.parameters())
        model(torch.rand(8, 4)).sum().backward(); best.step(); best.zero_grad()""",
    "loader": """
        from torch.utils.data import DataLoader, TensorDataset
        data = TensorDataset(torch.ones(6))
        assert len(list(DataLoader(data, batch_size=2, shuffle=True))) == 3""",
    "anomalies": """
        with torch.autograd.detect_anomaly(): torch.ones(1, requires_grad=True).exp().backward()
        v = torch.ones(2, dtype=torch.float64, requires_grad=True)
        torch.autograd.gradcheck(torch.sin, v)""",
    # Torch tries whether some packages are there; one that may not be read counts as not there.
    "packages-beside": """
        import importlib.util
        for name in ("pytest", "yaml", "grader"): assert importlib.util.find_spec(name) is None""",
    "dtypes": """
        with torch.autocast("cpu", dtype=torch.bfloat16): torch.ones(4, 4) @ torch.ones(4, 4)
        torch.ones(3, device="meta"); torch.ones(3).half().float()""",
}

WALLED = "it may not start programs or processes"
REFUSED = {
    "subprocess": ("import subprocess; subprocess.run(['ls'])", "PermissionError", WALLED),
    "fork": ("import os; os.fork()", "PermissionError", WALLED),
    "pool": ("import multiprocessing as m; m.get_context('fork').Pool(2)", "", "permitted|denied"),
    "network": ("import socket; socket.socket()", "PermissionError", "use the network"),
    "shared-file": (
        "import numpy; numpy.save('a.npy', x); numpy.load('a.npy', mmap_mode='r')",
        "PermissionError",
        "touch files",
    ),
    "file": ("open('/etc/hostname')", "PermissionError", "touch files outside its scratch folder"),
}
REFUSED_TORCH = {
    "compile": ("torch.compile(torch.sin)", "RuntimeError", "torch.compile is not available here"),
    "compile-as-a-decorator": (
        "torch.compile(mode='max-autotune')",
        "RuntimeError",
        "torch.compile is not available here",
    ),
    "package": ("import pytest", "ModuleNotFoundError", "No module named 'pytest'"),
    "loader": (
        "list(torch.utils.data.DataLoader([torch.ones(1)] * 4, num_workers=2))",
        "PermissionError",
        WALLED,
    ),
}


def program(body: str, torch: bool = False) -> str:
    """Return a submission that runs some lines and returns its input."""
    head = "import numpy as np\n"
    if torch:
        head += "import torch\ndef scripted(v):\n    w = v * 2\n    return w\n"
    lines = "\n".join(
        "    " + line.strip("\n")[8 * line.startswith(" " * 8) :] for line in body.split("\n")
    )
    return f"{head}def f(x):\n{lines}\n" + ("    return x.copy()\n" if torch else "")


@pytest.fixture(params=["cold", "forked"])
def zygote(request: pytest.FixtureRequest, numpy_zygote: Zygote) -> Zygote | None:
    """Return the zygote that forks workers, or None if they start afresh."""
    return numpy_zygote if request.param == "forked" else None


def test_usual_programs_with_numpy_work(zygote: Zygote | None) -> None:
    x = np.arange(3.0)
    with WorkerClient(torch=False, zygote=zygote) as worker:
        for name, body in NUMPY.items():
            y = run(load(worker, program(body), name), inputs=given(x=x)).values["y"]
            assert np.allclose(y, x), name


def refusal(worker: WorkerClient, text: str) -> ProgramError:
    """Return the error of a submission that does something forbidden."""
    with pytest.raises(ProgramError) as told:
        run(load(worker, text))
    return told.value


def test_a_sentence_says_what_is_refused(zygote: Zygote | None) -> None:
    with WorkerClient(torch=False, zygote=zygote) as worker:
        for name, (body, kind, sentence) in REFUSED.items():
            told = refusal(worker, program(body))
            assert told.raised is not None, name
            assert not kind or told.raised.type == kind, name
            assert any(s in told.raised.message for s in sentence.split("|")), told.raised.message


@NEEDS_TORCH
def test_usual_programs_with_torch_work_and_refusals_are_explained(torch_zygote: Zygote) -> None:
    x = np.arange(3.0)
    with WorkerClient(torch=True, zygote=torch_zygote) as worker:
        for name, body in TORCH.items():
            y = run(load(worker, program(body, torch=True), name), inputs=given(x=x)).values["y"]
            assert np.allclose(y, x), name
        for name, (body, kind, sentence) in REFUSED_TORCH.items():
            told = refusal(worker, program(body, torch=True))
            assert told.raised is not None, name
            assert told.raised.type == kind, f"{name}: {told.raised}"
            assert sentence in told.raised.message, told.raised.message
