"""The walls are the same with torch, although torch needs more files and memory."""

from __future__ import annotations

import importlib.util

import pytest

from grader.sandbox import config
from grader.sandbox.client import WorkerClient
from grader.sandbox.spawn import Zygote
from tests.attacks import catalogue
from tests.attacks.attack import DONE, ODD, PRELUDE
from tests.attacks.victims import Victims, traces
from tests.sandbox.running import load, run

pytestmark = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
# `import-another-package` and the memory files of torch's own are matters of numpy questions.
ACTING = [a for a in catalogue.ATTACKS if a.acts and a.name != "import-another-package"]

OF_A_THREAD = {"comm", "oom_score_adj", "coredump_filter", "clear_refs", "timerslack_ns"}


def test_forbidden_acts_are_refused_with_torch_too(torch_zygote: Zygote, victims: Victims) -> None:
    known = victims.known()
    before = traces(victims)
    for attack in ACTING:
        text = (
            attack.text(known).decode().partition("def attack():")[2].partition("\n\ndef centre")[0]
        )
        source = f"T = {known!r}\n{PRELUDE}import torch\ndef attack():{text}\n"
        source += "def f(x):\n    attack()\n    return x\n"
        with WorkerClient(torch=True, zygote=torch_zygote) as worker:
            run(load(worker, source))
        lines = worker.printed.decode("utf-8", "replace").splitlines()
        assert [line for line in lines if line.startswith("refused")], attack.name
        done = [line.removeprefix(DONE).split()[0] for line in lines if line.startswith(DONE)]
        # CUDA names its threads through files; beside a card a worker may write those of its own.
        assert [
            what for what in done if not (config.cuda_device_files() and what in OF_A_THREAD)
        ] == []
        assert [line for line in lines if line.startswith(ODD)] == [], attack.name
    after = traces(victims)
    for what, was in before.items():
        assert after[what] == was, what
