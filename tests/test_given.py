"""Numbers on paper are drawn: what is shown is what is judged, whichever they are."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from grader import bank, forms
from grader.audit.audit import AuditPlan, audit_questions
from grader.bank.starter_repair import repair_changes, repaired_starter
from grader.cases.recipe import read_cases
from grader.commands.show import collect_evidence
from grader.explain.session import GradingSession
from grader.forms import follow_up
from grader.model.question import Question
from grader.model.report import Verdict
from grader.reports import discuss
from grader.reports.blocks import render_text
from grader.reports.interviewer import interviewer_guide
from grader.reports.question import handed_out_markdown, question_markdown
from tests.content import content
from tests.harness import ROOT, Program, load_text
from tests.pages import page_of

PAPER = [h.id for h in bank.headers([ROOT]) if h.form in {"estimate", "predict"}]


@cache
def drawn(name: str, seed: int) -> Question:
    return bank.load_question([ROOT], name, seed)


SETS = [(name, n) for name in PAPER for n in range(len(drawn(name, 0).spec.given))]
every_set = pytest.mark.parametrize(
    ("name", "number"), [content(name, name, number) for name, number in SETS]
)


def test_every_estimate_and_prediction_has_numbers_to_draw() -> None:
    assert len(PAPER) == 6
    assert {name for name in PAPER if 3 <= len(drawn(name, 0).spec.given) <= 6} == {*PAPER}


def numbers(text: str, pattern: str) -> list[float]:
    """The numbers in the groups of what a pattern finds in a text without line ends."""
    found = re.search(pattern, " ".join(text.split()))
    assert found is not None, text
    return [float(one.replace(",", "")) for group in found.groups() for one in group.split(", ")]


# The inputs as somebody reads them who has nothing but the page.
READ: dict[str, Callable[[str], dict[str, Any]]] = {
    "decode-on-paper": lambda page: dict(zip(
        ("layers", "query_heads", "kv_heads", "head", "weights", "batch", "tokens"),
        numbers(page, r"with (\d+) layers, (\d+) query heads that share (\d+) key-value heads of"
                r" width (\d+), and ([\d.]+e9) weights.* Serving (\d+) sequences of ([\d,]+)"),
        strict=True)),
    "roofline-and-ledger": lambda page: dict(zip(
        ("layers", "hidden", "heads", "kv_heads", "head", "wide", "params", "tokens"),
        numbers(page, r"of (\d+) blocks, width h = (\d+), (\d+) query heads that share (\d+)"
                r" key-value heads of width (\d+), a SwiGLU of width f = (\d+),.* ([\d.]+e9)"
                r" parameters.* sequence of ([\d,]+) tokens"), strict=True)),
    "cluster-on-paper": lambda page: dict(zip(
        ("layers", "hidden", "heads", "kv_heads", "wide", "vocab", "stages", "replicas", "micro",
         "tokens", "port", "pcie", "step"),
        numbers(page, r"of (\d+) blocks, width (\d+): (\d+) query heads and (\d+) key-value heads"
                r" of width 128, SwiGLU of width (\d+),.* vocabulary of ([\d,]+), .* cards: (\d+)"
                r" pipeline stages, (\d+) replicas, 1F1B with (\d+) micro-batches .* of ([\d,]+)"
                r" tokens;.* sends (\d+) Gb/s, PCIe (\d+) GB/s .* takes ([\d.]+) s\."),
        strict=True)),
    "seven-windows": lambda page: {
        "x": numbers(page, r" x = \[(.*?)\]"), "grad_y": numbers(page, r"grad_y = \[(.*?)\]"),
        "kernel": 3, "stride": 2,
    },
    "three-rows": lambda page: {
        "powers": [1, *numbers(page, r"\[0, ln (\d+), ln (\d+)\]")],
        "target": numbers(page, r"and the target (\d)\.")[0], "counted": 2, "rows": 3,
    },
    "four-averages": lambda page: {
        "grad_y": [numbers(page, r"grad_y = \[\[(.*?)\]"), numbers(page, r"\], \[(.*?)\]\]")],
        "side": 3, "kernel": 3, "stride": 2, "padding": 1,
    },
}  # fmt: skip


@every_set
def test_what_is_shown_is_what_is_judged(name: str, number: int) -> None:
    question = drawn(name, number)
    (case,) = read_cases(question.spec.cases)[0].values()
    judged = {key: recipe.literal for key, recipe in case.inputs.items()}
    page = question_markdown(question)
    assert READ[name](page) == judged
    assert READ[name](handed_out_markdown(question, 1, ())) == judged
    assert f"numbers of seed {number}" in page


def test_what_a_person_is_given_for_y_is_what_pooling_makes_of_x() -> None:
    for number in range(len(drawn("seven-windows", 0).spec.given)):
        one = drawn("seven-windows", number).spec.given[number]
        assert [max(one["x"][i : i + 3]) for i in (0, 2, 4)] == one["y"]  # type: ignore[index]


@pytest.fixture(scope="module")
def sessions(one_zygote: None) -> Iterator[Callable[[str, int], GradingSession]]:
    """Give a session of a question with a set of its numbers, opened once."""
    opened: dict[tuple[str, int], GradingSession] = {}

    def of(name: str, number: int) -> GradingSession:
        if (name, number) not in opened:
            opened[name, number] = GradingSession(drawn(name, number))
        return opened[name, number]

    yield of
    for session in opened.values():
        session.close()


@every_set
def test_the_working_that_is_shown_passes_with_its_numbers_and_no_others(
    name: str, number: int, sessions: Callable[[str, int], GradingSession]
) -> None:
    right = repaired_starter(drawn(name, number))
    for other in range(len(drawn(name, 0).spec.given)):
        report = sessions(name, other).grade(right, seed=other, filename="answers.txt")
        assert (report.verdict is Verdict.PASS) is (other == number), other


@every_set
def test_no_page_has_a_brace(
    name: str, number: int, sessions: Callable[[str, int], GradingSession]
) -> None:
    question = drawn(name, number)
    spec, form = question.spec, forms.form_of(question.spec)
    pages = [question_markdown(question), handed_out_markdown(question, 1, ())]
    pages += [question.starter.decode(), repaired_starter(question).decode(), *spec.teaches]
    pages += [text for one in repair_changes(question) for _, text in one.why]
    pages += [one.decode() for one in question.accepted.values()]
    pages += spec.parts[0].hints
    for one in spec.follow_ups:
        asked = [*discuss.follow_up_blocks(one, ""), *discuss.answer_blocks(one, "fail", "", "")]
        pages.append(render_text(asked))
    ideas = collect_evidence(question)
    pages.append(render_text(interviewer_guide(question, evidence=ideas)))
    pages += [idea.feedback for idea in ideas]
    assert len(ideas) == len(question.ideas)
    lines = [f"{n} = 1{a.unit if a.unit != '1' else ''}" for n, a in spec.answers.items()]
    wrong = sessions(name, number).grade("\n".join(lines).encode(), seed=number, filename=form.file)
    pages.append(page_of(wrong, 80))
    assert not [page for page in pages if re.search(r"[{}]", page)]


@every_set
def test_a_follow_up_is_right_by_its_own_answer(name: str, number: int) -> None:
    for one in drawn(name, number).spec.follow_ups:
        if one.number:
            assert follow_up.judge_answer(one, one.number) == (True, "")
            figure = one.number.split()[0]
            assert figure in one.answer or one.number == "1/4"
        for typed, idea in one.ideas.items():
            assert follow_up.judge_answer(one, typed) == (False, idea)


def roofline(number: int) -> tuple[dict[str, Any], Program]:
    question = drawn("roofline-and-ledger", number)
    return question.spec.given[number], load_text(question.reference)


@pytest.mark.parametrize("number", range(5))
def test_the_ledger_of_every_model_says_what_the_texts_say(number: int) -> None:
    one, program = roofline(number)
    h, f, tokens = one["hidden"], one["wide"], one["tokens"]
    assert (f, one["heads"] * 128, one["kv_heads"] * 8) == (3.5 * h, h, one["heads"])
    parameters = one["layers"] * 12.75 * h * h + 2 * 128_256 * h
    assert one["params"] == pytest.approx(parameters, rel=5e-3)
    shape = (h, one["heads"], one["kv_heads"], 128, f)
    found = program.ledger(one["layers"], *shape, tokens)
    assert found["saved"] == 40.5 * tokens * h * one["layers"]
    state = program.opinions(one["params"], *shape)
    assert state["state"] > found["saved"]  # "the optimizer, here"
    assert found["saved"] + found["stored"] > 2 * found["saved"]
    assert tokens < state["break_even"]
    times = program.roofline(h, f, tokens)
    moved = 2 * (tokens * h + h * f + tokens * f) / 3.35e12
    assert times["product_time"] > moved
    answers = " ".join(one.answer for one in drawn("roofline-and-ledger", number).spec.follow_ups)
    share = times["swiglu_time"] / times["product_time"]
    assert f"takes {100 * share:.0f} % of" in answers
    assert f"from {state['break_even']:,.0f} tokens" in answers
    said = drawn("roofline-and-ledger", number).ideas["product-by-bandwidth"].feedback_for()
    assert f"{times['product_time'] / moved:.0f} times as long" in said


@pytest.mark.parametrize("number", range(5))
def test_every_model_fits_on_the_card_and_waits_for_its_memory(number: int) -> None:
    question = drawn("decode-on-paper", number)
    one: dict[str, Any] = dict(question.spec.given[number])
    program = load_text(question.reference)
    shape = [one[n] for n in ("layers", "query_heads", "kv_heads", "head", "tokens", "batch")]
    cache = program.cache(*shape)["kv_total"]
    assert 0.9 * 2 * one["weights"] < cache < 80e9 - 2 * one["weights"]
    decode = program.decode(*shape, one["weights"])
    below = 989 / 3.35 / decode["decode_intensity"]
    assert below > 5
    assert f"is {below:.2g} times below the ridge" in question.spec.follow_ups[0].answer
    heads = {n: float(program.attention(1, one[n], 1, 1)) for n in ("query_heads", "kv_heads")}
    assert f"{heads['query_heads'] / (2 * one['kv_heads']):g} FLOP per byte" in (
        question.spec.follow_ups[0].answer
    )


def test_an_audit_finds_what_is_wrong_with_one_set_alone(tmp_path: Path, one_zygote: None) -> None:
    (tmp_path / "questions").mkdir()
    text = (ROOT / "questions" / "three-rows.yaml").read_text()
    old = "{powers: [1, 7, 2], y: [1, 0, 0]}"
    assert old in text
    spec = tmp_path / "questions" / "three-rows.yaml"
    home = tmp_path / "drills" / "three-rows"
    home.mkdir(parents=True)
    for file in ("accepted.txt", "repair.txt"):
        (home / file).write_bytes((ROOT / "drills" / "three-rows" / file).read_bytes())
    # 1 + 1 + e is nearly what makes logits and probabilities alike.
    spec.write_text(text.replace(old, "{powers: [1, 1, 1000000], y: [0, 0, 1]}"))
    ((report, _),) = audit_questions(
        [bank.load_question([tmp_path], "three-rows")], AuditPlan(seeds=[0]), lambda _: None
    )
    assert report.problems
    assert all(one.startswith("with the numbers of seed 2: ") for one in report.problems)
