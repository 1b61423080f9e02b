"""`drill hint` gives one more each time; `drill solution` waits for a pass or a word."""

from __future__ import annotations

from pathlib import Path

from tests.cli import stand_in
from tests.cli.conftest import Drill


def test_hints_come_one_at_a_time_and_say_how_many_are_left(drill: Drill) -> None:
    drill("start", "double-trouble")
    first, second, third, again = (drill("hint").out for _ in range(4))
    assert "hint 1 of 3\n    Try 0.\n" in first
    assert "2 more hints   Next: drill hint" in first
    assert "Try 0." not in second
    assert "1 more hint   Next: drill hint" in second
    assert "that was the last hint" in third
    assert again.count("hint ") >= 3
    assert "these were all the hints" in again


def test_the_solution_waits_for_a_pass(drill: Drill) -> None:
    drill("start", "double-trouble")
    drill("grade")
    ended = drill("solution")
    assert ended.status == 2
    assert "return 2 * x" not in ended.out
    assert "Next: drill hint   drill solution --give-up\n" in ended.err
    Path("double-trouble/submission.py").write_text("# pass\n")
    drill("grade")
    ended = drill("solution")
    assert ended.status == 0
    assert ended.out.startswith(
        "double-trouble: the smallest repair of the starter (-), 1 line (+)"
    )
    assert "\n-    return x + x + 1\n+    return 2 * x\n" in ended.out
    assert (
        "Next: drill solution --mine   drill solution --full   drill solution --follow" in ended.out
    )
    assert "Multiply by 0.5." not in ended.out
    assert "Multiply by 0.5." in drill("solution", "--follow-ups").out
    full = drill("solution", "--full").out
    assert full.startswith("def double(x):\n    return 2 * x\n")
    assert "- Arithmetic, p. 1" in full


def test_ones_own_file_is_compared_with_the_nearest_right_one(drill: Drill) -> None:
    drill("start", "double-trouble")
    Path("double-trouble/submission.py").write_text("# pass\ndef double(x):\n    return x\n")
    drill("grade")
    out = drill("solution", "--mine").out
    assert out.startswith("double-trouble: yours (-) and a right file (+)\n-# pass\n def double(x)")
    assert "\n-    return x\n+    return 2 * x\n" in out
    plain = drill("solution", "--mine", "--plain").out
    assert "\ngoes:     return x\ncomes:     return 2 * x\n" in plain
    Path("double-trouble/submission.py").write_bytes(stand_in.REFERENCE)
    assert "yours is a right file, line by line" in drill("solution", "--mine").out
    Path("double-trouble/submission.py").unlink()
    assert "there is no file of yours" in drill("solution", "--mine").out
    assert drill("solution", "--json").data["mine"] is None
