"""Hand-built reports, one for every shape of a page.  No clock, no grading."""

from __future__ import annotations

from dataclasses import replace

from grader.model.report import (
    Bar,
    Bars,
    Breakdown,
    CheckResult,
    Curve,
    Explanation,
    Frame,
    Grids,
    Mismatch,
    Named,
    Panel,
    PartResult,
    Raised,
    Report,
    Row,
    Verdict,
)  # fmt: skip
from grader.reports.blocks import Item, Paragraph
from grader.reports.grade import Around

PASS, FAIL, ERROR, LIMIT = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT
SKIPPED, UNCLEAR = Verdict.SKIPPED, Verdict.INCONCLUSIVE


def check(id_: str, kind: str, verdict: Verdict, message: str, **more: object) -> CheckResult:
    return replace(CheckResult(id_, kind, verdict, message), **more)  # type: ignore[arg-type]


def passing(*ids: str) -> tuple[CheckResult, ...]:
    return tuple(check(i, "outputs", PASS, "2 cases", cases=(f"{i}-a", f"{i}-b")) for i in ids)


def panel(title: str, *rows: str, **marks: object) -> Panel:
    return replace(Panel(title, tuple(tuple(row.split()) for row in rows)), **marks)  # type: ignore[arg-type]


def parts(reached: int, *points: int) -> tuple[PartResult, ...]:
    verdicts = [PASS if n < reached else FAIL if n == reached else SKIPPED for n in range(3)]
    earned = [of if v is PASS else 0 for of, v in zip(points, verdicts, strict=True)]
    each = zip(verdicts, earned, points, strict=True)
    return tuple(PartResult(str(n), v, e, of) for n, (v, e, of) in enumerate(each, 1))


MAXPOOL = Report(
    "maxpool-routing",
    "A few points short",
    FAIL,
    seed=8121,
    isolation="strong",
    seconds=0.41,
    parts=parts(0, 40, 30, 30),
)
CONV = replace(MAXPOOL, question="conv1d-per-step", title="One filter", parts=parts(1, 40, 30, 30))
ONE_PART = replace(MAXPOOL, parts=(PartResult("1", FAIL, 0, 100),))

# -- wrong results: one finding with its numbers, and what is known of the cause ----------------

_ROUTING = check(
    "routing",
    "outputs",
    FAIL,
    "grad_x differs in 3 of 3 cases; the smallest is one-window",
    cases=("one-window", "distinct", "wide"),
    failing=("one-window", "distinct", "wide"),
    about="one window whose winner is off the diagonal",
    inputs={"x": "(1, 1, 3, 3)", "kernel": "3", "stride": "3"},
    mismatch=Mismatch("grad_x", "one-window", (0, 0, 0, 1), "0.1111", "1.000", "+-1e-9", 9, 9),
    exhibit=Grids(
        (
            panel("x", "1 3 0", "0 0 0", "0 0 3"),
            panel(
                "grad_x, yours",
                *["0.111 0.111 0.111"] * 3,
                wrong=frozenset((r, c) for r in range(3) for c in range(3)),
            ),
            panel("grad_x, expected", "0 1 0", "0 0 0", "0 0 0"),
        )
    ),
)
_EVEN_SPLIT = Named(
    "even-split",
    "You spread each gradient over its window; that is average pooling. d max/dx\n"
    "is 1 at the winner and 0 elsewhere, so the winner gets all of it.",
    exact=True,
    results=("grad_x",),
    cases=3,
    failing=3,
    seen=("one-window", "distinct", "wide"),
    checks=("routing",),
)
maxpool_fail = replace(
    MAXPOOL,
    checks=(
        *passing("forward"),
        _ROUTING,
        check("overlap", "outputs", SKIPPED, "needs routing", blocked_by="routing"),
        check("later", "outputs", SKIPPED, "needs routing", blocked_by="routing", part=2),
        *passing("total"),
    ),
    misconceptions=(_EVEN_SPLIT,),
)
starter = replace(maxpool_fail, unchanged=True)

