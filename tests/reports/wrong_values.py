"""Reports of wrong results: one finding with its numbers, and what is known of the cause."""

from __future__ import annotations

from dataclasses import replace

from grader.model.report import Explanation, Grids, Mismatch, Named
from tests.reports.making import CONV, FAIL, MAXPOOL, SKIPPED, check, panel, passing

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

_BIG = [" ".join(f"{(r * 40 + c) % 97 / 97:.3f}" for c in range(12)) for r in range(8)]
_SLICE = "rows 13-20, columns 16-27 of slice 1, 2 of (2, 3, 30, 40)"
_NINE = frozenset((r, c) for r in (3, 4, 5) for c in (5, 6, 7))
