"""Hand-built reports, one for every shape of a page.  No clock, no grading."""

from __future__ import annotations

from dataclasses import replace

from grader.model.report import (
    Bar,
    Bars,
    Breakdown,
    BreakdownRow,
    CheckResult,
    Curve,
    ExceptionRecord,
    Explanation,
    Frame,
    Grids,
    IdeaMatch,
    Mismatch,
    Panel,
    PartResult,
    Report,
    Verdict,
)
from grader.reports.grade import GradeContext

PASS, FAIL, ERROR, LIMIT = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT
SKIPPED, UNCLEAR = Verdict.SKIPPED, Verdict.INCONCLUSIVE


def check(
    id_: str,
    verdict: Verdict,
    message: str,
    failing: str = "",
    kind: str = "outputs",
    **more: object,
) -> CheckResult:
    """A check; it was tried on the cases that fail, if no others are given."""
    names = tuple(failing.split())
    result = CheckResult(id_, kind, verdict, message, cases=names, failing=names)
    return replace(result, **more)  # type: ignore[arg-type]


def passing(ids: str) -> tuple[CheckResult, ...]:
    return tuple(check(i, PASS, "2 cases", cases=(f"{i}-a", f"{i}-b")) for i in ids.split())


def skipped(id_: str, needs: str, part: int = 1) -> CheckResult:
    return check(id_, SKIPPED, f"needs {needs}", blocked_by=needs, part=part)


def panel(title: str, rows: str, wrong: str = "", focus: str = "") -> Panel:
    """A panel of rows between bars; marks are written as row and column: "00 12"."""

    def marks(text: str) -> frozenset[tuple[int, int]]:
        return frozenset((int(place[0]), int(place[1])) for place in text.split())

    cells = tuple(tuple(row.split()) for row in rows.split("|"))
    return Panel(title, cells, marks(wrong), marks(focus))


def idea(id_: str, feedback: str, failing: int, seen: str, caught_by: str) -> IdeaMatch:
    cases = tuple(seen.split())
    results = ("grad_x",)
    return IdeaMatch(id_, feedback, True, results, len(cases), failing, cases, (caught_by,))


def parts(reached: int, *points: int) -> tuple[PartResult, ...]:
    verdicts = [PASS if n < reached else FAIL if n == reached else SKIPPED for n in range(3)]
    each = enumerate(zip(verdicts, points, strict=True), 1)
    return tuple(PartResult(str(n), v, of if v is PASS else 0, of) for n, (v, of) in each)


MAXPOOL = Report(
    "maxpool-routing", "A few points short", FAIL, seed=8121, isolation="strong", seconds=0.41,
    parts=parts(0, 40, 30, 30),
)  # fmt: skip
CONV = replace(MAXPOOL, question="conv1d-per-step", title="One filter", parts=parts(1, 40, 30, 30))
ONE_PART = replace(MAXPOOL, parts=(PartResult("1", FAIL, 0, 100),))

# -- wrong results: one finding with its numbers, and what is known of the cause ----------------

_THIRDS = "|".join(["0.111 0.111 0.111"] * 3)
_ROUTING = check(
    "routing", FAIL, "grad_x differs in 3 of 3 cases; the smallest is one-window",
    "one-window distinct wide",
    about="one window whose winner is off the diagonal",
    inputs={"x": "(1, 1, 3, 3)", "kernel": "3", "stride": "3"},
    mismatch=Mismatch("grad_x", "one-window", (0, 0, 0, 1), "0.1111", "1.000", "+-1e-9", 9, 9),
    exhibit=Grids((
        panel("x", "1 3 0|0 0 0|0 0 3"),
        panel("grad_x, yours", _THIRDS, "00 01 02 10 11 12 20 21 22"),
        panel("grad_x, expected", "0 1 0|0 0 0|0 0 0"),
    )),
)  # fmt: skip
maxpool_fail = replace(
    MAXPOOL,
    checks=(
        *passing("forward"), _ROUTING, skipped("overlap", "routing"),
        skipped("later", "routing", part=2), *passing("total"),
    ),
    misconceptions=(idea(
        "even-split",
        "You spread each gradient over its window; that is average pooling. d max/dx\n"
        "is 1 at the winner and 0 elsewhere, so the winner gets all of it.",
        3, "one-window distinct wide", "routing",
    ),),
)  # fmt: skip
starter = replace(maxpool_fail, unchanged=True)

