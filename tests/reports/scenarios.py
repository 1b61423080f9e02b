"""Hand-built reports, one for every way a grade can end.  No clock, no grading."""

from __future__ import annotations

from dataclasses import replace

from grader.model.report import (
    Bar,
    Bars,
    Breakdown,
    CheckResult,
    Curve,
    Frame,
    Grids,
    Mismatch,
    Named,
    Panel,
    Raised,
    Report,
    Row,
)
from grader.model.verdict import Verdict

PASS, FAIL, ERROR, LIMIT = Verdict.PASS, Verdict.FAIL, Verdict.ERROR, Verdict.LIMIT
SKIPPED, UNCLEAR = Verdict.SKIPPED, Verdict.INCONCLUSIVE


def _check(id_: str, kind: str, verdict: Verdict, message: str, **more: object) -> CheckResult:
    return replace(CheckResult(id_, kind, verdict, message), **more)  # type: ignore[arg-type]


def _rows(*rows: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(row.split()) for row in rows)


def _all(rows: int, columns: int) -> frozenset[tuple[int, int]]:
    return frozenset((r, c) for r in range(rows) for c in range(columns))


_ONE_WINDOW = Grids(
    (
        Panel("x", _rows("1 3 0", "0 0 0", "0 0 3"), focus=frozenset({(0, 1)})),
        Panel(
            "grad_x, yours",
            _rows("0.111 0.111 0.111", "0.111 0.111 0.111", "0.111 0.111 0.111"),
            wrong=_all(3, 3),
        ),
        Panel("grad_x, expected", _rows("0 1 0", "0 0 0", "0 0 0")),
    )
)

_EVEN_SPLIT = Named(
    "even-split",
    "You spread each gradient over its window; that is average pooling. d max/dx\n"
    "is 1 at the winner and 0 elsewhere, so the winner gets all of it.",
    exact=True,
    results=("grad_x",),
    cases=4,
    failing=4,
)

maxpool_fail = Report(
    "maxpool-routing",
    "The backward that lost its winner",
    FAIL,
    seed=8121,
    isolation="strong",
    seconds=0.41,
    checks=(
        _check(
            "forward",
            "outputs",
            PASS,
            "6 cases",
            cases=("one-window", "distinct", "overlap", "ties", "padded", "empty"),
        ),
        _check(
            "routing",
            "outputs",
            FAIL,
            "grad_x differs in 4 cases; the smallest is below",
            cases=("one-window", "distinct", "ties", "padded"),
            failing=("one-window", "distinct", "ties", "padded"),
            case_line="kernel 3, stride 3, grad_y 1",
            mismatch=Mismatch(
                "grad_x", "one-window", (0, 0, 0, 1), "0.1111", "1.000", "+-1e-7", 9, 9
            ),
            exhibit=_ONE_WINDOW,
        ),
        _check("overlap", "outputs", SKIPPED, "needs routing", blocked_by="routing"),
        _check("numeric", "gradcheck", SKIPPED, "needs routing", blocked_by="routing"),
        _check("state", "state", PASS, "6.1 bytes per output, 8 allowed"),
    ),
    misconceptions=(_EVEN_SPLIT,),
)

swiglu_fail = Report(
    "vram-bottleneck",
    "Seventeen units or one",
    FAIL,
    seed=99,
    isolation="strong",
    seconds=1.93,
    checks=(
        _check(
            "gradients", "outputs", PASS, "fp64, fp32, bf16, 3-D, non-contiguous, frozen weights"
        ),
        _check(
            "saved",
            "memory",
            FAIL,
            "1,179,648 bytes kept for backward, 164,864 allowed (7.2x)",
            cases=("fp32",),
            failing=("fp32",),
            case_line="bytes alive after forward, N 512, D 64, F 256",
            exhibit=Bars(
                (
                    Bar("plain autograd", 2_228_224, "2,228,224"),
                    Bar("yours", 1_179_648, "1,179,648"),
                    Bar("allowed", 164_864, "164,864"),
                    Bar("reference", 131_072, "131,072"),
                ),
                (
                    "kept by your forward: g (512, 256) fp32   524,288",
                    "                      u (512, 256) fp32   524,288",
                    "                      x (512, 64)  fp32   131,072",
                ),
            ),
        ),
        _check("flops", "flops", PASS, "1.00x plain autograd, 1.30x allowed"),
        _check(
            "stack-peak", "memory", FAIL, "0.71 of plain autograd, 0.50 allowed", failing=("stack",)
        ),
    ),
    misconceptions=(
        Named(
            "saves-g-and-u",
            "Both projections cost one matmul each to rebuild from x; keep only x and the weights. "
            "The whole recompute is 2/9 of the step.",
            exact=True,
            results=("saved",),
            cases=0,
        ),
    ),
)

