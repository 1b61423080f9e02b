"""A wrong idea is named by its results, in any style, alone or together with another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from grader.explain import idea_matching
from grader.explain.components import Component, same_in_cell
from grader.explain.session import GradingSession, grade
from grader.grading.bank_programs import BankPrograms
from grader.grading.evaluation import Evaluation
from grader.model.report import IdeaMatch, Report
from grader.reports.grade_sentences import idea_paragraphs
from grader.sandbox.remote_program import RemoteProgram
from tests.audit.audits import VARIANTS, question
from tests.explain.making import Grade, load, reference_with, solution
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")

POOL, CONV = "maxpool-routing", "conv1d-per-step"
SOFTMAX, ADAM, SWIGLU = "softmax-cross-entropy", "adam-7b-memory", "vram-bottleneck"


def exact(report: Report) -> set[str]:
    return {idea.id for idea in report.misconceptions if idea.exact}


def partial(report: Report) -> dict[str, IdeaMatch]:
    return {idea.id: idea for idea in report.misconceptions if not idea.exact}


def page_text(report: Report) -> str:
    return " ".join(page_of(report, 100).split())


# -- one idea, written in another way --------------------------------------------------------------

DIAGONAL = """\
def softmax_jacobian(p):
    out = np.zeros((len(p), len(p)), p.dtype)
    for i, probability in enumerate(p.tolist()):
        out[i, i] = probability - probability * probability
    return out
"""
PLAIN = """\
import torch.nn.functional as F


def swiglu_mlp(x, w_gate, w_up, w_down):
    return F.linear(F.silu(F.linear(x, w_gate)) * F.linear(x, w_up), w_down)
"""


@pytest.mark.parametrize(
    ("question_id", "source", "idea"),
    [
        (SOFTMAX, reference_with(SOFTMAX, DIAGONAL), "diagonal-jacobian"),
        (SWIGLU, PLAIN, "plain-autograd"),
    ],
)
def test_an_idea_is_named_in_any_style(
    question_id: str, source: str | bytes, idea: str, graded: Grade
) -> None:
    if question_id == SWIGLU:
        pytest.importorskip("torch")
    report = graded(question_id, source)
    assert report.verdict == "fail"
    assert exact(report) == {idea}
    assert partial(report) == {}
    assert f"Idea: {idea}. It gives exactly" in page_text(report)


def test_an_idea_of_a_later_part_does_not_run_before_that_part_is_asked(
    graded: Grade, monkeypatch: pytest.MonkeyPatch
) -> None:
    run: list[str] = []
    variant = BankPrograms.variant_program

    def record(bank: BankPrograms, name: str, index: int) -> RemoteProgram:
        run.append(name)
        return variant(bank, name, index)

    monkeypatch.setattr(BankPrograms, "variant_program", record)
    report = graded("rope", solution("rope", "degrees"))
    assert exact(report) == {"angles-in-degrees"}
    question = load("rope")
    parts = {question.spec.part_of(question.ideas[name].killed_by[0]) for name in run}
    assert (report.parts_passed, parts) == (0, {1})


# -- inputs that the contract does not cover, roundings, and doubts --------------------------------

TUNING, CHUNKED = "adapter-preference", "chunked-cross-entropy"


@pytest.mark.parametrize("seed", range(1, 13))
def test_an_input_that_the_contract_does_not_cover_contradicts_nothing(
    seed: int, graded: Grade
) -> None:
    # A prompt of length 0 breaks the contract; there the submission drops another token.
    report = graded(TUNING, solution(TUNING, "reference_without_a_term"), seed=seed)
    assert exact(report) == {"no-reference"}


@pytest.mark.parametrize("seed", [1, 2, 3, 4, 5, 11])
def test_a_rounding_rules_out_no_idea(seed: int, graded: Grade) -> None:
    # An entry of a gradient lies between two numbers of float16 on some of these seeds.
    report = graded(CHUNKED, solution(CHUNKED, "divides_by_every_token"), seed=seed)
    assert exact(report) == {"padding-in-the-divisor"}
    (idea,) = report.misconceptions
    assert idea.cases == idea.failing
    assert report.explanations == ()


def test_an_idea_that_an_extra_input_contradicts_is_named_with_that_doubt(graded: Grade) -> None:
    over = """\
_with_beta = preference_loss


def preference_loss(hidden, tokens, prompt, length, weight, a, b, alpha, beta):
    other = 1.0 if weight.shape in {(2, 1), (9, 4), (5, 3)} else 2 * beta
    return _with_beta(hidden, tokens, prompt, length, weight, a, b, alpha, other)
