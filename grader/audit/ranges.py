"""Are there entries so small beside the others of their result that any value of them passes?

What rounding leaves in a result is of the size of its largest entries, or of the inputs, so that a
small entry beside a very large one has a band wider than itself.
"""

from __future__ import annotations

from collections.abc import Iterator

from grader.evaluation.compare import unjudged_entries
from grader.evaluation.evaluation import Evaluation
from grader.evaluation.expected import expected
from grader.kinds import registry
from grader.model.audit import Remark

MOST = 0.1  # of the entries: of many some are near 0 by chance


def remarks(evaluation: Evaluation) -> Iterator[Remark]:
    """Results of the reference, which is in the evaluation, with many entries that nothing judges.

    Each result is named once, with the case on which most of it is not judged.
    """
    worst: dict[tuple[str, str], tuple[float, str]] = {}
    for check in evaluation.question.spec.checks:
        kind = registry.get(check.kind)
        if not kind.judges_values or kind.only_course or not kind.has_tolerance(check):
            continue
        for case in evaluation.cases_of(check):
            for result in check.compared:
                few, size = unjudged_entries(
                    expected(evaluation, check.run, case, result, check=check)
                )
                share = few / max(1, size)
                if share > max(MOST, worst.get((check.id, result), (0.0, ""))[0]):
                    what = f"{few} of {size} entries of {result} in case {case.name}"
                    worst[check.id, result] = share, what
    for (check_id, _), (_, what) in worst.items():
        yield Remark(
            "range",
            f"{check_id}: {what} are so small beside the largest, or beside the inputs, that the "
            "check allows them to be nearly anything; give them a case of their own",
        )
