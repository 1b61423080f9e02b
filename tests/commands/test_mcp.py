"""An assistant can practice with a person, and cannot see more than the person has reached.

Tests of the rules talk to a server in this process, which carries calls out here. Tests of the
processes talk to `python -m grader mcp` with the client of the SDK; those about how it ends write
lines themselves.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult, TextContent

from grader import bank
from grader.commands import output
from grader.commands.mcp_server import CommandCaller, McpServer
from grader.commands.mcp_tools import (
    Request,
    run_request,
    to_json_line,
    without_private_keys,
)
from grader.model.question import Question
from tests.commands.conftest import Drill
from tests.leftovers import all_end

ROOT = Path(__file__).parents[2]
PARTS = ROOT / "tests" / "banks" / "parts"
MEAN = "def mean(x):\n    return x.sum() / x.size\n"
RIGHT = (
    "import numpy as np\n\ndef mean(x):\n    return float(x.sum() / x.size) if x.size else 0.0\n\n"
    "def spread(x):\n    return float(np.sqrt(np.mean((x - mean(x)) ** 2)))\n"
)
ENDLESS = "def mean(x):\n    while True: pass\n"
SERVER = [sys.executable, "-P", "-m", "grader", "mcp"]
# Runs a server, and writes every line of its into a file before it hands it on.
COPYING = """
import subprocess, sys
server = subprocess.Popen(sys.argv[2:], stdout=subprocess.PIPE)
with open(sys.argv[1], "wb", buffering=0) as log:
    for line in server.stdout:
        log.write(line)
        sys.stdout.buffer.write(line)
        sys.stdout.flush()
sys.exit(server.wait())
"""


@dataclass(frozen=True, slots=True)
class Assistant:
    """A client of a server, to be used like any object."""

    portal: BlockingPortal
    client: Client
    received: list[str] = field(default_factory=list)  # every result, as JSON

    def call(self, tool: str, **arguments: Any) -> CallToolResult:
        """Call a tool."""
        result = self.portal.call(self.client.call_tool, tool, arguments)
        self.received.append(result.model_dump_json())
        return cast("CallToolResult", result)

    def data(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that has to work, and return its document."""
        result = self.call(tool, **arguments)
        assert not result.is_error, result
        return cast("dict[str, Any]", result.structured_content)

    def page(self, tool: str, **arguments: Any) -> str:
        """Call a tool, and return its page."""
        return page_text(self.call(tool, **arguments))

    def refused(self, tool: str, *words: str, **arguments: Any) -> None:
        """Check that a call is refused, with these words in page and document."""
        result = self.call(tool, **arguments)
        assert result.is_error, result
        for word in words:
            assert word in page_text(result)
            assert word in result.structured_content["error"]["message"]

    def role(self, name: str, **arguments: str) -> str:
        """Return the text of a prompt."""
        result = self.portal.call(self.client.get_prompt, name, arguments)
        self.received.append(result.model_dump_json())
        return cast("TextContent", result.messages[0].content).text

    @property
    def sent(self) -> str:
        """Everything that the server has sent, on one line."""
        return one_line(" ".join(self.received))


def page_text(result: CallToolResult) -> str:
    """Return the page of a result."""
    (content,) = result.content
    return cast("TextContent", content).text


def one_line(text: str) -> str:
    """Return a text, or a text in JSON, on one line."""
    return " ".join(text.replace("\\n", " ").replace('\\"', '"').split())


class CallerInThisProcess(CommandCaller):
    """Carries requests out in this process: the rules do not depend on where."""

    async def call(
        self, request: Request, show_step: Callable[[str], Awaitable[None]] | None = None
    ) -> dict[str, Any]:
        """Return the document and the page, as they come out of a line of JSON."""
        content = json.loads(json.dumps(request._asdict()))
        steps = list[str]()
        style = output.style
        try:
            result = run_request(Request(**content), steps.append)
        finally:
            output.style = style
        if show_step:
            for step in steps:
                await show_step(step)
        return dict(json.loads(to_json_line(result), object_hook=without_private_keys))


@pytest.fixture
def assistant(home: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Assistant]:
    """Talk to a server in this process, with a small bank next to the program's."""
    assert home.name
    monkeypatch.setenv("DRILL_BANK", str(PARTS))
    with assistant_in_this_process() as assistant:
        yield assistant


