"""What every key of a spec means, in a line: for editors (the JSON Schema) and for docs/keys.md.

They stand here and not in the models, which every command loads.
"""

from __future__ import annotations

from collections.abc import Mapping

_CHECK = {
    "id": "Its name, once in a question.",
    "kind": "What is measured, and which further keys there are.",
    "about": "A phrase that completes 'checks that ...', shown to the candidate.",
    "run": "The run that it looks at.",
    "cases": "A case, a list of them, or all: every case that has the inputs of the run.",
    "needs": "Checks that have to pass before this one is tried; otherwise it is skipped.",
    "stretch": "Whether it is reported without deciding the verdict.",
}
_OF = "The result, or a list of results, that it looks at."
_CALLED = "What the other run is, in words."
_LARGE = "Another case, on which only the system's own account is taken; tens of kilobytes or more."

KEYS: Mapping[str, Mapping[str, str]] = {
    "Spec": {
        "format": "The version of the format: 1.",
        "title": "What the question is called in lists.",
        "track": "The subject it belongs to: lower-case words joined by hyphens.",
        "level": "How hard it is.",
        "minutes": "How long a good candidate takes.",
        "deadline": "Seconds by the clock that one grade may take, its diagnosis included; 120 "
        "unless written.",
        "uses": "What a submission may import besides the standard library.",
        "prompt": "The interviewer's words: the symptom, and not the cause.",
        "interface": "Python signatures with comments: shapes, dtypes, units.",
        "contract": "What two reasonable people need to agree on what is right, a sentence each.",
        "forbids": "Functions and operators that a solution has to do without; whoever calls one "
        "is flagged.",
        "run": "The steps, 'result = function(inputs)' each; or several runs by name.",
        "cases": "The inputs by the name of the case; docs/keys.md lists what may stand there.",
        "checks": "What is measured, in this order.",
        "code": "The programs, where they are not files in drills/ID/.",
        "misconceptions": "Wrong ideas by id, each with a program that holds it.",
        "survivors": "Mutants of the reference that are right to pass.",
        "starter": "The misconceptions that the starter must be diagnosed as.",
        "hints": "From a nudge to nearly the answer; shown one at a time.",
        "follow_ups": "To think about after a pass.",
        "sources": "Where it comes from: papers, documentation, incidents.",
    },
    "Code": {
        "reference": "The right solution; else drills/ID/reference.py.",
        "starter": "What the candidate receives: it runs, looks plausible, and is wrong; else "
        "drills/ID/starter.py.",
        "driver": "Functions that steps call as driver.NAME; else drills/ID/driver.py.",
    },
    "Misconception": {
        "killed_by": "The check, or each of the checks, that has to stop it.",
        "feedback": "What is said to whoever holds it: what is wrong, why, and what to do.",
        "variants": "Its files in drills/ID/misconceptions/, without .py, where it has several "
        "faces; otherwise the one of its own name.",
        "code": "Its program, executed on top of the reference; a list where it has several "
        "faces. Otherwise it is a file.",
    },
    "FollowUp": {"ask": "The question.", "answer": "What a good answer says."},
    "Survivor": {
        "in": "The function that is changed, or module.",
        "was": "The code before, as drill bank audit --mutants prints it.",
        "becomes": "The code after.",
        "because": "Why nothing is wrong with it.",
    },
    "Show": {
        "beside": "Inputs to print beside a mismatch.",
        "window": "Kernel, stride and padding (numbers, or names of scalars) of the window to "
        "cut out of them.",
    },
    "Conserved": {
        "sum": "The gradient that is added up.",
        "over": "Along these axes.",
        "equals": "An input or a result whose sum along the same axes it must equal, or a number.",
    },
    "OutputsCheck": {
        **_CHECK,
        "of": _OF,
        "exact": "Whether nothing but the very same values will do.",
        "zeros": "With exact, entries that are 0 in the reference have to be exactly 0.",
        "show": "What to print beside a mismatch.",
    },
    "GradcheckCheck": {
        **_CHECK,
        "loss": "The result that is differentiated, numerically, in the reference.",
        "cotangent": "The input that the loss is contracted with, where it is an array.",
        "gradients": "By input, the result that should be its gradient.",
        "kinks": "Whether the loss has kinks, as a maximum has: steps then stay below a quarter of "
        "the smallest gap between two values of an input.",
        "conserves": "Sums of gradients that must equal something known.",
    },
    "ContractCheck": {
        **_CHECK,
        "of": _OF,
        "layouts": "In which ways arrays are laid out in memory for the same values.",
    },
    "StateCheck": {
        **_CHECK,
        "of": "What one step hands to another.",
        "at_most": "The budget: arithmetic over sizes of the case, '8 * y.size + 256 bytes'.",
        "large": _LARGE,
    },
    "NumbersCheck": {
        **_CHECK,
        "of": "The result, a dict.",
        "parts": "Its keys: exactly these.",
        "unit": "Of all of them, in words.",
        "shown_in": "A larger unit for reports; values are compared as they are.",
    },
    "CurveCheck": {
        **_CHECK,
        "of": "The result, a list of numbers.",
        "ends_below": "What the last one has to be below.",
        "falls": "Whether the last has to be below the first.",
    },
    "GraphCheck": {**_CHECK, "of": "The tensor."},
    "MemoryCheck": {
        **_CHECK,
        "quantity": "saved: what is kept for backward; live: what the first step leaves alive; "
        "peak: the most that is alive at once.",
        "except": "Inputs that do not count.",
        "at_most": "The budget in bytes, or with against a number of times the other run.",
        "against": "Another run of the reference to compare with.",
        "called": _CALLED,
        "large": _LARGE,
        "device": "Where it is measured; cuda is skipped where there is none.",
    },
    "FlopsCheck": {
        **_CHECK,
        "against": "Another run of the reference to compare with.",
        "called": _CALLED,
        "at_most": "How many times the matmul FLOPs of the other run are allowed.",
    },
    "PerformanceCheck": {
        **_CHECK,
        "at_most": "How many times the reference's CPU time is allowed.",
    },
}

