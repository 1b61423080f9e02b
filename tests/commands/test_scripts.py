"""Commands and their output: one script for each promise, as `follow` reads it."""

from __future__ import annotations

import pytest

from tests.commands.conftest import ROOT, Drill, follow

pytestmark = pytest.mark.usefixtures("one_zygote")

AGAINST_STAND_INS = r"""
== hints come one at a time and say how many are left
start double-trouble => 0
hint => 0 | hint 1 of 3 Try 0. | 2 more hints Next: drill hint
hint => 0 | hint 2 of 3 | 1 more hint Next: drill hint | !Try 0.
hint => 0 | hint 3 of 3 | that was the last hint
hint => 0 | hint 1 of 3 | hint 2 of 3 | hint 3 of 3 | these were all the hints

== after the last hint there is something to do before giving up
start double-trouble => 0
hint => 0
hint => 0
hint => 0 | Before you give up, sleep on it. Next: drill solution --give-up
double-trouble/submission.py < # fail
grade => 1
hint => 0 | give up, run the smallest case that fails and sleep on it. | Next: drill case one
double-trouble/submission.py < # pass
grade => 0
hint => 0 | these were all the hints Next: drill solution | !give
double-trouble/submission.py < # fail again
grade => 1 | drill solution | !give

== a pass after a look at the solution says so, in its page and in the history
start double-trouble => 0
solution --give-up => 0
double-trouble/submission.py < # fail
grade => 1 | !giving up
double-trouble/submission.py < # pass
grade => 0 | planned), after giving up
history => 0 | FAIL value | PASS after giving up
start double-trouble --again => 0
double-trouble/submission.py < # pass 1
grade => 1
double-trouble/submission.py < # pass
grade => 0 | !giving up
solution => 0
grade => 0 | !giving up
history => 0 | PASS after giving up | !PASS after giving up hints

== a fail says how to go on and how to repeat it
start double-trouble => 0
double-trouble/submission.py < # fail
grade --seed 8121 => 1 | FAIL double-trouble/submission.py double-trouble try 1, seed 8121
grade => 1 | Next: drill case one drill hint
hint => 0
hint => 0
hint => 0
grade => 1 | drill solution --give-up
grade --seed 9223372036854775808 => 2
grade --seed 9223372036854775807 => 1

== what was begun is begun again where its folder is gone
start double-trouble => 0
rm double-trouble
start double-trouble --again => 2 | not passed yet | Next: drill start double-trouble | !reset
start double-trouble => 0
double-trouble/submission.py < # pass
grade => 0
rm double-trouble
start double-trouble --again => 0 | the starter again | Next: cd double-trouble && drill grade
rm double-trouble
start double-trouble --again => 2 | is begun again already | Next: drill start double-trouble
start double-trouble => 0
grade => 1

== an older copy is not graded in place of a folder that is gone
start double-trouble --dir ../first => 0
start double-trouble --dir ../second => 0
grade double-trouble => 1
rm ../second
grade double-trouble => 2 | double-trouble has no folder here, nor where it was started last
reset double-trouble => 2 | Next: drill start double-trouble drill history
hint double-trouble => 0

== the clock stops with a pass
start double-trouble => 0
double-trouble/submission.py < # pass
grade => 0 | planned
grade => 0 | !planned
double-trouble/submission.py < # fail 2
grade => 1 | You passed this before, which stays so.

== a file that is gone says what brings it back
start double-trouble => 0
rm double-trouble/submission.py
grade => 2 | there is no such file any more | Next: drill reset
reset => 0

== a misspelled id gives the command that was meant
start doubel-trouble => 2 | Next: drill start double-trouble
grade troubl --seed 3 => 2 | Next: drill grade double-trouble --seed 3

== an attempt that is unknown does not come back
history restore x => 2
history restore 7 => 2 | there is no version 7
history restore 1180591620717411303424 => 2 | there is no version 1180591620717411303424
start double-trouble => 0
grade => 1
history restore 1180591620717411303424 => 2 | there is no version 1180591620717411303424

== a version comes back into no file that is there
start double-trouble => 0
grade => 1
mine.py < # mine
history restore 1 --to mine.py => 2 | is there already and is left as it is
history restore 1 --to . => 2
history restore 1 --to no/where.py => 0
"""