_OVERLAP = check(
    "overlap", FAIL, "grad_x differs in 2 of 2 cases; the smallest is shared-winner",
    "shared-winner overlapping",
    about="one entry that wins all four windows",
    inputs={"x": "(1, 1, 3, 3)", "grad_y": "(1, 1, 2, 2)", "kernel": "2", "stride": "1"},
    mismatch=Mismatch("grad_x", "shared-winner", (0, 0, 1, 1), "4.000", "10.00", "+-1e-9", 1, 9),
    exhibit=Grids((
        panel("x", "0 1 0|2 9 3|0 4 0", focus="00 01 10 11"),
        panel("grad_y", "1 2|3 4"),
        panel("grad_x, yours", "0 0 0|0 4 0|0 0 0", "11", "11"),
        panel("grad_x, expected", "0 0 0|0 10 0|0 0 0", focus="11"),
    )),
)  # fmt: skip
_ASSIGN = idea(
    "assign-overlap",
    "Where windows overlap you overwrite gradients instead of adding them. An entry that wins "
    "several windows influences several outputs, so it gets the sum of their gradients. numpy's "
    "a[index] += g with a repeated index keeps only the last of them; np.add.at(a, index, g) and "
    "np.bincount add them.",
    2, "shared-winner overlapping", "overlap",
)  # fmt: skip
named_idea = replace(
    MAXPOOL,
    checks=(*passing("forward total routing ties stride"), _OVERLAP),
    misconceptions=(_ASSIGN,),
)

_TIES = check(
    "ties", FAIL, "grad_x differs in 2 of 2 cases; the smallest is tied", "tied two-rows",
    about="one window with two equal maxima",
    inputs={"x": "(1, 1, 2, 2)", "kernel": "2", "stride": "2"},
    mismatch=Mismatch("grad_x", "tied", (0, 0, 1, 0), "1.000", "0", None, 1, 4),
    exhibit=Grids((
        panel("x", "0 5|5 0", focus="10"),
        panel("grad_x, yours", "0 1|1 0", "10", "10"),
        panel("grad_x, expected", "0 1|0 0", focus="10"),
    )),
)  # fmt: skip
_TIED = idea(
    "eq-mask-ties",
    "Every entry that equals the maximum gets the whole gradient. Clause 4 gives it to the first "
    "one. Usually this comes from a mask in the place of an index.",
    4, "tied two-rows", "ties",
)  # fmt: skip
_PAIR = Explanation(
    "pair",
    "Two ideas at once, eq-mask-ties and assign-overlap, explain everything that is wrong.",
    ("tied", "two-rows", "shared-winner", "overlapping"),
)
two_ideas = replace(
    MAXPOOL,
    checks=(*passing("forward total routing"), _TIES, _OVERLAP, *passing("stride")),
    misconceptions=(_TIED, replace(_ASSIGN, failing=4)),
    explanations=(_PAIR,),
)
unsure = replace(
    two_ideas, misconceptions=(replace(_TIED, id="last-tie-wins", exact=False),), explanations=()
)

_SGD = check(
    "sgd", FAIL, "w_new differs in 3 of 3 cases; the smallest is sgd-by-hand",
    "sgd-by-hand batch strided", part=2,
    about="one sample with two output steps and errors 1 and 2",
    inputs={"w": "(1, 1, 2)", "lr": "0.1", "stride": "1", "padding": "0"},
    mismatch=Mismatch("w_new", "sgd-by-hand", (0, 0, 1), "0.4000", "-0.2000", "+-2.5e-10", 2, 2),
    exhibit=Grids((
        panel("w", "3 1"),
        panel("w_new, yours", "2.750 0.400", "00 01", "01"),
        panel("w_new, expected", "2.500 -0.200", focus="01"),
    )),
)  # fmt: skip
rule = replace(
    CONV,
    checks=(
        *passing("forward filter bias a b c d e f"), _SGD,
        *(check(i, FAIL, "w_new differs", part=2) for i in ("defaults", "learning")),
    ),
    explanations=(Explanation(
        "rule", "Of w - w_new and b - b_new, each is 0.5000 times the right one.", _SGD.failing
    ),),
)  # fmt: skip
no_idea = replace(named_idea, misconceptions=())

# -- what raised, was stopped, costs too much, is an estimate, or passes ------------------------