_OVERLAP = check(
    "overlap",
    "outputs",
    FAIL,
    "grad_x differs in 2 of 2 cases; the smallest is shared-winner",
    cases=("shared-winner", "overlapping"),
    failing=("shared-winner", "overlapping"),
    about="one entry that wins all four windows",
    inputs={"x": "(1, 1, 3, 3)", "grad_y": "(1, 1, 2, 2)", "kernel": "2", "stride": "1"},
    mismatch=Mismatch("grad_x", "shared-winner", (0, 0, 1, 1), "4.000", "10.00", "+-1e-9", 1, 9),
    exhibit=Grids(
        (
            panel(
                "x", "0 1 0", "2 9 3", "0 4 0", focus=frozenset({(0, 0), (0, 1), (1, 0), (1, 1)})
            ),
            panel("grad_y", "1 2", "3 4"),
            panel(
                "grad_x, yours",
                "0 0 0",
                "0 4 0",
                "0 0 0",
                wrong=frozenset({(1, 1)}),
                focus=frozenset({(1, 1)}),
            ),
            panel("grad_x, expected", "0 0 0", "0 10 0", "0 0 0", focus=frozenset({(1, 1)})),
        )
    ),
)
_ASSIGN = Named(
    "assign-overlap",
    "Where windows overlap you overwrite gradients instead of adding them. An entry that wins "
    "several windows influences several outputs, so it gets the sum of their gradients. numpy's "
    "a[index] += g with a repeated index keeps only the last of them; np.add.at(a, index, g) and "
    "np.bincount add them.",
    exact=True,
    results=("grad_x",),
    cases=2,
    failing=2,
    seen=("shared-winner", "overlapping"),
    checks=("overlap",),
)
named_idea = replace(
    MAXPOOL,
    checks=(*passing("forward", "total", "routing", "ties", "stride"), _OVERLAP),
    misconceptions=(_ASSIGN,),
)

_TIES = check(
    "ties",
    "outputs",
    FAIL,
    "grad_x differs in 2 of 2 cases; the smallest is tied",
    cases=("tied", "two-rows"),
    failing=("tied", "two-rows"),
    about="one window with two equal maxima",
    inputs={"x": "(1, 1, 2, 2)", "kernel": "2", "stride": "2"},
    mismatch=Mismatch("grad_x", "tied", (0, 0, 1, 0), "1.000", "0", None, 1, 4),
    exhibit=Grids(
        (
            panel("x", "0 5", "5 0", focus=frozenset({(1, 0)})),
            panel(
                "grad_x, yours", "0 1", "1 0", wrong=frozenset({(1, 0)}), focus=frozenset({(1, 0)})
            ),
            panel("grad_x, expected", "0 1", "0 0", focus=frozenset({(1, 0)})),
        )
    ),
)
_TIED = Named(
    "eq-mask-ties",
    "Every entry that equals the maximum gets the whole gradient. Clause 4 gives it to the first "
    "one. Usually this comes from a mask in the place of an index.",
    exact=True,
    results=("grad_x",),
    cases=2,
    failing=4,
    seen=("tied", "two-rows"),
    checks=("ties",),
)
_PAIR = Explanation(
    "pair",
    "Two ideas at once, eq-mask-ties and assign-overlap, explain everything that is wrong.",
    ("tied", "two-rows", "shared-winner", "overlapping"),
)
two_ideas = replace(
    MAXPOOL,
    checks=(*passing("forward", "total", "routing"), _TIES, _OVERLAP, *passing("stride")),
    misconceptions=(_TIED, replace(_ASSIGN, failing=4)),
    explanations=(_PAIR,),
)
unsure = replace(
    two_ideas, misconceptions=(replace(_TIED, id="last-tie-wins", exact=False),), explanations=()
)