"""
    report = graded(TUNING, reference_with(TUNING, over))
    (idea,) = report.misconceptions
    assert idea.id == "no-beta"
    assert not idea.exact
    assert idea.doubt.startswith("but not in pairs with ")
    text = page_text(report)
    assert "Unsure: no-beta. It gives exactly your numbers in" in text
    assert "No listed idea" not in text


def test_ideas_that_cannot_be_told_apart_are_named_with_that_doubt(tmp_path: Path) -> None:
    variants = {"open": VARIANTS["open"], "wide-open": VARIANTS["open"]}
    feedback = {"killed_by": "gate", "feedback": "It lets everything through."}
    gate = question(
        tmp_path, variants=variants, misconceptions={name: feedback for name in variants}
    )
    report = grade(gate, b"def relu(x):\n    return 1 * x\n", seed=1)
    assert exact(report) == set()
    text = page_text(report)
    assert "No listed idea" not in text
    doubt = "It gives exactly your numbers in both failing cases, but so does"
    assert f"Unsure: open. {doubt} wide-open." in text
    assert f"Unsure: wide-open. {doubt} open." in text


# -- several at once -------------------------------------------------------------------------------

MEAN_AND_OVERWRITE = """\
_sum = _filter_gradient


def _filter_gradient(grad_y, padded, kernel, stride):
    return _sum(grad_y, padded, kernel, stride) / grad_y.shape[2]


def _input_gradient(grad_y, w, padded_shape, stride):
    out = np.zeros(padded_shape, grad_y.dtype)
    for t in range(grad_y.shape[2]):
        at = slice(t * stride, t * stride + w.shape[2])
        out[:, :, at] = np.einsum("no,ock->nck", grad_y[:, :, t], w)
    return out
"""
FLIPPED_AND_LAST = """\
_sum = _filter_gradient


def _filter_gradient(grad_y, padded, kernel, stride):
    return _sum(grad_y, padded, kernel, stride)[:, :, ::-1].copy()


def _bias_gradient(grad_y):
    return grad_y[:, :, -1].sum(axis=0)
"""


@pytest.mark.parametrize(
    ("over", "ideas"),
    [
        (MEAN_AND_OVERWRITE, {"mean-over-positions", "gx-overwrite-overlap"}),
        # Both change the training, so neither explains it alone.
        (FLIPPED_AND_LAST, {"kernel-flipped-gw", "bias-last-step"}),
    ],
)
def test_two_ideas_in_different_results_are_both_named(
    over: str, ideas: set[str], graded: Grade
) -> None:
    report = graded(CONV, reference_with(CONV, over))
    assert exact(report) == ideas
    assert partial(report) == {}
    text = page_text(report)
    assert "Two ideas: " in text
    assert all(idea in text for idea in ideas)


def test_a_partial_match_is_reported_as_partial(graded: Grade) -> None:
    over = """\
PAD = 0.0


def maxpool2d_backward(grad_y, ctx):
    return np.zeros(ctx.shape, ctx.dtype)
"""
    report = graded(POOL, reference_with(POOL, over))
    assert exact(report) == set()
    assert partial(report)["zero-padding"].results == ("y",)
    assert "Unsure: zero-padding gives your y in" in page_text(report)


# -- nothing to name -------------------------------------------------------------------------------


def scaled(function: str, expression: str) -> str:
    head = f"_r = {function}\n\n\ndef {function}(*a, **k):\n"
    return f"{head}    r = _r(*a, **k)\n    return {expression}\n"


@pytest.mark.parametrize(
    ("question_id", "over"),
    [
        (POOL, scaled("maxpool2d_backward", "r * 1.5")),
        (POOL, scaled("maxpool2d_backward", "np.zeros_like(r)")),
        (POOL, scaled("maxpool2d_forward", "None")),
        (POOL, scaled("maxpool2d_forward", "1 / 0")),
        (CONV, scaled("conv1d_backward", "tuple(3 * g for g in r)")),
        (SOFTMAX, scaled("log_softmax", "r - 1e-6")),
        (ADAM, scaled("training_state", "{k: v + 1 for k, v in r.items()}")),
        # Faults besides wrong values.
        (POOL, scaled("maxpool2d_forward", "__import__('os')._exit(0)")),
        (POOL, scaled("maxpool2d_forward", "(a[0] / 0 * {}, 1)")),
        (POOL, scaled("maxpool2d_forward", "(np.broadcast_to(0.0, (1 << 15, 1 << 15)), r[1])")),
        (POOL, scaled("maxpool2d_forward", "a[0].__setitem__(..., 0) or r")),
        # A view of a table is not an index; an exception after a wrong result has no idea.
        (POOL, solution(POOL, "index_is_a_view")),
        (CONV, solution(CONV, "padding_capped")),
    ],
)
def test_a_fault_without_an_idea_gets_no_name(
    question_id: str, over: str | bytes, graded: Grade
) -> None:
    report = graded(
        question_id, reference_with(question_id, over) if isinstance(over, str) else over
    )
    assert report.verdict in {"fail", "error", "limit"}
    assert report.misconceptions == ()


def test_a_skipped_check_is_no_evidence(graded: Grade) -> None:
    pytest.importorskip("torch")
    fused = """\