_EINSUM = '    y = np.einsum("nck,ock->not", windows, w, optimize=True) + b[:, None]'
_RAISED = ExceptionRecord(
    "ValueError",
    "Output character t did not appear in the input",
    (Frame(38, "conv1d_forward", _EINSUM),),
    step="y, ctx = conv1d_forward(x, w, b, stride, padding)",
    called_with="x (1, 1, 3), w (1, 1, 2), b (1,), stride 1, padding 0",
)
conv_raises = replace(
    CONV,
    verdict=ERROR,
    parts=parts(0, 40, 30, 30),
    checks=(
        check(
            "forward", ERROR, "your conv1d_forward raised ValueError in case two-outputs",
            "two-outputs", raised=_RAISED,
        ),
        skipped("gradients", "forward"),
    ),
    printed="window shape (2, 3, 5)\nw shape (4, 3, 5)\n",
)  # fmt: skip
_DESCENT = (
    Frame(40, "train_step", "return descend(x, w)"),
    *[Frame(31, "descend", "return descend(x, w)")] * 995,
)
recursion = replace(
    conv_raises,
    checks=(
        replace(
            conv_raises.checks[0],
            message="your train_step raised RecursionError in case two-outputs",
            raised=ExceptionRecord(
                "RecursionError", "maximum recursion depth exceeded", _DESCENT,
                called_with="x (2, 3, 9), w (4, 3, 5)",
            ),
        ),
    ),
    printed="\n".join(f"step {n}" for n in range(40)),
)  # fmt: skip
timed_out = replace(
    MAXPOOL,
    verdict=LIMIT,
    checks=(
        check(
            "forward", LIMIT, "your code was stopped after 5 s of CPU time (case one-window)",
            "one-window", about="one window", inputs={"x": "(1, 1, 3, 3)"},
        ),
        skipped("routing", "forward"),
    ),
)  # fmt: skip
_KEPT = Bars(
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
)
_SAVES = "What you keep is g and u, and x. Rebuild g and u from x and the weights."
memory = replace(
    ONE_PART,
    question="vram-bottleneck",
    checks=(
        *passing("gradients"),
        check(
            "saved", FAIL,
            "1,105,920 bytes kept for backward, 154,624 bytes allowed (7.2x) in case wide",
            "wide", "memory",
            about="480 tokens", inputs={"N": "480", "D": "64", "F": "256"}, exhibit=_KEPT,
        ),
        check("peak", FAIL, "0.70x plain autograd, 0.50x allowed", "wide", "memory", cases=()),
    ),
    misconceptions=(
        IdeaMatch("saves-g-and-u", _SAVES, True, ("saved",), cases=1, failing=1, checks=("saved",)),
    ),
)  # fmt: skip
curve_fail = replace(
    CONV,
    checks=(
        *passing("forward"),
        check(
            "learning", FAIL,
            "the last of 61 values of losses is 0.4392, expected below 1.000e-8 (case training)",
            "training", "curve", part=2,
            inputs={"steps": "60", "lr": "0.1"},
            mismatch=Mismatch("losses", "training", (60,), "0.4392", "below 1.000e-8", None, 1, 61),
            exhibit=Curve(
                tuple(3.756 * 0.965**n for n in range(61)),
                tuple(3.756 * 0.64**n for n in range(61)),
            ),
        ),
    ),
)  # fmt: skip
_BROKEN = (*(2.3 * 1.9**n for n in range(14)), *[float("nan")] * 16)
curve_nan = replace(
    curve_fail,
    checks=(
        replace(
            curve_fail.checks[1],
            message="losses is NaN at step 14 (case training)",
            mismatch=None,
            exhibit=Curve(_BROKEN, tuple(2.81 * 0.6**n for n in range(30))),
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
            "mixed", FAIL, "exp_avg, exp_avg_sq, master, total are wrong in case seven-billion",
            "seven-billion", "numbers", cases=("seven-billion", "small"), estimate=True,
            about="the 7B of the planning sheet",
            inputs={"n_params": "7000000000"},
            call="training_state(7000000000, 'bf16_mixed')",
            mismatch=Mismatch(
                "bf16_mixed['exp_avg']", "seven-billion", None, "14.0 GB", "28.0 GB", None, 4, 6
            ),
            exhibit=Breakdown((
                BreakdownRow("weights", "14.0 GB", "14.0 GB"),
                BreakdownRow("grads", "14.0 GB", "14.0 GB"),
                BreakdownRow("exp_avg", "14.0 GB", "28.0 GB", "half"),
                BreakdownRow("exp_avg_sq", "14.0 GB", "28.0 GB", "half"),
                BreakdownRow("master", "0.0 GB", "28.0 GB", "missing"),
                BreakdownRow("total", "56.0 GB", "112.0 GB", "half"),
            )),
        ),
        check("gpus", SKIPPED, "", blocked_by="mixed"),
    ),
    explanations=(Explanation("rule", "total is half of the right one.", ("seven-billion",)),),
)  # fmt: skip
called = replace(
    ONE_PART,
    question="adam-7b-memory",
    checks=(
        check(
            "zero", FAIL, "zero_bytes_per_gpu differs in 2 of 8 cases; the smallest is shares-1",
            "shares-1 shares-2", cases=tuple(f"shares-{n}" for n in range(1, 9)),
            about="one parameter on 5 GPUs at stage 1",
            inputs={"n_params": "1", "stage": "1", "world": "5"},
            call="zero_bytes_per_gpu(1, 1, 5)",
            mismatch=Mismatch("zero_bytes_per_gpu", "shares-1", None, "9.600", "6.400", None, 1, 1),
        ),
    ),
)  # fmt: skip