_SGD = check(
    "sgd",
    "outputs",
    FAIL,
    "w_new differs in 3 of 3 cases; the smallest is sgd-by-hand",
    part=2,
    cases=("sgd-by-hand", "batch", "strided"),
    failing=("sgd-by-hand", "batch", "strided"),
    about="one sample with two output steps and errors 1 and 2",
    inputs={"w": "(1, 1, 2)", "lr": "0.1", "stride": "1", "padding": "0"},
    mismatch=Mismatch("w_new", "sgd-by-hand", (0, 0, 1), "0.4000", "-0.2000", "+-2.5e-10", 2, 2),
    exhibit=Grids(
        (
            panel("w", "3 1"),
            panel(
                "w_new, yours",
                "2.750 0.400",
                wrong=frozenset({(0, 0), (0, 1)}),
                focus=frozenset({(0, 1)}),
            ),
            panel("w_new, expected", "2.500 -0.200", focus=frozenset({(0, 1)})),
        )
    ),
)
rule = replace(
    CONV,
    checks=(
        *passing("forward", "filter", "bias", "a", "b", "c", "d", "e", "f"),
        _SGD,
        *(check(i, "outputs", FAIL, "w_new differs", part=2) for i in ("defaults", "learning")),
    ),
    explanations=(
        Explanation(
            "rule",
            "Of w - w_new and b - b_new, each is 0.5000 times the right one.",
            ("sgd-by-hand", "batch", "strided"),
        ),
    ),
)
no_idea = replace(named_idea, misconceptions=())

# -- what raised, was stopped, costs too much, is an estimate, or passes ------------------------

_RAISED = Raised(
    "ValueError",
    "Output character t did not appear in the input",
    (
        Frame(
            38,
            "conv1d_forward",
            '    y = np.einsum("nck,ock->not", windows, w, optimize=True) + b[:, None]',
        ),
    ),
    step="y, ctx = conv1d_forward(x, w, b, stride, padding)",
    called_with="x (1, 1, 3), w (1, 1, 2), b (1,), stride 1, padding 0",
)
conv_raises = replace(
    CONV,
    verdict=ERROR,
    parts=parts(0, 40, 30, 30),
    checks=(
        check(
            "forward",
            "outputs",
            ERROR,
            "your conv1d_forward raised ValueError in case two-outputs",
            cases=("two-outputs",),
            failing=("two-outputs",),
            raised=_RAISED,
        ),
        check("gradients", "outputs", SKIPPED, "needs forward", blocked_by="forward"),
    ),
    printed="window shape (2, 3, 5)\nw shape (4, 3, 5)\n",
)
recursion = replace(
    conv_raises,
    checks=(
        replace(
            conv_raises.checks[0],
            message="your train_step raised RecursionError in case two-outputs",
            raised=Raised(
                "RecursionError",
                "maximum recursion depth exceeded",
                (
                    Frame(40, "train_step", "return descend(x, w)"),
                    *[Frame(31, "descend", "return descend(x, w)")] * 995,
                ),
                called_with="x (2, 3, 9), w (4, 3, 5)",
            ),
        ),
    ),
    printed="\n".join(f"step {n}" for n in range(40)),
)
timed_out = replace(
    MAXPOOL,
    verdict=LIMIT,
    checks=(
        check(
            "forward",
            "outputs",
            LIMIT,
            "your code was stopped after 5 s of CPU time (case one-window)",
            cases=("one-window",),
            failing=("one-window",),
            about="one window",
            inputs={"x": "(1, 1, 3, 3)"},
        ),
        check("routing", "outputs", SKIPPED, "not reached", blocked_by="forward"),
    ),
)
memory = replace(
    ONE_PART,
    question="vram-bottleneck",
    checks=(
        *passing("gradients"),
        check(
            "saved",
            "memory",
            FAIL,
            "1,105,920 bytes kept for backward, 154,624 bytes allowed (7.2x) in case wide",
            cases=("wide",),
            failing=("wide",),
            about="480 tokens",
            inputs={"N": "480", "D": "64", "F": "256"},
            exhibit=Bars(
                (
                    Bar("plain autograd", 2_088_960, "2,088,960 bytes"),
                    Bar("yours", 1_105_920, "1,105,920 bytes"),
                    Bar("allowed", 154_624, "154,624 bytes"),
                    Bar("reference", 122_880, "122,880 bytes"),
                ),
                (
                    "g (480, 256) float32  491,520 bytes",
                    "u (480, 256) float32  491,520 bytes",
                    "x (480, 64) float32  122,880 bytes",
                ),
            ),
        ),
        check("peak", "memory", FAIL, "0.70x plain autograd, 0.50x allowed", failing=("wide",)),
    ),
    misconceptions=(
        Named(
            "saves-g-and-u",
            "What you keep is g and u, and x. Rebuild g and u from x and the weights.",
            exact=True,
            results=("saved",),
            cases=1,
            failing=1,
            checks=("saved",),
        ),
    ),
)
curve_fail = replace(
    CONV,
    checks=(
        *passing("forward"),
        check(
            "learning",
            "curve",
            FAIL,
            "the last of 61 values of losses is 0.4392, expected below 1.000e-8 (case training)",
            part=2,
            cases=("training",),
            failing=("training",),
            inputs={"steps": "60", "lr": "0.1"},
            mismatch=Mismatch("losses", "training", (60,), "0.4392", "below 1.000e-8", None, 1, 61),
            exhibit=Curve(
                tuple(3.756 * 0.965**n for n in range(61)),
                tuple(3.756 * 0.64**n for n in range(61)),
            ),
        ),
    ),
)
curve_nan = replace(
    curve_fail,
    checks=(
        replace(
            curve_fail.checks[1],
            message="losses is NaN at step 14 (case training)",
            mismatch=None,
            exhibit=Curve(
                (*(2.3 * 1.9**n for n in range(14)), *[float("nan")] * 16),
                tuple(2.81 * 0.6**n for n in range(30)),
            ),
        ),
    ),
)

