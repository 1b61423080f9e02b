"""Validate a document against the model, and say every fault in words with its place."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from contextlib import suppress
from functools import reduce
from operator import getitem
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from grader.bank.document import Document, Keys, Problem, dotted
from grader.bank.wording import fields, grouped, model_in, unlike
from grader.kinds import registry
from grader.model.keys import Check
from grader.model.nearest import closest, did_you_mean
from grader.model.spec import OF_A_PART, Spec, as_written, unified

Lost = set[Keys]  # paths of what is not as it was written

# What a spec goes on with in place of a wrong part, so that the rest of it can be looked at too: a
# misspelled key must not hide a misspelled name further down.
_PROGRAM, _STEPS = "pass", ["_ = _()"]
_STAND_INS: dict[str, Any] = {
    "format": 2, "title": "x", "track": "x", "level": "core", "minutes": 1,
    "uses": ["numpy", "torch"], "prompt": "x", "interface": "x", "points": 1,
}  # fmt: skip
_NEEDED = {"run", "cases", "parts", "checks"}  # without one of these nothing more can be said


def validate(doc: Document) -> tuple[Spec | None, list[Problem], Lost]:
    """Turn a document into a spec.

    Returns:
        The spec, without what is wrong where something is (None where nothing can be
        said without it); what is wrong; and the checks, cases, runs and misconceptions that are
        left out, checks having another in their place that goes by their id.
    """
    problems = list(doc.problems)
    whole = unified(doc.data)
    try:
        return registry.read(whole), problems, set()
    except ValidationError as error:
        by_place = grouped(error, whole)
    placed = {problem[:2] for problem in problems}
    meant = {near for at, group in by_place.items() if (near := _misspelled(doc, at, group))}
    found = [_problem(doc, at, group) for at, group in by_place.items() if at not in meant]
    problems += [problem for problem in found if problem[:2] not in placed]
    data, lost = _without(whole, {at: group[0]["type"] for at, group in by_place.items()})
    try:
        spec = registry.read(data)
    except ValidationError:
        return None, problems, set()
    for at in lost:
        match at:
            case ("parts", int() as p, "checks", int() as i):
                checks, written = spec.parts[p].checks, whole["parts"][p]["checks"][i]
                if isinstance(written, dict):
                    checks[i] = checks[i].model_copy(update={"id": str(written.get("id"))})
    return spec, problems, {as_written(at, doc.data) for at in lost}


def _without(data: dict[str, Any], faulty: Mapping[Keys, str]) -> tuple[dict[str, Any], Lost]:
    """What is left of a document without its wrong parts, and which those are.

    `faulty` has, by path, pydantic's word for what is wrong there.
    """
    left: Any = copy.deepcopy(data)
    lost: Lost = set()
    for at, kind in faulty.items():
        match at:
            case _ if at[:2] in lost or at[:4] in lost:
                pass
            case (*around, key) if kind == "extra_forbidden":
                with suppress(LookupError, AttributeError):  # what it was in may be gone by now
                    reduce(getitem, around, left).pop(key, None)
            case ("parts", int() as p, "checks", int() as i, *_):
                left["parts"][p]["checks"][i] = registry.STAND_IN | {"id": f"lost-{p}-{i}"}
                lost.add(("parts", p, "checks", i))
            case ("parts", int() as p, str() as key, *_) if key in _STAND_INS:
                left["parts"][p][key] = _STAND_INS[key]
            case ("parts", int() as p, str() as key, *_) if key not in _NEEDED:
                left["parts"][p].pop(key, None)
            case ("misconceptions" | "cases" | "run" as part, str() as name, *_):
                left[part].pop(name, None)
                lost.add((part, name))
                if part == "run":
                    left["run"]["_"] = _STEPS
            case ("run", int(), *_):
                left["run"] = _STEPS
                lost.add(("run", "main"))
            case ("code", str() as name, *_):
                left["code"][name] = _PROGRAM
            case ("code",):
                left["code"] = dict.fromkeys(("reference", "starter", "driver"), _PROGRAM)
            case (str() as key, *_) if key in _STAND_INS:
                left[key] = _STAND_INS[key]
            case (str() as key, *_) if key not in _NEEDED:
                left.pop(key, None)
                if key == "misconceptions":
                    left.pop("starter_holds", None)
            case _:
                return {}, set()
    return left, lost


def _problem(doc: Document, at: Keys, group: list[ErrorDetails]) -> Problem:
    """What is wrong at a place, in the data with `parts`."""
    kind, value = group[0]["type"], group[0]["input"]
    known_keys = _known_keys(doc, at) if kind == "extra_forbidden" else []
    at = as_written(at, doc.data)
    whole = dotted(at[:-1]) or "the question"
    if kind == "missing":
        text = f"{whole}: expected the key {at[-1]!r}, found none"
        if at[-1] == "killed_by":
            ids = [str(c["id"]) for c in _checks(doc) if isinstance(c, dict) and c.get("id")]
            known = " or ".join([*ids[:4], *["..."] * (len(ids) > 4)])
            text += f"; write the check that stops it here: killed_by: {known or 'ID'}"
        return *doc.position(at[:-1]), text
    if kind == "extra_forbidden":
        hint = did_you_mean(at[-1], known_keys) or f"; known keys: {', '.join(known_keys)}"
        if len(at) == 1 and at[0] in OF_A_PART:
            hint = "; it is a key of a part here"
        if " " in str(at[-1]).strip():  # {about: one, two}: the second half became a key
            hint = "; is it the end of a text? A text that holds a comma needs quotes here"
        return *doc.position(at, key=True), f"{whole}: found the unknown key {at[-1]!r}{hint}"
    if kind == "union_tag_invalid":
        return *doc.position((*at, "kind")), f"{dotted(at)}.kind: {_unknown_kind(value)}"
    return *doc.position(at), unlike(at, group)


def _misspelled(doc: Document, at: Keys, group: list[ErrorDetails]) -> Keys | None:
    """The path of the key that was meant by an unknown one; None where nothing is near."""
    if group[0]["type"] != "extra_forbidden":
        return None
    near = closest(str(at[-1]), _known_keys(doc, at))
    return None if near is None else (*at[:-1], near)


def _checks(doc: Document) -> list[object]:
    """The checks of all parts, as they are written."""
    parts = unified(doc.data)["parts"]
    listed = [p.get("checks") for p in parts if isinstance(p, dict)] * isinstance(parts, list)
    return [check for checks in listed if isinstance(checks, list) for check in checks]


def _unknown_kind(check: Mapping[str, object]) -> str:
    value, kinds = check.get("kind"), registry.KINDS
    return f"expected one of {', '.join(kinds)}, found {value!r}{did_you_mean(value, kinds)}"


def _known_keys(doc: Document, at: Keys) -> list[str]:
    """The keys allowed where an unknown one was found."""
    model: type[BaseModel] | None = Spec
    here: Any = unified(doc.data)
    for number, step in enumerate(at[:-1]):
        here = here[step]
        if isinstance(step, int) and at[number - 1] == "checks":
            name = str(here.get("kind"))
            model = registry.get(name).keys if name in registry.KINDS else Check
        elif model is not None and step in (named := fields(model)):
            model = model_in(named[str(step)].annotation)
    known = [] if model is None else list(fields(model))
    if len(at) == 1 and "parts" not in doc.data:
        known += [key for key in OF_A_PART if key not in known]
    return known
