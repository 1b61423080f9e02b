"""A worker sees what it may read and nothing else; where it cannot, nothing else changes."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from grader.sandbox import file_grants, probes
from grader.sandbox.client import WorkerClient
from grader.sandbox.levels import STRONG
from grader.sandbox.scratch import Scratch
from grader.sandbox.spawn import Zygote
from grader.sandbox.worker.walls import canary, mounts
from tests.sandbox.running import load, run

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="namespaces are Linux's")


def looking(*paths: str) -> str:
    """A program that says which of some paths it sees."""
    return f"import os\ndef f(x):\n    return [os.path.lexists(p) for p in {paths!r}]"


@pytest.fixture
def scratch() -> Iterator[Scratch]:
    made = Scratch()
    yield made
    made.remove()


def in_a_child(act: Callable[[], Any]) -> Any:
    """What a function returns that is called in a process of its own, as JSON has it."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            said = act()
        except BaseException as error:  # noqa: BLE001 whatever it is, the test shows it
            said = f"{type(error).__name__}: {error}"
        os.write(writing, json.dumps(said).encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, "rb") as reader:
        said = json.loads(reader.read())
    os.waitpid(child, 0)
    return said


def applied(scratch: Scratch, *shown: str) -> str | None:
    """Take a view that shows some paths."""
    seen = [(True, path) for path in shown]
    return mounts.apply(seen, scratch.folder, root=os.getuid() == 0)


def _why_not() -> str | None:
    made = Scratch()
    try:
        said: str | None = in_a_child(lambda: applied(made))
    finally:
        made.remove()
    return said


needs_namespaces = pytest.mark.skipif(
    sys.platform == "linux" and _why_not() is not None,
    reason=f"no namespaces here: {_why_not() if sys.platform == 'linux' else ''}",
)


@needs_namespaces
@pytest.mark.parametrize("forked", [False, True])
def test_a_worker_sees_python_numpy_and_its_folder_and_nothing_of_anybodys(
    forked: bool, tmp_path: Path
) -> None:
    (tmp_path / "private").touch()
    site = file_grants.site_folders()[0]
    there = ["/", "/dev/null", "/proc/self/status", os.__file__, f"{site}/numpy/__init__.py"]
    absent = [
        str(tmp_path / "private"), __file__, file_grants.__file__,
        f"{site}/torch", f"{site}/pytest",
        "/proc/1", f"/proc/{os.getpid()}", "/etc/passwd", "/usr/bin", "/home", "/sys/class",
    ]  # fmt: skip
    zygote = Zygote(torch=False) if forked else None
    try:
        with WorkerClient(torch=False, zygote=zygote) as worker:
            assert worker.isolation.acts["probe"] == canary.REFUSED
            assert worker.isolation.level == STRONG
            there.append(worker.scratch)
            seen = run(load(worker, looking(*there, *absent))).values["y"]
            assert dict(zip([*there, *absent], seen, strict=True)) == (
                dict.fromkeys(there, True) | dict.fromkeys(absent, False)
            )
    finally:
        if zygote is not None:
            zygote.close()


@needs_namespaces
def test_the_judge_still_measures_what_it_cannot_be_seen_by() -> None:
    source = (
        "import numpy as np\ndef f(x):\n    open('file', 'wb').write(b'x' * 50000)\n    return 1"
    )
    with WorkerClient(torch=False) as worker:
        run(load(worker, source))
        assert Path(worker.scratch, "file").stat().st_size == 50000
        assert (probes.written_bytes(worker.pid) or 0) >= 50000
        assert (probes.peak_bytes(worker.pid) or 0) > 10 << 20
        assert (probes.resident_bytes(worker.pid) or 0) > 10 << 20
        assert (worker.cpu_nanoseconds() or 0) > 0
        assert (probes.occupied_bytes(worker.pid, worker.scratch) or 0) > 10 << 20