adam_fail = Report(
    "adam-7b-memory",
    "Where 112 GB come from",
    FAIL,
    seed=5,
    isolation="strong",
    seconds=0.24,
    checks=(
        _check(
            "breakdown",
            "numbers",
            FAIL,
            "3 of 6 parts differ in case bf16-mixed",
            cases=("bf16-mixed",),
            failing=("bf16-mixed",),
            case_line="bf16_mixed, 7e9 parameters",
            exhibit=Breakdown(
                (
                    Row("weights", "14.0 GB", "14.0 GB"),
                    Row("grads", "14.0 GB", "14.0 GB"),
                    Row("exp_avg", "14.0 GB", "28.0 GB", "half: bf16 moments"),
                    Row("exp_avg_sq", "14.0 GB", "28.0 GB", "half: bf16 moments"),
                    Row("master", "0.0 GB", "28.0 GB", "missing"),
                    Row("total", "56.0 GB", "112.0 GB", "the sum of the above"),
                )
            ),
        ),
        _check("gpus", "outputs", SKIPPED, "", blocked_by="breakdown"),
    ),
)

conv_raises = Report(
    "conv1d-per-step",
    "One filter, many time steps",
    ERROR,
    seed=17,
    isolation="strong",
    seconds=0.35,
    checks=(
        _check(
            "forward",
            "outputs",
            ERROR,
            "your conv1d_forward raised ValueError in case stride-2",
            failing=("stride-2",),
            raised=Raised(
                "ValueError",
                "einstein sum subscripts string contains too many subscripts for operand 1",
                (
                    Frame(
                        14,
                        "conv1d_forward",
                        '        y[:, :, t] = np.einsum("nck,oc->no", window, w) + b',
                    ),
                ),
                step="y, ctx = conv1d_forward(x, w, b, stride, padding)",
                called_with="x (2, 3, 9), w (4, 3, 5), b (4,), stride 2, padding 1",
            ),
        ),
        _check("gradients", "outputs", SKIPPED, "needs forward", blocked_by="forward"),
    ),
    printed="window shape (2, 3, 5)\nw shape (4, 3, 5)\n",
)

maxpool_pass = Report(
    "maxpool-routing",
    "The backward that lost its winner",
    PASS,
    seed=8121,
    isolation="strong",
    seconds=0.43,
    checks=(
        *(
            _check(id_, "outputs", PASS, "", cases=(f"{id_}-a", f"{id_}-b"))
            for id_ in ("forward", "routing", "overlap", "ties", "padding", "numeric", "contract")
        ),
        _check("speed", "performance", PASS, "1.3x the reference", stretch=True),
        _check("state", "state", PASS, "4.1 bytes per output, 8 allowed"),
    ),
    follow_up="could you do it without storing an index? What would that cost?",
)

maxpool_slow = replace(
    maxpool_pass,
    checks=(
        *maxpool_pass.checks[:7],
        _check("speed", "performance", FAIL, "34x the reference, 20x allowed", stretch=True),
        _check("tight", "state", FAIL, "4.1 bytes per output, 1 allowed", stretch=True),
        _check(
            "noise",
            "performance",
            UNCLEAR,
            "between 0.9x and 1.6x the reference after 40 pairs, 1.2x allowed",
        ),
        maxpool_pass.checks[8],
    ),
)

syntax_error = Report(
    "maxpool-routing",
    "The backward that lost its winner",
    ERROR,
    seed=3,
    isolation="strong",
    seconds=0.12,
    message="submission.py does not parse, so nothing was run",
    raised=Raised(
        "SyntaxError",
        "'(' was never closed",
        (
            Frame(
                12, "", "    windows = np.lib.stride_tricks.sliding_window_view(x, (kernel, kernel)"
            ),
        ),
        column=55,
    ),
)

missing_function = Report(
    "maxpool-routing",
    "The backward that lost its winner",
    ERROR,
    seed=3,
    isolation="strong",
    seconds=0.12,
    message="submission.py: expected the function maxpool2d_backward, found maxpool2d_forward and "
    "maxpool2d_backwards; rename maxpool2d_backwards",
)

two_ideas = replace(
    maxpool_fail,
    misconceptions=(
        _EVEN_SPLIT,
        Named(
            "shares-ties",
            "A tie has one winner, the first in row-major order.",
            exact=True,
            results=("grad_x",),
            cases=2,
            failing=4,
        ),
    ),
)

partial_idea = replace(
    maxpool_fail,
    question="conv1d-per-step",
    title="One filter, many time steps",
    misconceptions=(
        Named(
            "mean-over-positions",
            "A weight is used at every position, so its gradient is the sum, not the mean.",
            exact=False,
            results=("grad_w",),
            cases=3,
            failing=4,
        ),
        Named(
            "bias-of-last-step",
            "Every step adds b, so every step adds to its gradient.",
            exact=False,
            results=("grad_b", "b_new"),
            cases=1,
            failing=4,
        ),
    ),
)

no_idea = replace(maxpool_fail, misconceptions=())