# Of every wrong part the right number, for a test that none of them is shown.
KEPT_BACK = ("28.0", "112.0", "half", "missing")
estimate = replace(
    ONE_PART,
    question="adam-7b-memory",
    checks=(
        check(
            "mixed",
            "numbers",
            FAIL,
            "exp_avg, exp_avg_sq, master, total are wrong in case seven-billion",
            estimate=True,
            cases=("seven-billion", "small"),
            failing=("seven-billion",),
            about="the 7B of the planning sheet",
            inputs={"n_params": "7000000000"},
            call="training_state(7000000000, 'bf16_mixed')",
            mismatch=Mismatch(
                "bf16_mixed['exp_avg']", "seven-billion", None, "14.0 GB", "28.0 GB", None, 4, 6
            ),
            exhibit=Breakdown(
                (
                    Row("weights", "14.0 GB", "14.0 GB"),
                    Row("grads", "14.0 GB", "14.0 GB"),
                    Row("exp_avg", "14.0 GB", "28.0 GB", "half"),
                    Row("exp_avg_sq", "14.0 GB", "28.0 GB", "half"),
                    Row("master", "0.0 GB", "28.0 GB", "missing"),
                    Row("total", "56.0 GB", "112.0 GB", "half"),
                )
            ),
        ),
        check("gpus", "outputs", SKIPPED, "", blocked_by="mixed"),
    ),
    explanations=(Explanation("rule", "total is half of the right one.", ("seven-billion",)),),
)
called = replace(
    ONE_PART,
    question="adam-7b-memory",
    checks=(
        check(
            "zero",
            "outputs",
            FAIL,
            "zero_bytes_per_gpu differs in 2 of 8 cases; the smallest is shares-1",
            cases=tuple(f"shares-{n}" for n in range(1, 9)),
            failing=("shares-1", "shares-2"),
            about="one parameter on 5 GPUs at stage 1",
            inputs={"n_params": "1", "stage": "1", "world": "5"},
            call="zero_bytes_per_gpu(1, 1, 5)",
            mismatch=Mismatch("zero_bytes_per_gpu", "shares-1", None, "9.600", "6.400", None, 1, 1),
        ),
    ),
)

