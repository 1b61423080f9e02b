"""A call of an assistant's tool is carried out by a process, which ends with the call."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from grader.commands.mcp_server import CommandCaller
from grader.commands.mcp_tools import Request
from tests.commands.conftest import ROOT, Drill
from tests.leftovers import all_end

PARTS = ROOT / "tests" / "banks" / "parts"
# What stands in for the process of a call. It says its id, then does what a request names.
STAND_IN = """
import json, os, signal, sys
request = json.loads(sys.stdin.readline())
print(json.dumps({"step": str(os.getpid())}), flush=True)
if request["name"] == "endless":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()
if request["name"] == "dies":
    os._exit(7)
result = {"document": request["arguments"], "page": "x" * 200_000}
print(json.dumps({"result": result}), flush=True)
"""


class Steps:
    """Takes the steps of calls, and lets a test wait for one."""

    def __init__(self) -> None:
        self.taken = list[str]()
        self.first_step = anyio.Event()

    async def take(self, step: str) -> None:
        """Keep a step."""
        self.taken.append(step)
        self.first_step.set()


def stand_in() -> CommandCaller:
    """Return a caller that starts the stand-in."""
    return CommandCaller([sys.executable, "-c", STAND_IN])


def is_running(pid: str) -> bool:
    """Return True if a process with this id runs."""
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return False
    return True


def test_a_call_returns_the_result_of_its_process_even_if_it_is_long() -> None:
    async def talk() -> None:
        steps = Steps()
        result = await stand_in().call(Request("echo", {"a": "é\n"}), steps.take)
        assert result == {"document": {"a": "é\n"}, "page": "x" * 200_000}
        assert not is_running(*steps.taken)

    anyio.run(talk)


def test_a_call_that_is_canceled_kills_its_process_and_the_next_one_is_answered() -> None:
    async def talk() -> None:
        caller, steps = stand_in(), Steps()
        async with anyio.create_task_group() as calls:
            calls.start_soon(caller.call, Request("endless", {}), steps.take)
            await steps.first_step.wait()
            assert is_running(*steps.taken)
            calls.cancel_scope.cancel()
        assert not is_running(*steps.taken)
        result = await caller.call(Request("echo", {"a": 1}), Steps().take)
        assert result["document"] == {"a": 1}

    anyio.run(talk)


def test_a_call_that_waits_for_another_one_can_be_canceled_and_starts_nothing() -> None:
    async def talk() -> None:
        caller, first, second = stand_in(), Steps(), Steps()
        async with anyio.create_task_group() as calls:
            calls.start_soon(caller.call, Request("endless", {}), first.take)
            await first.first_step.wait()
            with anyio.CancelScope() as waiting:
                waiting.cancel()
                await caller.call(Request("echo", {}), second.take)
            assert second.taken == []
            assert is_running(*first.taken)
            calls.cancel_scope.cancel()

    anyio.run(talk)


def test_the_end_of_the_conversation_kills_the_process_of_a_call() -> None:
    steps = Steps()

    async def talk() -> None:
        async with anyio.create_task_group() as calls:
            calls.start_soon(stand_in().call, Request("endless", {}), steps.take)
            await steps.first_step.wait()
            raise ConnectionError

    with pytest.raises(BaseExceptionGroup) as raised:
        anyio.run(talk)
    assert raised.value.subgroup(ConnectionError)
    assert not is_running(*steps.taken)


@pytest.mark.parametrize("command", [[sys.executable, "-c", "pass"], None])
def test_a_process_that_ends_without_a_result_is_an_error(command: list[str] | None) -> None:
    async def talk() -> dict[str, Any]:
        caller = CommandCaller(command) if command else stand_in()
        return await caller.call(Request("dies", {}), Steps().take)

    result = anyio.run(talk)
    status = 0 if command else 7
    assert f"ended with status {status} and without a result" in result["page"]
    assert result["document"]["error"]["status"] == status


def test_no_module_of_the_current_folder_is_imported(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(PARTS))
    monkeypatch.setenv("PYTHONPATH", ".")  # of the folder in which the server was started
    for name in ("typer", "json", "grader", "signal", "yaml"):
        Path(f"{name}.py").write_text(f"open({str(home.parent / 'taken')!r}, 'w').close()\n")

    async def talk() -> dict[str, Any]:
        return await CommandCaller().call(
            Request("show", {"question": "mean-and-spread"}), Steps().take
        )

    assert anyio.run(talk)["document"]["question"] == "mean-and-spread"
    assert not (home.parent / "taken").exists()


def test_a_process_ends_with_its_input_in_the_middle_of_a_grade(
    home: Path, real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(PARTS))
    real("start", "mean-and-spread")
    Path("mean-and-spread", "submission.py").write_text("def mean(x):\n    while True: pass\n")
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", "grader.commands.mcp_tools"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(json.dumps(Request("grade", {})._asdict()).encode() + b"\n")
    process.stdin.flush()
    while b"grading" not in process.stdout.readline():
        assert process.poll() is None
    process.stdin.close()
    assert process.wait() == 128 + signal.SIGINT
    process.stdout.close()
    assert all_end(home)