curve_fail = Report(
    "conv1d-per-step",
    "One filter, many time steps",
    FAIL,
    seed=17,
    isolation="strong",
    seconds=0.52,
    checks=(
        _check("forward", "outputs", PASS, "7 cases"),
        _check(
            "training",
            "curve",
            FAIL,
            "the last value of loss is 0.5171, expected below 1e-8",
            failing=("training",),
            case_line="200 steps, lr 0.05",
            exhibit=Curve(
                tuple(2.3 * 0.97**n + 0.51 for n in range(200)),
                tuple(2.81 * 0.9**n for n in range(200)),
            ),
        ),
    ),
)

curve_nan = replace(
    curve_fail,
    checks=(
        curve_fail.checks[0],
        replace(
            curve_fail.checks[1],
            message="the loss is NaN from step 14 on",
            exhibit=Curve(
                (*(2.3 * 1.9**n for n in range(14)), *[float("nan")] * 16),
                tuple(2.81 * 0.6**n for n in range(30)),
            ),
        ),
    ),
)

_BIG = tuple(tuple(f"{(r * 40 + c) % 97 / 97:.3f}" for c in range(12)) for r in range(8))
_SLICE = "rows 13-20, columns 16-27 of slice 1, 2 of (2, 3, 30, 40)"
large_arrays = replace(
    maxpool_fail,
    checks=(
        maxpool_fail.checks[0],
        replace(
            maxpool_fail.checks[1],
            failing=("distinct",),
            case_line="kernel 3, stride 1, padding 1, x (2, 3, 30, 40)",
            mismatch=Mismatch(
                "grad_x", "distinct", (1, 2, 17, 22), "0.7113", "0.7113001", "+-1e-7", 4, 7200
            ),
            exhibit=Grids(
                (
                    Panel(
                        "x",
                        _BIG,
                        focus=frozenset((r, c) for r in (3, 4, 5) for c in (5, 6, 7)),
                        note=_SLICE,
                    ),
                    Panel(
                        "grad_x, yours",
                        _BIG,
                        wrong=frozenset({(4, 6), (1, 2)}),
                        note=_SLICE,
                    ),
                    Panel("grad_x, expected", _BIG, note=_SLICE),
                )
            ),
        ),
    ),
)

_SEVEN = tuple(tuple(f"{(r * 7 + c) / 49:.3f}" for c in range(7)) for r in range(7))
middling_arrays = replace(
    maxpool_fail,
    checks=(
        replace(
            maxpool_fail.checks[1],
            exhibit=Grids(
                (
                    Panel("x", _SEVEN, focus=frozenset((r, c) for r in (2, 3) for c in (4, 5))),
                    Panel("grad_x, yours", _SEVEN, wrong=frozenset({(2, 5), (3, 5)})),
                    Panel("grad_x, expected", _SEVEN),
                )
            ),
        ),
    ),
)

softmax_row = replace(
    maxpool_fail,
    question="softmax-cross-entropy",
    title="One pass, no overflow",
    checks=(
        _check(
            "stable",
            "outputs",
            FAIL,
            "p differs in 1 case",
            failing=("huge",),
            case_line="z (2, 4) up to 1e4",
            mismatch=Mismatch("p", "huge", (1, 2), "NaN", "1.000", "+-1e-10", 4, 8),
            exhibit=Grids(
                (
                    Panel(
                        "z",
                        _rows("1.0 0.5 -2.0 3.0", "0 9999 10000 -inf"),
                        focus=frozenset((1, c) for c in range(4)),
                    ),
                    Panel(
                        "p, yours",
                        _rows("0.111 0.067 0.006 0.816", "NaN NaN NaN NaN"),
                        wrong=frozenset((1, c) for c in range(4)),
                    ),
                    Panel("p, expected", _rows("0.111 0.067 0.006 0.816", "0 0.269 0.731 0")),
                )
            ),
        ),
    ),
    misconceptions=(),
    printed="\n".join(f"step {n}" for n in range(40)),
)

recursion = replace(
    conv_raises,
    checks=(
        replace(
            conv_raises.checks[0],
            verdict=ERROR,
            message="your train_step raised RecursionError in case one-step",
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
    printed="",
)

timed_out = replace(
    conv_raises,
    verdict=LIMIT,
    checks=(
        _check(
            "forward",
            "outputs",
            LIMIT,
            "your conv1d_forward was stopped after 10 s of computing in case stride-2",
            failing=("stride-2",),
            case_line="x (2, 3, 9), stride 2",
        ),
        _check("gradients", "outputs", SKIPPED, "needs forward", blocked_by="forward"),
    ),
    printed="",
)

bank_at_fault = replace(
    missing_function,
    verdict=Verdict.INVALID,
    message="the reference of maxpool-routing raised KeyError in case ties; "
    "`drill bank audit maxpool-routing` shows it",
)

hostile = replace(
    conv_raises,
    title="One filter",
    checks=(
        _check(
            "forward",
            "outputs",
            ERROR,
            "your conv1d_forward raised \x1b[2J[bold]Oops[/bold] in case \u202estride-2",
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
    name: value for name, value in sorted(globals().items()) if isinstance(value, Report)
}
