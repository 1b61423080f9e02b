"""Missing functions are reported first, and nothing else about their part."""

from __future__ import annotations

import ast

import pytest

from grader.explain.session import grade
from grader.model.question import Question
from grader.model.report import Report
from grader.reports.blocks import render_html, render_text
from grader.reports.grade import assistant_document, student_feedback_blocks
from tests.asking import asked
from tests.pages import page_of

pytestmark = pytest.mark.usefixtures("one_zygote")


def without(question: Question, name: str, instead: str = "") -> bytes:
    """Return the reference of a question without a name; CLASS.METHOD is a method."""
    lines = question.reference.decode().split("\n")
    nodes: list[ast.stmt] = ast.parse(question.reference).body
    for word in name.split("."):
        node = next(node for node in nodes if word in names_of(node))
        nodes = getattr(node, "body", [])
    lines[node.lineno - 1 : node.end_lineno] = [instead] if instead else []
    return "\n".join(lines).encode()


def names_of(node: ast.stmt) -> list[str]:
    """Return the names that a statement binds."""
    if isinstance(node, ast.Assign):
        return [target.id for target in node.targets if isinstance(target, ast.Name)]
    return [getattr(node, "name", "")]


def said_of(report: Report) -> list[str]:
    """Return the texts on the fault in the page of a report, its JSON and a student's feedback."""
    pages = [
        page_of(report),
        render_text(student_feedback_blocks(report)),
        render_html(student_feedback_blocks(report)),
    ]
    checks = assistant_document(report)["checks"]
    failing = [c for c in checks if c["verdict"] not in {"pass", "skipped"}]  # type: ignore[attr-defined]
    assert not report.misconceptions
    assert not report.explanations
    assert len(failing) == 1
    return [" ".join(page.split()) for page in pages]


@pytest.mark.parametrize(
    ("question_id", "name", "sentence", "part"),
    [
        ("layernorm-backward", "rmsnorm", "rmsnorm(x, gamma, eps=1e-5) yet.", 2),
        ("layernorm-backward", "WHY", "WHY yet.", 2),
        (
            "tensor-parallel",
            "mlp_backward",
            "mlp_backward(grad_y, x, w1, b1, w2, b2, all_reduce) yet.",
            2,
        ),
        ("paged-kv-cache", "PagedCache.start", "PagedCache.start(tokens) yet.", 3),
        ("paged-kv-cache", "PagedCache", "class PagedCache yet.", 1),
        ("online-softmax", "attend", "attend(q, k, v, block) yet.", 1),
        (
            "gradient-check",
            "gradient_is_right",
            "gradient_is_right(forward, backward, x, rng) yet.",
            1,
        ),
        ("sampled-gradient", "noise", "noise(grads, batch, replacement=True) yet.", 3),
    ],
)  # fmt: skip
def test_only_the_missing_functions_are_reported(
    question_id: str, name: str, sentence: str, part: int
) -> None:
    question = asked(question_id)
    report = grade(question, without(question, name), seed=3)
    assert report.verdict == "error"
    assert report.message == f"submission.py does not define {sentence.removesuffix('.')}"
    assert report.parts_passed == part - 1
    for page in said_of(report) if report.checks else [page_of(report)]:
        assert f"submission.py does not define {sentence}" in " ".join(page.split())
        assert not any(word in page for word in ("Facts", "Rule", "Idea", "Also fails", "listed"))


@pytest.mark.parametrize(
    "body",
    [
        "...", "pass", '"""Its gradient."""', "return None", "raise NotImplementedError",
        "raise NotImplementedError('later')",
    ],
)  # fmt: skip
def test_a_function_without_a_body_is_not_implemented_yet(body: str) -> None:
    question = asked("layernorm-backward")
    stub = f"def rmsnorm_backward(grad_y, ctx): {body}"
    report = grade(question, without(question, "rmsnorm_backward", stub), seed=3)
    assert report.message == "rmsnorm_backward(grad_y, ctx) is not implemented yet"
    assert all("not implemented yet" in page for page in said_of(report))


def test_checks_that_pass_next_to_a_missing_function_earn_their_points() -> None:
    question = asked("deeper-is-worse")
    report = grade(question, without(question, "causes"), seed=3)
    assert "does not define causes() yet" in report.message
    right = [check for check in report.checks if check.part == 1 and check.verdict == "pass"]
    assert sum(check.points for check in right) == report.parts[0].points > 0


def test_a_passing_part_needs_no_functions_of_the_next() -> None:
    question = asked("layernorm-backward")
    report = grade(question, without(question, "rmsnorm"), seed=3, parts=[1])
    assert (report.verdict, report.message) == ("pass", "")


def test_a_fault_of_an_earlier_part_comes_first() -> None:
    question = asked("layernorm-backward")
    source = without(question, "rmsnorm") + b"\n\ndef layernorm(x, gamma, beta, eps=1e-5):\n"
    report = grade(question, source + b"    return x * 0, (x, gamma, eps)\n", seed=3)
    assert (report.verdict, report.message) == ("fail", "")


def test_a_class_without_any_of_its_methods_is_named_alone() -> None:
    question = asked("paged-kv-cache")
    report = grade(question, b"def helper(): return 1\n", seed=3)
    assert report.message == "submission.py does not define class PagedCache yet"


def test_a_constant_need_not_be_a_function() -> None:
    question = asked("layernorm-backward")
    source = question.reference.replace(b"np.sqrt(_mean(x * x) + eps)", b"np.sqrt(_mean(x * x))")
    report = grade(question, source, seed=3)
    assert (report.verdict, report.message) == ("fail", "")
    number = grade(question, question.reference + b"\nrmsnorm = 3\n", seed=3)
    assert number.message == "expected a function called rmsnorm, found an int"


@pytest.mark.parametrize(
    "assigned",
    [
        "self.read = self.gone",
        "for name in ('read', 'free'): setattr(self, name, self.gone)",
        "vars(self)['read'] = self.gone",
    ],
)
def test_a_method_that_instances_get_later_is_not_called_missing(assigned: str) -> None:
    question = asked("paged-kv-cache")
    methods = "".join(f"    def {n}(self, *_): return 1\n" for n in ("new", "append", "fork"))
    methods += "    def in_use(self): return 1\n    def free(self, seq): return 1\n"
    source = f"class PagedCache:\n    def __init__(self, *_):\n        {assigned}\n{methods}"
    report = grade(question, source.encode(), seed=3)
    assert "does not define" not in report.message