import torch
import torch.nn.functional as F


def swiglu_mlp(x, w_gate, w_up, w_down):
    g, u = F.linear(x, torch.cat([w_gate, w_up])).chunk(2, dim=-1)
    return torch.einsum("...f,df->...d", F.silu(g) * u, w_down)
"""
    # Five ideas have as many FLOPs, and without a graph nothing is saved: neither is evidence.
    assert {m.id for m in graded(SWIGLU, fused).misconceptions} <= {"plain-autograd"}
    blind = reference_with(SWIGLU, "torch.set_grad_enabled(False)\n")
    assert graded(SWIGLU, blind).misconceptions == ()


# -- an idea with a second fault, and two ideas that change the same cells -------------------------


@pytest.mark.parametrize(
    "body",
    [
        "r.astype(np.float64)",  # a lost dtype
        "r if a[0].size else np.zeros((0, 1))",  # another shape of nothing
        "r if a[0].size else 1 / 0",  # a crash on nothing
    ],
)
def test_a_fault_of_another_kind_hides_no_idea(body: str, graded: Grade) -> None:
    idea = load(POOL).variants["eq-mask-ties"][0]
    source = reference_with(POOL, idea) + b"\n\n" + scaled("maxpool2d_backward", body).encode()
    assert "eq-mask-ties" in exact(graded(POOL, source))


def test_tensors_kept_are_compared_by_value_and_not_by_bytes(graded: Grade) -> None:
    recomputed = """

_f, _b = maxpool2d_forward, maxpool2d_backward


def maxpool2d_forward(x, kernel, stride, padding=0):
    return _f(x, kernel, stride, padding)[0], ({}, kernel, stride, padding)


def maxpool2d_backward(grad_y, ctx):
    return _b(grad_y, _f(*ctx)[1])
"""
    reference = load(POOL).reference.decode()
    assert exact(graded(POOL, reference + recomputed.format("x"))) == {"keeps-the-input"}
    assert exact(graded(POOL, reference + recomputed.format("x.copy()"))) == {"keeps-the-input"}
    # As many bytes, of something else:
    halves = reference + recomputed.format("x / 2").replace("_f(*ctx)", "_f(2 * ctx[0], *ctx[1:])")
    assert graded(POOL, halves).misconceptions == ()


@pytest.mark.parametrize(
    ("name", "idea"),
    [("keeps_the_output_too", "keeps-the-output"), ("closure_over_everything", "keeps-the-input")],
)
def test_a_submission_that_keeps_more_than_an_idea_does_not_match_exactly(
    name: str, idea: str, graded: Grade
) -> None:
    report = graded(POOL, solution(POOL, name))
    assert [(m.id, m.exact) for m in report.misconceptions] == [(idea, False)]
    assert not any("exactly" in paragraph.text for paragraph in idea_paragraphs(report))
    assert "a different number of bytes" in idea_paragraphs(report)[-1].text


def test_cells_that_an_idea_changes_are_compared_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    compared: list[str] = []

    def count(a: Evaluation, b: Evaluation, component: Component, case: str) -> bool:
        compared.append(a.subject.name)
        return same_in_cell(a, b, component, case)

    monkeypatch.setattr(idea_matching, "same_in_cell", count)
    question = load("deviations")
    matches = []
    comparisons = []
    with GradingSession(question, proved=True) as session:
        for seed in (5, 5, 6):
            matches.append(session.grade(question.starter, seed=seed).misconceptions)
            comparisons.append(compared.count("reference"))
            compared.clear()
    assert matches[0] == matches[1] == matches[2] != ()
    first, again, other_seed = comparisons
    assert first >= other_seed > 0  # comparisons on extra inputs hold for every seed
    assert again == 0


def test_an_idea_that_only_agrees_in_truth_values_must_explain_everything(
    graded: Grade,
) -> None:
    report = graded(ADAM, solution(ADAM, "fits_with_a_tenth_free"))
    assert report.verdict == "fail"
    assert not report.misconceptions
