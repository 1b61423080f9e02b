"""Audits to show: small ones, and one as large as a question gets."""

from __future__ import annotations

from grader.model.audit import AuditReport, AuditRow, Cell, CheckFacts, Remark, Trivial

PASSES, KILLS, WOULD, VARIES, NOT_RUN = Cell
MARKS = dict(zip(".Xx? ", Cell, strict=True))


def row(name: str, cells: str, *, claimed: tuple[str, ...] = (), well: int = 3) -> AuditRow:
    """One program by the marks of its cells."""
    idea = None if name in {"reference", "starter"} else name.split(" (")[0]
    return AuditRow(
        name=name,
        misconception=idea,
        cells={check: MARKS[mark] for check, mark in zip(CHECKS, cells, strict=True)},
        named=() if name == "reference" else (idea or "even-split",),
        named_well=well,
        seeds=3,
        claimed_by=claimed,
        passing_seeds={"overlap": (1, 2)} if "?" in cells else {},
    )


CHECKS = ("forward", "routing", "overlap", "border", "speed")
ROWS = (
    row("reference", "....."),
    row("starter", ".Xxx "),
    row("even-split", ".Xxx ", claimed=("routing",)),
    row("even-split (2)", ".Xxx ", claimed=("routing",)),
    row("assign-overlap", "..X? ", claimed=("overlap",)),
    row("pad-offset-kept", ".....", claimed=("border",), well=1),
)
FACTS = (
    CheckFacts("forward", "outputs", False, 0, 0),
    CheckFacts("routing", "outputs", False, 3, 3),
    CheckFacts("overlap", "outputs", False, 4, 1),
    CheckFacts("border", "outputs", False, 4, 0),
    CheckFacts("speed", "performance", True, 0, 0),
)
PROVED = AuditReport(
    question="maxpool",
    title="The backward that lost its winner",
    seeds=(0, 1, 2),
    seconds=7.9,
    checks=FACTS,
    programs=ROWS[:4],
    problems=(),
    remarks=(
        Remark("redundant", "overlap: no known wrong idea is stopped here first"),
        Remark("parts", "the contract of part 1 has 7 clauses"),
    ),
    notes=("speed was run on the reference only",),
    trivial=(
        Trivial("zeros", "zeros of the right form", (), accepted=False),
        Trivial("first-call", "every time what the first call gave", (), accepted=False),
    ),
)
FAULTY = AuditReport(
    question="maxpool",
    title="The backward that lost its winner",
    seeds=(0, 1, 2),
    seconds=7.9,
    checks=FACTS,
    programs=ROWS,
    problems=(
        "the check forward kills no variant: it is idle, or a misconception is missing",
        "pad-offset-kept is said to be killed by border, which it passes on all 3 seeds",
    ),
    trivial=(Trivial("ones", "ones of the right form", CHECKS, accepted=True),),
)

MANY = tuple(f"check-number-{i}" for i in range(17))
LARGE = AuditReport(
    question="large",
    title="As large as it gets",
    seeds=tuple(range(20)),
    seconds=61.0,
    checks=tuple(CheckFacts(check, "outputs", False, 1, 1) for check in MANY),
    programs=tuple(
        AuditRow(
            name=f"misconception-number-{i}",
            misconception=f"misconception-number-{i}",
            cells={c: KILLS if j == i % 17 else PASSES for j, c in enumerate(MANY)},
            named=(),
            named_well=20,
            seeds=20,
            claimed_by=(MANY[i % 17],),
        )
        for i in range(20)
    ),
    problems=(),
)
