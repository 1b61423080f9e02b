"""One dict, filled anew by each call, saves making another."""

_PLAN = {}
_plan_of = training_state


def training_state(n_params, recipe):
    plan = _plan_of(n_params, recipe)
    _PLAN.clear()
    _PLAN.update(plan)
    return _PLAN
