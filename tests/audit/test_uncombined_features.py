"""Pairs of features that no case combines are listed, with a case that combines them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from grader.audit.uncombined_features import MAX_LINES, uncombined_features
from grader.explain.session import GradingSession
from tests.audit.audits import audited, question

pytestmark = pytest.mark.usefixtures("one_zygote")

REFERENCE = """
    import numpy as np

    def scores(x, block, mask=None):
        if x.ndim > 2 or block > 50:
            raise ValueError("two axes, and blocks up to 50")
        return np.where(True if mask is None else mask, x * 2, 0)
"""
IDLE = "def scores(x, block, mask=None):\n    return x\n"
MASK = {"array": [[1, 0, 1, 1], [1, 1, 1, 1]], "dtype": "bool"}
ALL = {"ones": [2, 4], "dtype": "bool"}
X: dict[str, Any] = {"normal": [2, 4]}
LARGE: dict[str, Any] = {"normal": [2, 4], "scale": 1000}


def listed(folder: Path, *cases: dict[str, Any], **more: Any) -> list[str]:
    """Return the sentences on a question with these cases."""
    asked = question(
        folder,
        reference=more.pop("reference", REFERENCE),
        variants={"open": more.pop("idle", IDLE)},
        interface=more.pop("interface", "def scores(x, block, mask=None): ..."),
        run=more.pop("run", ["y = scores(x, block, mask)"]),
        cases={f"case{number}": case for number, case in enumerate(cases)},
        **more,
    )
    with GradingSession(asked) as session, np.errstate(all="ignore"):
        session.bank.restore_reference()
        evaluation = session.new_evaluation(session.bank.reference, 0)
        return list(uncombined_features(evaluation))


def test_two_features_that_no_case_combines_are_listed_with_a_case(tmp_path: Path) -> None:
    cases = [
        {"x": X, "block": 2, "mask": ALL},
        {"x": LARGE, "block": 2, "mask": ALL},
        {"x": X, "block": 2, "mask": MASK},
    ]
    (sentence,) = listed(tmp_path / "a", *cases)
    assert sentence == (
        "scores: no case has both (mask partly False) and (x above 100 in magnitude); add "
        "`mask-and-x: {extends: case2, x: {normal: [2, 4], scale: 1000}}`"
    )
    # Pasted into the question, the case answers the remark.
    case = yaml.safe_load(re.findall("`mask-and-x: (.*)`", sentence)[0])
    assert listed(tmp_path / "b", *cases, case) == []


@pytest.mark.parametrize(
    ("one", "other", "pair"),
    [
        # Features of one kind exclude each other: a mask is partly or wholly False.
        ({"mask": MASK}, {"mask": {"zeros": [2, 4], "dtype": "bool"}}, None),
        ({"x": LARGE}, {"x": {"normal": [2, 4], "scale": 1e-6}}, None),
        ({"block": 50}, {"x": LARGE}, "(block 50) and (x above 100 in magnitude)"),
        ({"mask": None}, {"x": LARGE}, "(mask left out) and (x above 100 in magnitude)"),
        ({"mask": MASK}, {"dtype": "float32"}, "(dtype float32) and (mask partly False)"),
        (
            {"x": {"array": [[1.0, 1.001, 1.002, 1.01], [1.0, -2.0, 3.0, 5.0]]}},
            {"mask": MASK},
            "(mask partly False) and (x with nearly equal entries in a row)",
        ),
        (
            {"x": LARGE},
            {"x": {"normal": [1, 4]}, "mask": {"ones": [1, 4], "dtype": "bool"}},
            "(mask of size 1 along axis 0) and (x above 100 in magnitude)",
        ),
        # Neither is likely to matter for the other.
        (
            {"x": {"zeros": [2, 4]}},
            {"x": {"normal": [1, 4]}, "mask": {"ones": [1, 4], "dtype": "bool"}},
            None,
        ),
    ],
)
def test_only_features_that_can_meet_are_listed(
    tmp_path: Path, one: dict[str, Any], other: dict[str, Any], pair: str | None
) -> None:
    plain: dict[str, Any] = {"x": X, "block": 5, "mask": ALL}
    sentences = listed(tmp_path, plain, plain, plain, plain | one, plain | other)
    pairs = [sentence.split("has both ")[1].split(";")[0] for sentence in sentences]
    assert pairs == ([] if pair is None else [pair])


def test_a_written_array_is_repeated_or_cut_to_another_shape(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"x": X, "block": 1, "mask": ALL}
    small: dict[str, Any] = {"x": [[0.5, 5000.0]], "mask": {"ones": [1, 2], "dtype": "bool"}}
    sentences = listed(tmp_path, plain, plain | {"mask": MASK}, plain | small)
    assert "mask-and-x: {extends: case1, x: [[0.5, 5000.0, 0.5, 5000.0], " in sentences[0]


def test_a_size_of_blocks_that_fits_no_axis_is_a_feature(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"x": X, "block": 2, "mask": ALL}
    (sentence,) = listed(tmp_path, plain, plain | {"block": 3}, plain | {"x": LARGE})
    assert "(block dividing no axis into equal pieces) and (x above 100 in magnitude)" in sentence


def test_no_pair_is_listed_on_which_the_reference_raises(tmp_path: Path) -> None:
    raising = REFERENCE.replace("x.ndim > 2", "block == 1 and np.abs(x).max() > 100")
    plain: dict[str, Any] = {"x": X, "block": 2, "mask": ALL}
    cases = [plain, plain | {"block": 1}, plain | {"x": LARGE}]
    assert listed(tmp_path / "a", *cases, reference=raising) == []
    assert len(listed(tmp_path / "b", *cases)) == 1


def test_probabilities_stay_probabilities(tmp_path: Path) -> None:
    shares: dict[str, Any] = {"simplex": [2, 4]}
    plain: dict[str, Any] = {"x": shares, "block": 2, "mask": ALL}
    even = plain | {"x": {"full": [2, 4], "value": 0.25}}
    (sentence,) = listed(tmp_path, plain, plain, even, plain | {"mask": MASK})
    assert "x: {full: [2, 4], value: 0.25}" in sentence


def test_a_number_at_a_limit_that_the_interface_states_is_a_feature(tmp_path: Path) -> None:
    plain: dict[str, Any] = {"x": X, "block": 9, "mask": ALL}
    cases = [plain, plain, plain | {"block": 7}, plain | {"x": LARGE}]
    (sentence,) = listed(tmp_path, *cases, interface="def scores(x, block): # block is at least 7")
    assert "(block at its limit 7) and (x above 100 in magnitude)" in sentence


def test_a_long_list_is_cut_and_counts_the_other_pairs(tmp_path: Path) -> None:
    names = [f"x{number}" for number in range(8)]
    parameters = ", ".join(names)
    plain: dict[str, Any] = {name: {"normal": [3]} for name in names}
    cases = [plain | {name: {"normal": [3], "scale": 1000}} for name in names]
    cases += [plain | {name: [0.0, 1.0, 2.0]} for name in names]
    sentences = listed(
        tmp_path,
        *cases,
        reference=f"def total({parameters}):\n    return {' + '.join(names)}\n",
        idle=f"def total({parameters}):\n    return x0\n",
        interface=f"def total({parameters}): ...",
        run=[f"y = total({parameters})"],
    )
    assert len(sentences) == MAX_LINES + 1
    assert re.fullmatch(r"\d+ more pairs", sentences[-1])


def test_the_audit_notes_what_is_never_combined(tmp_path: Path) -> None:
    few = {"x": [[0.5, 1.0, 2.5]], "dtype": "float32"}
    cases = {"few": few, "large": {"x": [[1000.5, -2.0]]}}
    report = audited(tmp_path, cases=cases)
    (note,) = (note for note in report.notes if note.startswith("never combined"))
    assert "no case has both (dtype float32) and (x above 100 in magnitude)" in note
