"""Steps that need more than one call, or a call that is meant to raise."""

from __future__ import annotations

from types import SimpleNamespace

OTHER_RECIPES = ("torch_autocast", "torch_pure_bf16", "bf16_no_master", "bf16_mixed_fp32grad")


def outcome(program: SimpleNamespace, function: str, *arguments: object) -> str:
    """Return the name of what a call raises; any kind of ValueError counts as one."""
    try:
        getattr(program, function)(*arguments)
    except ValueError:
        return "ValueError"
    except Exception as error:  # noqa: BLE001  the name of the exception is the result
        return type(error).__name__
    return "nothing raised"


def sharing(program: SimpleNamespace, n_params: int) -> str:
    """Say whether two callers of training_state can disturb each other.

    The first caller changes the dict it was given; the second keeps its own while others ask for
    more plans.  What is done to a dict is the same each time, so that a second run of this step
    in the same process finds what the first one found.
    """
    for recipe in OTHER_RECIPES:
        outcome(program, "training_state", n_params, recipe)
    first = program.training_state(n_params, "bf16_mixed")
    if not isinstance(first, dict):
        return f"a plan is a {type(first).__name__}"
    first.clear()
    first["changed by its caller"] = 1
    second = program.training_state(n_params, "bf16_mixed")
    if second is first or "changed by its caller" in second:
        return "a plan shows what was done to another one's dict"
    kept = dict(second)
    for recipe in (*OTHER_RECIPES, "bf16_mixed"):
        outcome(program, "training_state", n_params, recipe)
        outcome(program, "training_state", n_params + 1, recipe)
    if dict(second) != kept:
        return "a later plan overwrote an earlier one"
    return "every plan is a dict of its own"
