"""`drill pack`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grader.commands import output
from grader.commands.options import JsonOption, Seed, argument, command_context, option
from grader.model.number_format import format_count


def pack(
    ctx: typer.Context,
    questions: Annotated[list[str], argument("ID...", "The questions.")],
    out: Annotated[Path, option("PATH", "A new folder or .zip file.", show_default=False)],
    part: Annotated[int | None, option("N", "Up to this part.")] = None,
    seed: Seed = None,
    json: JsonOption = False,
) -> None:
    """Write questions as files, without their solutions."""
    from grader.commands.packing import write_pack as packed

    here = command_context(ctx)
    made = packed(here, questions, out, part=part, seed=seed or 0)
    if output.emit_json(json, out=made.out, questions=made.questions, files=made.files):
        return
    count = format_count(len(made.files), "file")
    output.write(f"{made.out}: {', '.join(made.questions)}; {count}, no solution among them")
    upto = "" if part is None else f" --parts {','.join(map(str, range(1, part + 1)))}"
    drawn = f" --seed {seed}" * (seed is not None)
    output.write_next_steps(
        f"drill grade {questions[0]}{here.bank_option} --file FILE{upto}{drawn}"
    )
