"""`drill edit` opens the file in the person's editor, and suggests the next command."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands.conftest import Drill

FILE = Path("double-trouble", "submission.py")


@pytest.fixture
def editor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return an editor, in a folder with a space, that records its arguments."""
    for name in ("VISUAL", "EDITOR"):
        monkeypatch.delenv(name, raising=False)
    program = tmp_path / "my editors" / "ed"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "# $*" > "$2"\nexit "${3:-0}"\n')
    program.chmod(0o755)
    return f"'{program}' -w"


def test_edit_uses_the_first_named_editor(
    drill: Drill, editor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    drill("start", "double-trouble")
    drill("edit").refused(
        "no editor is named: expected VISUAL or EDITOR in the environment, found neither\n"
        "    export EDITOR=nano names one; drill edit --editor CMD takes another\n"
    )
    steps = "Next: drill grade   drill watch\n"
    for name, command in (("EDITOR", editor), ("VISUAL", f"{editor} "), ("", f"{editor}")):
        if name:
            monkeypatch.setenv(name, command)
        FILE.unlink()  # it can still be edited
        result = drill("edit", *([] if name else ["--editor", command]))
        assert (result.status, result.out, result.err) == (0, steps, "")
        assert FILE.read_text() == f"# -w {FILE.absolute()}"
        monkeypatch.setenv("EDITOR", "false")
    drill("edit", "--editor", "no-such-editor").refused(
        "the editor no-such-editor ended with status 127; submission.py is as it left it"
    )
    drill("edit", "halve-well").refused("halve-well has no folder here")


def test_a_drill_is_started_and_opened(
    drill: Drill, editor: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    refused = drill("start", "double-trouble", "--edit", "--json")
    assert "--edit and --json exclude each other" in refused.data["error"]["message"]
    assert not FILE.parent.exists()
    monkeypatch.setenv("EDITOR", editor)
    result = drill("start", "double-trouble", "--edit")
    assert (result.status, result.err) == (0, "")
    assert result.out.endswith("Next: cd double-trouble && drill grade\n")
    assert FILE.read_text().startswith("# -w ")
