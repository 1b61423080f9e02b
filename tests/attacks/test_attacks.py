"""No attack passes and none leaves a trace, whether its worker started afresh or was forked."""

from __future__ import annotations

import os
import re
import resource

import pytest

from grader.sandbox import client, remote
from grader.sandbox.spawn import Zygote
from tests.attacks import catalogue
from tests.attacks.attack import DONE, ODD, PASS, Attack, question
from tests.attacks.level import could_be_strong, level_here
from tests.attacks.running import graded, said
from tests.attacks.victims import Victims, traces

MEMORY = 96 << 10  # kilobytes by which the judge's own peak may grow in an attack: two replies
# What is handed in as an answer meets no wall.
SAME = {attack.name: [pytest.mark.same_for_every_user] for attack in catalogue.answers.ATTACKS}
ATTACKS = [pytest.param(a, id=a.name, marks=SAME.get(a.name, [])) for a in catalogue.ATTACKS]


def test_the_walls_are_all_up() -> None:
    """A weak level would let attacks through for the wrong reason, so it is a failure."""
    if os.environ.get("DRILL_TESTS_WEAK") == "1":
        return
    assert could_be_strong(), "no Landlock or seccomp here; DRILL_TESTS_WEAK=1 accepts that"
    assert level_here().startswith("isolation strong")


@pytest.mark.parametrize("cold", [True, False], ids=["cold", "forked"])
@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_gets_its_verdict_and_leaves_no_trace(
    attack: Attack,
    cold: bool,
    numpy_zygote: Zygote,
    victims: Victims,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if attack.seconds is not None:
        monkeypatch.setattr(remote, "CALL_SECONDS", attack.seconds)
        monkeypatch.setattr(client, "SLACK", 0)  # for busy machines, of which this waits for none
    graded_once(attack, cold, numpy_zygote, victims)


def graded_once(attack: Attack, cold: bool, zygote: Zygote, victims: Victims) -> None:
    """Grade an attack and compare verdict, words and traces with what they must be."""
    text = attack.text(victims.known())
    question()  # loaded before the first look
    before, memory = traces(victims), peak()
    report, printed = graded(
        question(), text, zygote=zygote, cold=cold, cpu_seconds=attack.cpu_seconds
    )
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
    """The most memory that the judge has taken so far, in kilobytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