IN_PARTS = r"""
== from the first part to the last
start mean-and-spread => 0 | part 1 of 3, 4 min | !sends nothing at all
grade => 1 | This is still the starter's code
grade --explain => 1 | Idea: sums
FILE < MEAN
grade => 1 | PASS FILE mean-and-spread, part 1 of 3 try 1 | 50 of 100 points | !NaN
show => 0 | The mean of no entries is 0. | !how far the entries are
grade => 1 | This code passed part 1, and has not changed since | !m is NaN | !divides-by-nothing
FILE < MEAN\n# with a remark
grade => 1 | This code passed part 1, and has not changed since | part 2 of 3 seed
FILE < MEAN\nN = 1
grade => 1 | This code passed part 1, and has not changed since | part 2 of 3 seed
FILE < EDIT
grade => 1 | m is NaN, expected 0 | divides-by-nothing | FILE mean-and-spread, part 2 of 3 try 2
grade => 1 | m is NaN, expected 0 | divides-by-nothing | FILE mean-and-spread, part 2 of 3 seed
FILE < WHOLE
grade => 1 | PASS FILE mean-and-spread, part 2 of 3 try | 80 of 100 points | !does not define
grade => 1 | does not define spread(x) yet. | !Facts | !Also
grade => 1 | Next: edit submission.py, then drill grade | !give-up
FILE < def f(:
grade => 1 | Next: edit submission.py, then drill grade
FILE < WHOLE\nSPREAD
grade => 0 | all 3 parts | 100 of 100 points; 5 checks
list => 0 | passed

== a new part is asked as a person would, and has to be solved first
start mean-and-spread => 0
FILE < MEAN
grade --seed 1 => 1 | 3 minutes, 30 points. The interviewer: One worker now sends nothing at all. 2
FILE < WHOLE
grade => 1 | Now write part 3 in submission.py. Parts 1-2 must keep passing. See QUESTION.md.

== parts that count are named
start mean-and-spread => 0
FILE < MEAN
grade --parts 1 => 0
list => 0 | 1 try
solution => 2
grade --parts 'spread, 1' => 1
grade --parts 2 => 1 | FAIL FILE mean-and-spread, part 2 of 3
grade --parts 4 => 2 | --parts: expected numbers from 1 to 3, separated by commas, found '4'
grade --parts 0 => 2 | found '0'
grade --parts= => 2 | found ''
grade --parts 1, => 2 | found '1,'
grade --parts x => 2 | found 'x'
grade --parts=-1 => 2 | found '-1'
grade --parts '1;2' => 2 | found '1;2'

== what was passed begins anew with the first part, and names no idea of another
start mean-and-spread => 0
start mean-and-spread --again => 2 | is not passed yet | Next: drill grade drill reset
FILE < WHOLE\nSPREAD
grade => 0 | all 3 parts
start mean-and-spread --again => 0 | part 1 of 3 | the starter again | Kept | before-again-1.py
start mean-and-spread --again => 2 | is begun again already, and not passed since
show => 0 | !sends nothing at all
list => 0 | 0/3 | started | 1 of
next => 0 | part 1 of 3, begun again: no try at it yet Next: cd mean-and-spread && drill grade
grade => 1 | This is still the starter's code
next => 0 | begun again: only the starter was graded
FILE < MEAN
grade --seed 1 => 1 | PASS FILE mean-and-spread, part 1 of 3 try 1, seed 1 | minutes (4 planned)
next => 0 | part 2 of 3, begun again: no try at it yet | !divides-by-nothing
progress => 0 | 1 of | !divides-by-nothing
history => 0 | kept | !divides-by-nothing
solution => 2 | is shown when all parts pass again | Next: drill hint drill solution --give-up
solution --give-up => 0 | You have not passed again: this sitting counts as given up.
solution => 0 | !counts as given up
next => 0 | new, | !mean-and-spread
start mean-and-spread --again => 0 | before-again-2.py

== a breakpoint says how to debug
start mean-and-spread => 0
FILE < def mean(x):\n    breakpoint()\n    return x.mean()
grade => 1 | drill case NAME --debug runs a case in pdb | --debug drill hint
"""
NAMES = {
    "FILE": "mean-and-spread/submission.py",
    "MEAN": r"def mean(x):\n    return float(x.sum() / x.size)",
    "EDIT": r"def mean(x):\n    return float(x.ravel().sum() / x.size)",
    "WHOLE": r"def mean(x):\n    return float(x.sum() / x.size) if x.size else 0.0",
    "SPREAD": r"def spread(x):\n    return float(x.std())",
}


def scripts(text: str) -> list[object]:
    """The scripts of a text, each called as its first line has it."""
    for name, meant in NAMES.items():
        text = text.replace(name, meant)
    pairs = (part.split("\n", 1) for part in text.split("\n== ")[1:])
    return [pytest.param(script, id=name) for name, script in pairs]


@pytest.mark.parametrize("script", scripts(AGAINST_STAND_INS))
def test_commands_of_one_question_work_as_scripted(drill: Drill, script: str) -> None:
    follow(drill, script)


@pytest.mark.parametrize("script", scripts(IN_PARTS))
def test_commands_of_a_question_in_parts_work_as_scripted(
    real: Drill, monkeypatch: pytest.MonkeyPatch, script: str
) -> None:
    monkeypatch.setenv("DRILL_BANK", str(ROOT / "tests" / "banks" / "parts"))
    follow(real, script)