def test_without_a_view_files_are_seen_and_the_level_is_what_it_was(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with WorkerClient(torch=False) as worker:
        before = worker.isolation.level
    monkeypatch.setattr(file_grants, "mounts", lambda **_: ())
    with WorkerClient(torch=False) as worker:
        assert worker.isolation.acts["probe"] == canary.DONE
        assert worker.isolation.level == before
        assert run(load(worker, looking(__file__))).values["y"] == [True]


@needs_namespaces
def test_links_lead_where_they_led_and_what_does_not_exist_is_left_out(
    scratch: Scratch, tmp_path: Path
) -> None:
    inner = tmp_path / "real folder" / "inner"
    inner.mkdir(parents=True)
    (inner / "file").write_text("text")
    (tmp_path / "beside").touch()
    (tmp_path / "absolute").symlink_to(tmp_path / "real folder")
    (tmp_path / "upwards").symlink_to("absolute/../absolute/inner")
    (tmp_path / "round").symlink_to("round")

    def act() -> list[Any]:
        shown = (
            "upwards/file",
            "absolute/inner",
            "real folder/inner",
            "missing/file",
            "upwards/file/x",
        )
        said = applied(scratch, *(str(tmp_path / name) for name in shown))
        return [
            said,
            sorted(p.name for p in tmp_path.iterdir()),
            (tmp_path / "upwards" / "file").read_text(),
            (tmp_path / "absolute" / "inner" / "file").read_text(),
            str(Path.cwd()) == scratch.folder,
        ]

    assert in_a_child(act) == [None, ["absolute", "real folder", "upwards"], "text", "text", True]


@needs_namespaces
def test_a_folder_shown_empty_holds_only_what_is_shown_within_it(
    scratch: Scratch, tmp_path: Path
) -> None:
    for name in ("site/numpy", "site/secret", "beside"):
        (tmp_path / name).mkdir(parents=True)

    def act() -> list[Any]:
        wanted = [(True, tmp_path), (False, tmp_path / "site"), (True, tmp_path / "site" / "numpy")]
        told = [(whole, str(path)) for whole, path in wanted]
        said = mounts.apply(told, scratch.folder, root=os.getuid() == 0)
        names = (
            sorted(p.name for p in folder.iterdir()) for folder in (tmp_path, tmp_path / "site")
        )
        return [said, *names]

    assert in_a_child(act) == [None, ["beside", "site"], ["numpy"]]
    assert (tmp_path / "site" / "secret").is_dir()


@needs_namespaces
@pytest.mark.parametrize("failing", ["_stay", "place", "call"])
def test_when_building_fails_the_old_tree_stays_and_can_be_worked_in(
    scratch: Scratch, failing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if failing == "_stay" and os.getuid() == 0:
        pytest.skip("root keeps its users")
    works = getattr(mounts, failing)

    def act() -> list[Any]:
        def fails(*arguments: Any, **named: Any) -> Any:
            if failing != "call" or arguments[0] == "pivot_root":
                raise OSError(1, "not today")
            return works(*arguments, **named)

        monkeypatch.setattr(mounts, failing, fails)
        os.chdir(scratch.folder)
        said = applied(scratch, os.__file__)
        Path("here").write_text("kept")
        return [said, Path(scratch.folder, "here").exists(), Path(__file__).exists()]

    assert in_a_child(act) == ["not today", True, True]
    assert Path(scratch.folder, "here").read_text() == "kept"


def test_a_process_with_two_threads_is_left_as_it_was(scratch: Scratch) -> None:
    def act() -> list[Any]:
        waiting = threading.Event()
        threading.Thread(target=waiting.wait, daemon=True).start()
        tree = Path("/proc/self/ns/mnt").readlink()
        said = mounts.apply([], scratch.folder, root=False)
        return [bool(said), Path("/proc/self/ns/mnt").readlink() == tree]

    assert in_a_child(act) == [True, True]


def test_a_system_that_keeps_namespaces_for_chosen_programs_is_taken_at_its_word(
    tmp_path: Path, scratch: Scratch, monkeypatch: pytest.MonkeyPatch
) -> None:
    switch = tmp_path / "switch"
    monkeypatch.setattr(mounts, "_SWITCHES", ((str(tmp_path / "missing"), "0"), (str(switch), "1")))
    switch.write_text("0\n")
    assert mounts.switched_off() is None
    switch.write_text("1\n")
    assert mounts.switched_off() == f"{switch} is 1"
    assert mounts.apply([], scratch.folder, root=False) == f"{switch} is 1"


def test_a_link_to_a_hidden_folder_is_not_granted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, site = tmp_path / "lib", tmp_path / "elsewhere"
    for folder in (root / "site-packages", root / "encodings", site):
        folder.mkdir(parents=True)
        (folder / "file").touch()
    (root / "dist-packages").symlink_to(site)
    monkeypatch.setattr(file_grants, "_roots", lambda: [root])
    monkeypatch.setattr(file_grants, "_hidden", lambda: {root / "site-packages", site})
    granted = {path for _, path in file_grants.grants.__wrapped__(torch=False)}
    assert {p for p in granted if p.startswith(str(tmp_path))} == {str(root / "encodings")}