maxpool_pass = replace(
    MAXPOOL,
    verdict=PASS,
    parts=parts(3, 40, 30, 30),
    checks=(
        *passing("forward", "routing", "overlap", "ties", "padding", "numeric", "contract"),
        check("speed", "performance", PASS, "1.10x the reference's CPU time, 12.0x allowed"),
        check("state", "state", PASS, "4,136 bytes kept, 4,352 bytes allowed"),
    ),
    follow_up="could you do it without storing an index? What would that cost?",
)
maxpool_slow = replace(
    maxpool_pass,
    checks=(
        *maxpool_pass.checks[:7],
        check("speed", "performance", FAIL, "34x the reference, 20x allowed", stretch=True),
        check("tight", "state", FAIL, "4,600 bytes kept, 4,352 allowed", stretch=True),
        check("noise", "performance", UNCLEAR, "between 0.9x and 1.6x the reference"),
        check("gpu-peak", "memory", SKIPPED, "needs a CUDA device, which this machine lacks"),
    ),
)
part_1_passes = replace(MAXPOOL, parts=parts(1, 40, 30, 30), checks=passing("forward", "ties"))
REQUEST = (
    Paragraph("Part 2 of 3, 5 minutes, 30 points. The interviewer:"),
    Paragraph("Good. Now it goes into training. What does yours do with padding?", indent=4),
    Item("Padding never wins. A window of nothing but minus infinity gives its gradient to its "
         "first entry that is not padding.", "  7"),
    Item("The dtype given is the dtype returned. N may be 0.", "  8"),
    Paragraph("Part 1 stays in force. QUESTION.md now holds part 2."),
)  # fmt: skip

syntax_error = replace(
    ONE_PART,
    verdict=ERROR,
    message="the file is not valid Python at line 12: '(' was never closed",
    raised=Raised(
        "SyntaxError",
        "'(' was never closed",
        (Frame(12, "", "    windows = sliding_window_view(x, (kernel, kernel)"),),
        column=34,
    ),
)
bank_at_fault = replace(
    ONE_PART,
    verdict=Verdict.INVALID,
    message="questions/maxpool-routing.yaml: the reference raised KeyError in case ties",
)

hostile = replace(
    conv_raises,
    question="one\x1b[2J",
    checks=(
        check(
            "for\x1bward",
            "outputs",
            ERROR,
            "your conv1d_forward raised \x1b[2J[bold]Oops[/bold] in case \u202estride-2",
            failing=("\u202estride-2",),
            raised=Raised(
                "Ev\x1b]0;pwned\x07il",
                "[red]PASS[/red]\x1b[2K\r  PASS  9 checks\n\u2066:smile: " + "A" * 3000,
                (Frame(1, "f\x1b[31m", "raise Evil('\x1b[8m')  # \u202e nothing"),),
                called_with="x (2, 3)",
            ),
        ),
    ),
    printed="\x1b[1A\x1b[2K\x1b[32mPASS\x1b[0m\n"
    + "\x07" * 5000
    + "\nz\u0300\u0301\u0302\u0303\u0304",
)


SCENARIOS: dict[str, Report] = {
    name: value
    for name, value in sorted(globals().items())
    if isinstance(value, Report) and name.islower()
}


def around(name: str) -> Around:
    """What a command adds to the page of a scenario."""
    report = SCENARIOS[name]
    time = "22 minutes (25 planned), 1 hint"
    if name == "part_1_passes":
        steps: tuple[str, ...] = ("drill grade",)
        return Around("submission.py", 6, time, steps=steps, asked=2, request=REQUEST)
    passed = report.verdict is Verdict.PASS
    steps = ("drill solution", "drill next") if passed else ("drill case CASE", "drill hint")
    return Around("submission.py", 6, time, steps=steps)