maxpool_pass = replace(
    MAXPOOL,
    verdict=PASS,
    parts=parts(3, 40, 30, 30),
    checks=(
        *passing("forward routing overlap ties padding numeric contract"),
        check("speed", PASS, "1.10x the reference's CPU time, 12.0x allowed", kind="performance"),
        check("state", PASS, "4,136 bytes kept, 4,352 bytes allowed", kind="state"),
    ),
    follow_up="could you do it without storing an index? What would that cost?",
)
_NO_GPU = "needs a CUDA device, which this machine lacks"
maxpool_slow = replace(
    maxpool_pass,
    checks=(
        *maxpool_pass.checks[:7],
        check("speed", FAIL, "34x the reference, 20x allowed", kind="performance", stretch=True),
        check("tight", FAIL, "4,600 bytes kept, 4,352 allowed", kind="state", stretch=True),
        check("noise", UNCLEAR, "between 0.9x and 1.6x the reference", kind="performance"),
        check("gpu-peak", SKIPPED, _NO_GPU, kind="memory"),
    ),
)
part_1_passes = replace(MAXPOOL, parts=parts(1, 40, 30, 30), checks=passing("forward ties"))

_OPEN = Frame(12, "", "    windows = sliding_window_view(x, (kernel, kernel)")
syntax_error = replace(
    ONE_PART,
    verdict=ERROR,
    message="the file is not valid Python at line 12: '(' was never closed",
    raised=ExceptionRecord("SyntaxError", "'(' was never closed", (_OPEN,), column=34),
)
bank_at_fault = replace(
    ONE_PART,
    verdict=Verdict.INVALID,
    message="questions/maxpool-routing.yaml: the reference raised KeyError in case ties",
)

_EVIL = ExceptionRecord(
    "Ev\x1b]0;pwned\x07il",
    "[red]PASS[/red]\x1b[2K\r  PASS  9 checks\n\u2066:smile: " + "A" * 3000,
    (Frame(1, "f\x1b[31m", "raise Evil('\x1b[8m')  # \u202e nothing"),),
    called_with="x (2, 3)",
)
_OOPS = "your conv1d_forward raised \x1b[2J[bold]Oops[/bold] in case \u202estride-2"
hostile = replace(
    conv_raises,
    question="one\x1b[2J",
    checks=(check("for\x1bward", ERROR, _OOPS, "\u202estride-2", cases=(), raised=_EVIL),),
    printed="\x1b[1A\x1b[2K\x1b[32mPASS\x1b[0m\n"
    + "\x07" * 5000
    + "\nz\u0300\u0301\u0302\u0303\u0304",
)


SCENARIOS: dict[str, Report] = {
    name: value
    for name, value in sorted(globals().items())
    if isinstance(value, Report) and name.islower()
}


def around(name: str) -> GradeContext:
    """What a command adds to the page of a scenario."""
    time = "22 minutes (25 planned), 1 hint"
    if name == "part_1_passes":
        return GradeContext(tries=6, time=time, steps=("drill grade",), asked_part=2)
    passed = SCENARIOS[name].verdict is Verdict.PASS
    steps = ("drill solution", "drill next") if passed else ("drill case CASE", "drill hint")
    return GradeContext(tries=6, time=time, steps=steps)
