"""No attack passes and none leaves a trace, whether its worker started afresh or was forked."""

from __future__ import annotations

import os
import re
import resource
from contextlib import ExitStack

import pytest

from grader.sandbox import client, remote_program
from grader.sandbox.spawn import Zygote
from tests.attacks import catalogue
from tests.attacks.attack import DONE, ODD, PASS, Attack, question
from tests.attacks.level import could_be_strong, level_here
from tests.attacks.running import Graded, one_session, said
from tests.attacks.victims import Victims, traces

MEMORY = 96 << 10  # kilobytes by which the judge's own peak may grow in an attack: two replies
# What is handed in as an answer meets no wall: neither the user nor the start is anything to it.
ANSWERS = set(catalogue.answers.ATTACKS)
# What a worker inherits depends on how it was started; its walls are put up by the same code.
BOTH = {*catalogue.protocol.ATTACKS, *catalogue.processes.ATTACKS, *catalogue.kernel.ATTACKS}
ATTACKS = [
    pytest.param(
        attack,
        cold,
        id=f"{attack.name}-{'cold' if cold else 'forked'}",
        marks=[pytest.mark.same_for_every_user] if attack in ANSWERS else [],
    )
    for attack in catalogue.ATTACKS
    for cold in ((True, False) if attack in BOTH else (False,))
]


def test_all_walls_are_up() -> None:
    """A weak level would let attacks through for the wrong reason, so it is a failure."""
    if os.environ.get("DRILL_TESTS_WEAK") == "1":
        return
    assert could_be_strong(), "no Landlock or seccomp here; DRILL_TESTS_WEAK=1 accepts that"
    assert level_here().startswith("isolation strong")


@pytest.fixture(scope="module")
def session(in_session: Graded) -> Graded:
    """Yield a session after one failing grade, so that it has all that it will keep."""
    wrong = Attack("wrong", "gives zeros", "def centre(x, w):\n    return x * 0, (x, w)")
    assert in_session(question(), wrong.text({}))[0].verdict in wrong.verdicts
    return in_session


@pytest.mark.parametrize(("attack", "cold"), ATTACKS)
def test_an_attack_gets_its_verdict_and_leaves_no_trace(
    attack: Attack,
    cold: bool,
    numpy_zygote: Zygote,
    session: Graded,
    victims: Victims,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if attack.seconds is not None:
        monkeypatch.setattr(remote_program, "CALL_SECONDS", attack.seconds)
        monkeypatch.setattr(client, "IDLE_SECONDS", attack.seconds)
    text = attack.text(victims.known())
    before, memory = traces(victims), peak()
    with ExitStack() as own:
        if cold and attack in catalogue.protocol.ATTACKS:  # it may race with the reference
            session = own.enter_context(one_session(numpy_zygote))
        report, printed = session(question(), text, cold=cold, cpu_seconds=attack.cpu_seconds)
    after = traces(victims)
    words = said(report)
    for line in printed.splitlines():
        assert not line.startswith((DONE, ODD)), line
    if attack.acts and PASS not in attack.verdicts:
        assert "refused" in printed or not attack.alive, words
    assert report.verdict in attack.verdicts, words
    assert re.search(attack.says, words), words
    for what, was in before.items():
        assert after[what] == was, what
    assert peak() - memory < MEMORY


def peak() -> int:
    """Return the highest memory use of the judge so far, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
