"""No word that is put into a worker's mouth makes a pass: the judge has others to believe."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest

from grader.model.question import Question
from grader.model.verdict import Verdict
from grader.sandbox.spawn import Zygote
from tests.asking import with_checks
from tests.attacks import forgeries
from tests.attacks.attack import question
from tests.attacks.forgeries import CLOSED, WAYS, forged
from tests.attacks.running import Graded, one_session, said

pytestmark = pytest.mark.same_for_every_user

NEEDS_TORCH = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="needs torch")
REFUSED = {Verdict.FAIL, Verdict.POLICY}
MANNERS = {
    "in-place": forgeries.IN_PLACE,
    "in-its-argument": forgeries.IN_ITS_ARGUMENT,
    "one-buffer": forgeries.ONE_BUFFER,
}
HIDDEN = {
    "c's heap": forgeries.ON_THE_HEAP_OF_C,
    "a thread": forgeries.IN_A_THREAD,
}


def refused(report: Any, check_id: str) -> None:
    """See that a report has no pass because of a check."""
    found = next(check for check in report.checks if check.id == check_id)
    assert found.verdict in REFUSED, said(report)
    assert report.verdict in REFUSED, said(report)


@pytest.mark.parametrize("breach", MANNERS)
@pytest.mark.parametrize("way", WAYS)
def test_what_becomes_of_inputs_and_results_is_seen(
    way: str, breach: str, in_session: Graded
) -> None:
    asked = question()
    text = asked.reference.decode() + MANNERS[breach] + forged(way, forgeries.GOOD_MANNERS)
    refused(in_session(asked, text.encode())[0], "manners")


@pytest.mark.parametrize("way", CLOSED)
def test_what_asks_a_program_is_out_of_its_reach(way: str, in_session: Graded) -> None:
    asked = question()
    text = asked.reference.decode() + MANNERS["in-place"] + forged(way, forgeries.GOOD_MANNERS)
    report, printed = in_session(asked, text.encode())
    assert "reached" not in printed
    refused(report, "manners")


@pytest.mark.parametrize("way", WAYS)
def test_state_is_seen_whatever_is_said_of_it(way: str, in_session: Graded) -> None:
    asked = question()
    source = forgeries.MUCH_STATE + forged(way, forgeries.LITTLE_STATE)
    refused(in_session(asked, (asked.reference.decode() + source).encode())[0], "kept")


@pytest.mark.parametrize("place", HIDDEN)
def test_one_copy_for_all_runs_is_not_enough(place: str, in_session: Graded) -> None:
    asked = question()
    refused(in_session(asked, (asked.reference.decode() + HIDDEN[place]).encode())[0], "kept")


def test_who_keeps_nothing_while_runs_are_held_cannot_go_on(in_session: Graded) -> None:
    asked = question()
    source = forgeries.NOTHING_WHILE_HELD + forged("the-encoder", forgeries.LITTLE_STATE)
    report, _ = in_session(asked, (asked.reference.decode() + source).encode())
    refused(report, "kept")
    assert "runs are under way and one of them goes on" in said(report)


@functools.cache
def squares() -> Question:
    """The question about squares, on a case that is large enough for the system to see."""
    found = question("squares-graph")
    big = {"about": "512 rows", "dtype": "float32", "x": {"normal": [512, 128]},
           "w": {"normal": [128, 512]}, "grad_y": {"normal": "like y"}}  # fmt: skip
    cases = {**found.spec.cases, "big": big}
    checks = [
        c.model_copy(update={"cases": "big"} if c.id in {"saved", "alive", "cost"} else {})
        for c in found.spec.checks
        if c.id != "peak"
    ]
    return with_checks(found, checks, cases=cases)


TORCH = {
    "not its own node": (forgeries.CHECKPOINTED, forgeries.OWN_NODE, "node"),
    "the product is kept": (forgeries.KEEPS_THE_PRODUCT, forgeries.LITTLE_SAVED, "alive"),
    "products that are not counted": (forgeries.MANY_PRODUCTS, forgeries.FEW_PRODUCTS, "cost"),
}


@pytest.fixture(scope="module")
def in_torch(torch_zygote: Zygote) -> Iterator[Graded]:
    """A session of a question that needs torch."""
    with one_session(torch_zygote, torch=True) as graded:
        yield graded


@NEEDS_TORCH
@pytest.mark.parametrize("way", ["subclasses", "the-encoder"])
@pytest.mark.parametrize("breach", TORCH)
def test_graphs_are_seen_whatever_is_said_of_them(breach: str, way: str, in_torch: Graded) -> None:
    asked = squares()
    source, lie, check_id = TORCH[breach]
    text = asked.reference.decode() + source + forged(way, lie)
    refused(in_torch(asked, text.encode())[0], check_id)


@NEEDS_TORCH
def test_the_same_graphs_pass_where_nothing_is_done_or_said(in_torch: Graded) -> None:
    report, _ = in_torch(squares(), squares().reference)
    assert report.verdict is Verdict.PASS, said(report)