CASE: Mapping[str, str] = {
    "about": "A phrase for the reader.",
    "extends": "Another case to begin from; keys written here replace its.",
    "dtype": "Of all floating arrays: float64 (default), float32 or bfloat16.",
    "layout": "Of all arrays: contiguous (default), fortran, reversed, strided, readonly or "
    "broadcast.",
    "frozen": "In torch: inputs that do not require a gradient.",
}
GENERATORS: Mapping[str, str] = {
    "array": "The values themselves, where modifiers are wanted.",
    "normal": "Standard normal.",
    "uniform": "Uniform between from and to.",
    "integers": "Whole numbers, both ends included.",
    "distinct": "A permutation of equally spaced values around 0, gap apart: away from ties.",
    "zeros": "Zeros.",
    "ones": "Ones.",
    "full": "One value throughout.",
    "simplex": "Rows of positive numbers that sum to 1, along the last axis.",
    "one_hot": "Rows with a single 1 at a random place, along the last axis.",
}
MODIFIERS: Mapping[str, str] = {
    "scale": "All values times this.",
    "shift": "Then all values plus this.",
    "sprinkle": "Then a share of the entries is replaced: {value: -.inf, share: 0.8}.",
    "sort": "Then sorted along the last axis.",
    "dtype": "Its own dtype, also int64, int32, int16, uint8 or bool.",
    "layout": "Its own layout in memory.",
}


def describe(schema: dict[str, object]) -> None:
    """Put the descriptions into a JSON Schema of a spec, in place; unknown parts are left alone."""
    definitions = schema.get("$defs")
    parts = dict(definitions) if isinstance(definitions, dict) else {}
    for name, part in {**parts, "Spec": schema}.items():
        properties = part.get("properties") if isinstance(part, dict) else None
        # A kind of an extension has the keys of every check, and its own.
        known = KEYS.get(name, _CHECK)
        for key, found in (properties or {}).items():
            if key in known:
                found.setdefault("description", known[key])