@contextmanager
def assistant_in_this_process() -> Iterator[Assistant]:
    """Talk to a server in this process."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(McpServer(None, CallerInThisProcess()))) as client,
    ):
        yield Assistant(portal, client)


@contextmanager
def assistant_of_a_process(log: Path, *arguments: str) -> Iterator[Assistant]:
    """Start a server in the current folder that is copied into a log, and talk to it."""
    copied = ["-c", COPYING, str(log), *SERVER, *arguments]
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT)}
    server = StdioServerParameters(
        command=sys.executable, args=copied, env=environment, cwd=Path.cwd()
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(stdio_client(server))) as client,
    ):
        yield Assistant(portal, client)
    messages = map(json.loads, log.read_text("utf-8").splitlines())
    assert {message["jsonrpc"] for message in messages} == {"2.0"}  # and nothing else was printed


def hidden_texts(question: Question, asked: int) -> list[str]:
    """Return the beginnings of all texts that must not be sent while `asked` parts are asked."""
    spec, texts = question.spec, list[str]()
    for number, part in enumerate(spec.parts, 1):
        texts += [*part.hints, *(follow_up.answer for follow_up in part.follow_ups)]
        if number > asked:
            texts += [part.prompt, *part.contract, *(check.about for check in part.checks)]
    for name, idea in question.ideas.items():
        texts += [
            name,
            idea.feedback_for({k: str(v) for k, v in idea.parameter_combinations[0].items()}),
        ]
    starter = question.starter.decode()
    programs = [question.reference, question.repair, *question.accepted.values()]
    lines = {line.strip() for source in programs for line in source.decode().splitlines()}
    texts += [line for line in lines if len(line) > 20 and line not in starter]
    shown = one_line(" ".join(f"{p.prompt} {p.interface} {p.contract}" for p in spec.parts[:asked]))
    return [
        one_line(text)[:40] for text in texts if len(text) > 5 and one_line(text)[:40] not in shown
    ]


def leaked_texts(assistant: Assistant, question: Question, asked: int) -> list[str]:
    """Return the hidden texts that were sent."""
    sent = assistant.sent
    return [text for text in hidden_texts(question, asked) if text in sent]


def test_a_tool_returns_the_output_of_its_command(
    assistant: Assistant, real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = {tool.name: tool for tool in assistant.portal.call(assistant.client.list_tools).tools}
    names = "list next show start grade run case hint solution discuss"
    assert [*tools] == names.split()
    assert "ends the drill" in str(tools["solution"].description)
    hints = [tools["solution"].annotations, tools["hint"].annotations, tools["show"].annotations]
    assert [hint.destructive_hint for hint in hints if hint] == [True, False, False]
    assert "ends a drill" in str(assistant.client.instructions)

    assistant.data("start", question="four-averages")
    monkeypatch.chdir("four-averages")
    for tool, arguments, words in (
        ("list", {"track": "training-loops"}, ["list", "--track", "training-loops"]),
        ("next", {}, ["next"]),
        ("show", {"question": "four-averages"}, ["show"]),
    ):
        document, ended = assistant.data(tool, **arguments), real(*words, "--json")
        assert document.pop("at")
        assert document == without_places(ended.data)
        if tool == "list":
            assert assistant.page(tool, **arguments) == real(*words).out


def without_places(content: Any) -> Any:
    """Return a document without the keys that lead to the answers."""
    if isinstance(content, dict):
        kept = {k: v for k, v in content.items() if k not in {"bank", "digest"}}
        return {key: without_places(value) for key, value in kept.items()}
    return [*map(without_places, content)] if isinstance(content, list) else content


def test_a_drill_from_its_start_to_a_review(
    assistant: Assistant, real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    question = bank.load_question([PARTS], "mean-and-spread")
    file = Path(assistant.data("start", question="mean-and-spread")["submission"])
    starter = assistant.data("grade")
    assert [check["id"] for check in starter["checks"]] == ["mean"]
    assert starter["checks"][0]["message"] == "m is wrong in 2 of 2 cases."
    assert (starter["misconceptions"], starter["asked"], starter["tries"]) == ([], 0, 0)
    assert leaked_texts(assistant, question, 1) == []

    file.write_text(MEAN.replace("/ x.size", ""))
    wrong = assistant.call("grade")
    assert "Idea: sums. It gives exactly your numbers" in page_text(wrong)
    document = cast("dict[str, Any]", wrong.structured_content)
    assert [idea["id"] for idea in document["misconceptions"]] == ["sums"]
    assert document["checks"][0]["mismatch"]["case"] == "few"
    assert [part["id"] for part in document["parts"]] == ["1"]

    file.write_text(MEAN)
    passed = assistant.data("grade")
    assert (passed["verdict"], passed["asked"], passed["misconceptions"]) == ("pass", 2, [])
    assert [check["id"] for check in passed["checks"]] == ["mean"]
    for text in (assistant.page("show"), assistant.role("tutor")):
        assert "One worker now sends nothing at all." in text
        assert "how far the entries are" not in text
    assert "last idea" not in assistant.page("next")
    assert leaked_texts(assistant, question, 2) == [question.ideas["sums"].feedback[:40]]
    assert assistant.data("grade")["misconceptions"] == []  # nothing was edited for it
    file.write_text(MEAN.replace("x.size", "float(x.size)"))
    assert "divides-by-nothing" in assistant.page("grade")  # now it is asked

    assert "hint 1 of 1 of part 2\n    What is 0 / 0?" in assistant.page("hint")
    assistant.refused("solution", "is shown when all parts pass")
    with pytest.raises(MCPError, match="not passed yet"):
        assistant.role("reviewer")
    file.write_text(RIGHT)
    done = assistant.data("grade")
    assert (done["verdict"], done["asked"]) == ("pass", 0)
    assert done["follow_up"]
    assert assistant.data("solution")["passed"]
    assert RIGHT in assistant.role("reviewer")
    monkeypatch.chdir("mean-and-spread")
    attempts = real("history", "--json").data["attempts"]
    assert [attempt["kind"] for attempt in attempts] == ["grade"] * 6
    (row,) = assistant.data("list", track="basics")["questions"]
    assert (row["id"], row["state"], row["tries"]) == ("mean-and-spread", "passed", 4)


def test_no_argument_gets_around_the_rules(assistant: Assistant, tmp_path: Path) -> None:
    question = bank.load_question([PARTS], "mean-and-spread")
    folder = Path(assistant.data("start", question="mean-and-spread")["folder"])
    which = {"question": "mean-and-spread"}
    for tool in ("show", "grade", "case", "next", "list"):
        assistant.call(tool, **which, part=3, parts="3", all=True, all_=True, full=True,
                       explain=True, interviewer=True, give_up=True, json=True)  # fmt: skip
    assistant.refused("solution", "is shown when all parts pass", **which)
    for name in ("empty", "spread", "../../reference"):
        assistant.refused("case", "has no case", name=name, **which)

    # A file that passes part 1, and is no try.
    (folder / "other.py").write_text(MEAN)
    review = assistant.data("grade", file="other.py", **which)
    assert (review["verdict"], review["asked"], review["tries"]) == ("pass", 2, 0)
    assert [check["id"] for check in review["checks"]] == ["mean"]
    assert leaked_texts(assistant, question, 2) == []
    assert assistant.data("show", **which)["parts_in_all"] == 3
    assert len(assistant.data("show", **which)["parts"]) == 1

    secret = tmp_path / "secret.py"
    secret.write_text("the key is plugh\n")
    (folder / "link.py").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    outside = ["../../secret.py", str(secret), "link.py", "up/secret.py", "/etc/passwd",
               "../mean-and-spread-2/x.py", "/", "up"]  # fmt: skip
    for path in outside:
        assistant.refused("grade", "expected a file in the folder of the drill", file=path, **which)
    for path in ("~/x", "\0", "no-such.py", "."):
        assert assistant.call("grade", file=path, **which).is_error
    for path in ("../../etc/passwd", "/etc/passwd", str(secret), ".", "submission.py", "~", "\0",
                 "mean-and-spread/", "no-such-id", "-h", "--all", "a/b/c", ""):  # fmt: skip
        for tool in ("show", "start", "grade", "hint", "case", "solution"):
            assert assistant.call(tool, question=path).is_error, (tool, path)
        with pytest.raises(MCPError):
            assistant.role("tutor", question=path)
    for tool, arguments in (
        ("hint", {"question": "x" * 5_000_000}), ("case", {"name": "gap", "seed": -1}),
        ("case", {"seed": 10**30}), ("hint", {"question": {"a": 1}}), ("hint", {"question": [1]}),
        ("start", {}), ("no_such_tool", {}), ("_grade", {}),
    ):  # fmt: skip
        result = assistant.call(tool, **arguments)
        assert result.is_error
        assert len(page_text(result)) < 1000
    assert "plugh" not in assistant.sent
    assert {path.name for path in tmp_path.iterdir()} <= {"home", "work", "sent", "secret.py"}
    assert {path.name for path in Path.cwd().iterdir()} == {"mean-and-spread"}

    hints = [assistant.data("hint", **which, number=n)["hints"] for n in (2, 1, 3)]
    assert [[hint["number"] for hint in shown] for shown in hints] == [[1], [2], [1, 2]]
    assert assistant.data("solution", **which, give_up=True)["passed"] is False
    assert assistant.data("solution", **which)["solution"]


def test_a_blind_interview_is_blind_for_an_assistant_too(
    assistant: Assistant, real: Drill, home: Path
) -> None:
    assert real("interview", "mean-and-spread", "--blind").status == 0
    pages_seen = []
    for text in (MEAN, RIGHT):
        Path("mean-and-spread", "submission.py").write_text(text)
        assistant.refused("grade", "submission.py is received. It loads.")
        assistant.refused("case", "blind", name="few")
        calls: list[tuple[str, dict[str, str]]] = [("show", {}), ("next", {}), ("solution", {})]
        pages = [assistant.page(tool, **arguments) for tool, arguments in calls]
        pages_seen.append(" ".join(" ".join(pages).replace("2 tries", "1 try").split()))
        question = Path("mean-and-spread", "QUESTION.md").read_text()
        assert "One worker" not in question + pages_seen[-1]
    assert pages_seen[0] == pages_seen[1]


def test_two_calls_at_once_are_answered_one_after_the_other(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(PARTS))
    with assistant_of_a_process(home.parent / "sent") as assistant:
        folder = Path(assistant.data("start", question="mean-and-spread")["folder"])
        (folder / "submission.py").write_text(RIGHT)
        calls = [
            assistant.portal.start_task_soon(assistant.client.call_tool, "grade", {})
            for _ in range(2)
        ]
        shown = [cast("dict[str, Any]", call.result().structured_content) for call in calls]
        assert [row["verdict"] for row in shown] == ["pass"] * 2
        assert sorted(row["tries"] for row in shown) == [0, 1]  # one version is one try
        assert RIGHT in assistant.role("reviewer")


def test_a_real_question_gives_nothing_away(home: Path) -> None:
    question = bank.load_question([ROOT], "maxpool-routing")
    with assistant_in_this_process() as assistant:
        for tool in ("show", "start", "grade", "case", "hint"):
            assert leaked_texts(assistant, question, 1) == []
            assistant.data(tool, question=question.id)
        hints = [one_line(text)[:40] for text in question.spec.parts[0].hints]
        assert [text in assistant.sent for text in hints] == [True, False, False]
        Path(question.id, "submission.py").write_bytes(question.accepted["columns-and-argmax"])
        assert assistant.data("grade", question=question.id)["asked"] == 2
        for tool in ("show", "case"):
            assistant.data(tool, question=question.id)
        assert leaked_texts(assistant, question, 2) == hints[:1]


def test_a_follow_up_is_answered_before_our_answer_is_sent(home: Path) -> None:
    question = bank.load_question([ROOT], "data-parallel-review")
    ours = [one_line(follow_up.answer)[:40] for follow_up in question.spec.parts[0].follow_ups]
    with assistant_in_this_process() as assistant:
        file = Path(assistant.data("start", question=question.id)["submission"])
        assistant.refused("discuss", "is not passed yet")
        file.write_bytes(next(iter(question.accepted.values())))
        assert assistant.data("grade")["verdict"] == "pass"
        assert [row["answer"] for row in assistant.data("discuss")["follow_ups"]] == [None, None]
        assert not any(text in assistant.sent for text in ours)
        for answered in (1, 2):
            follow_up = assistant.data("discuss")["follow_ups"][0]
            typed = "4" if follow_up["kind"] == "choice" else "0 / 0, so add up sums and counts"
            document = assistant.data("discuss", answer=typed)
            if follow_up["kind"] == "points":
                assert document["verdict"] is None
                assert len(document["points"]) == 2
                document = assistant.data("discuss", answer=typed, ticked="1, 2")
            assert (document["verdict"], one_line(document["answer"])[:40] in ours) == (
                "pass",
                True,
            )
            assert sum(text in assistant.sent for text in ours) == answered
        assert "1.1 right:" in assistant.page("discuss")


def test_the_script_of_a_diagnosis_runs_out_of_its_budget(home: Path) -> None:
    with assistant_in_this_process() as assistant:
        file = Path(assistant.data("start", question="every-knob")["submission"])
        file.write_text("def run(seed):\n    return {'loss': [seed, 1.0]}\n")
        result = assistant.call("run", seed=2)
        assert result.structured_content["used"] == 1
        assert "run 1 of" in page_text(result)
        assistant.refused("run", "is not answered by experiments", question="maxpool-routing")


def test_a_prediction_is_graded_when_the_person_agrees(home: Path) -> None:
    with assistant_in_this_process() as assistant:
        file = Path(assistant.data("start", question="three-rows")["submission"])
        file.write_text(file.read_text().replace("= ?", "= 1"))
        assistant.refused("grade", "the first grade of a prediction is the one that counts")
        file.with_name("other.txt").write_text(file.read_text())
        other: dict[str, object] = {"file": "other.txt", "yes": True}
        assistant.refused("grade", "expected your own first prediction", **other)
        assert assistant.data("grade", yes=True)["verdict"] == "fail"


def test_a_message_of_a_submission_cannot_act_on_a_terminal(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(PARTS))
    with assistant_of_a_process(home.parent / "sent", "--dir", "..") as assistant:
        folder = Path(assistant.data("start", question="mean-and-spread")["folder"])
        assert folder.parent == home.parent
        submission = "def mean(x):\n    raise ValueError('\\ud800 \\x1b[2J \\u202e')\n"
        (folder / "other.py").write_text(submission)
        shown = assistant.call("grade", question="mean-and-spread", file="other.py")
        assert page_text(shown).startswith(
            "ERROR mean-and-spread/other.py   mean-and-spread, part 1"
        )
        assert not set("\x1b\u202e\ud800") & set(page_text(shown))
        assert "\ud800" not in str(shown.structured_content)


def test_the_next_part_is_hidden_even_if_records_cannot_be_written(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(PARTS))
    home.write_text("not a folder")
    with assistant_in_this_process() as assistant:
        started = assistant.data("start", question="mean-and-spread")
        assert "is not saved" in " ".join(started["remarks"])
        Path(started["submission"]).write_text(MEAN)
        graded = assistant.call("grade")
        document = cast("dict[str, Any]", graded.structured_content)
        assert (document["verdict"], document["asked"], document["tries"]) == ("pass", 2, 0)
        assert document["remarks"][0].startswith(
            "drill: Your history cannot be written; this grade is"
        )
        assert document["remarks"][0] in page_text(graded)
        assert leaked_texts(assistant, bank.load_question([PARTS], "mean-and-spread"), 2) == []


class Raw:
    """A server, to which a test writes lines."""

    def __init__(self, *arguments: str) -> None:
        self.process = subprocess.Popen(
            [*SERVER, *arguments],
            env=dict(os.environ) | {"PYTHONPATH": str(ROOT)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,
        )
        self.send(1, "initialize", protocolVersion="2025-06-18", capabilities={},
                  clientInfo={"name": "raw", "version": "0"})  # fmt: skip
        assert self.next_message()["result"]["serverInfo"]["name"] == "drill"
        self.send(None, "notifications/initialized")

    def write(self, line: bytes) -> None:
        """Write a line."""
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")

    def send(self, number: int | None, method: str, **params: Any) -> None:
        """Send a request, or without a number a notification."""
        message = {"jsonrpc": "2.0", "method": method, "params": params}
        self.write(json.dumps(message | ({} if number is None else {"id": number})).encode())

    def call(self, number: int, tool: str, **arguments: Any) -> None:
        """Call a tool, and ask for messages about its progress."""
        about = {"progressToken": number}
        self.send(number, "tools/call", name=tool, arguments=arguments, _meta=about)

    def next_message(self) -> dict[str, Any]:
        """Return the next message."""
        assert self.process.stdout is not None
        return cast("dict[str, Any]", json.loads(self.process.stdout.readline()))

    def wait_for_end(self) -> tuple[int, str]:
        """Return its exit status and its errors."""
        _, errors = self.process.communicate()
        return self.process.returncode, errors.decode()


@pytest.fixture
def endless(home: Path, real: Drill, monkeypatch: pytest.MonkeyPatch) -> Iterator[Raw]:
    """Start a server that grades an endless program."""
    monkeypatch.setenv("DRILL_BANK", str(PARTS))
    real("start", "mean-and-spread")
    Path("mean-and-spread", "submission.py").write_text(ENDLESS)
    server = Raw()
    server.call(2, "grade")
    while "grading" not in (message := server.next_message()["params"])["message"]:
        assert message["progressToken"] == 2
    yield server
    server.process.kill()
    server.process.communicate()
    assert all_end(home)


def test_a_grade_that_is_cancelled_ends_and_the_next_call_is_answered(
    endless: Raw, real: Drill
) -> None:
    endless.send(None, "notifications/cancelled", requestId=2, reason="enough")
    endless.write(b"{broken")
    endless.write(b"\xff\xfe")
    endless.write(b"[]")
    endless.call(3, "next")
    answer = endless.next_message()
    assert (answer["id"], answer["result"]["isError"]) == (3, False)
    assert endless.wait_for_end() == (0, "")  # which closes its input
    (attempt,) = real("history", "mean-and-spread", "--json").data["attempts"]
    assert (attempt["verdict"], attempt["isolation"]) == (None, None)


def test_a_request_with_half_a_character_is_answered_with_an_error(home: Path) -> None:
    server = Raw()
    half = r'{"jsonrpc": "2.0", "id": %s, "method": "tools/call", "params": {%s}}'
    for number, params in enumerate(
        (
            r'"name": "next", "arguments": {"\ud800": 1}',
            r'"name": "show", "arguments": {"question": "\udc00"}',
            r'"name": "\ud800"',
        )
    ):
        server.write((half % (number, params)).encode())
        answer = server.next_message()
        assert (answer["id"], answer["error"]["code"]) == (number, -32700)
        assert "expected a message in JSON and Unicode" in answer["error"]["message"]
    for silent in (r'"\ud800"', "[1]"):  # which cannot be answered
        server.write((half % (silent, r'"\ud800": 1')).encode())
    server.write(b"[" * 100_000)
    server.call(9, "next")
    while "result" not in (answer := server.next_message()):
        assert answer["method"] == "notifications/progress"
    assert (answer["id"], answer["result"]["isError"]) == (9, False)
    assert server.wait_for_end() == (0, "")


def test_the_server_ends_with_its_input_in_the_middle_of_a_grade(endless: Raw) -> None:
    assert endless.wait_for_end() == (0, "")


def test_a_grade_ends_when_the_server_is_killed(endless: Raw) -> None:
    endless.process.kill()
    assert endless.process.wait() == -signal.SIGKILL


def test_the_server_ends_on_ctrl_c_in_the_middle_of_a_grade(endless: Raw) -> None:
    endless.process.send_signal(signal.SIGINT)
    assert endless.process.wait() == 130
    assert endless.wait_for_end() == (130, "interrupted\n")


def test_the_server_ends_when_nobody_reads_its_answers(home: Path) -> None:
    server = Raw()
    assert server.process.stdout is not None
    server.process.stdout.close()
    server.send(2, "tools/list")
    assert server.wait_for_end() == (141, "")


def test_a_server_that_cannot_start_says_why(real: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    real("mcp", "--dir", "no-such").refused("--dir: no-such: No such file or directory")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", None)
        real("mcp").refused("speaks on standard input and output, and one of them is closed")
    monkeypatch.delitem(sys.modules, "grader.commands.mcp_server")
    monkeypatch.setitem(sys.modules, "mcp.server.mcpserver", None)
    real("mcp").refused("needs the package mcp, version 2 or later", "pip install 'drill-dl[mcp]'")


def test_the_documentation_lists_the_tools_and_prompts(home: Path) -> None:
    text = (ROOT / "docs" / "practice.md").read_text("utf-8").partition("(MCP)")[2]
    ((command, words),) = (
        (server["command"], server["args"])
        for server in json.loads(text.split("```json")[1].split("```")[0])["mcpServers"].values()
    )
    assert (command, words) == ("drill", SERVER[-1:])
    table = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    named = {name for cell in table for name in cell.replace("`", "").replace(",", "").split()}
    with assistant_of_a_process(home.parent / "sent") as assistant:
        tools = assistant.portal.call(assistant.client.list_tools).tools
        roles = assistant.portal.call(assistant.client.list_prompts).prompts
    assert named == {tool.name for tool in tools}
    assert all(f"- **{role.name}**" in text for role in roles)
