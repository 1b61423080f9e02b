"""The count begins at 1 and is raised before the first step is corrected."""

right_fresh = _fresh


def _fresh(p):
    return {**right_fresh(p), "steps": 1}
