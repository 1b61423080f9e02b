"""Validate a document against the model, and say every fault in words with its place."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from grader.bank.document import Document, Keys, Problem, dotted
from grader.bank.wording import fields, grouped, model_in, unlike
from grader.kinds import registry
from grader.model.errors import closest, did_you_mean
from grader.model.spec import OF_A_PART, Check, Spec, as_written, unified


def validate(doc: Document) -> Spec:
    """The spec in a document.

    Raises:
        BankError: it is not what the model says; `problems` has every fault.
    """
    problems = list(doc.problems)
    whole = unified(doc.data)
    try:
        spec = registry.read(whole)
    except ValidationError as error:
        by_place = grouped(error, whole)
    else:
        if problems:
            raise doc.complaint(problems)
        return spec
    placed = {problem[:2] for problem in problems}
    known = {at: _known_keys(whole, at, "parts" in doc.data) for at in by_place}
    meant = {
        (*at[:-1], closest(str(at[-1]), known[at]))
        for at, group in by_place.items()
        if group[0]["type"] == "extra_forbidden"
    }  # keys that are missing because they are misspelled
    found = [
        problem(doc, at, group, known[at]) for at, group in by_place.items() if at not in meant
    ]
    raise doc.complaint([*problems, *(one for one in found if one[:2] not in placed)])


def problem(
    doc: Document, at: Keys, group: list[ErrorDetails], known: list[str], of: str = "the question"
) -> Problem:
    """What is wrong at a place of a question (in the data with `parts`) or of another file."""
    kind, value = group[0]["type"], group[0]["input"]
    at = as_written(at, doc.data)
    whole = dotted(at[:-1]) or of
    if kind == "missing":
        text = f"{whole}: expected the key {at[-1]!r}, found none"
        if at[-1] == "killed_by":
            text += "; write the check that stops it here: killed_by: ID"
        return *doc.position(at[:-1]), text
    if kind == "extra_forbidden":
        hint = did_you_mean(at[-1], known) or f"; known keys: {', '.join(known)}"
        if len(at) == 1 and at[0] in OF_A_PART:
            hint = "; it is a key of a part here"
        if " " in str(at[-1]).strip():  # {about: one, two}: the second half became a key
            hint = "; is it the end of a text? A text that holds a comma needs quotes here"
        return *doc.position(at, key=True), f"{whole}: found the unknown key {at[-1]!r}{hint}"
    if kind == "union_tag_invalid":
        name, kinds = value.get("kind"), registry.KINDS
        text = f"expected one of {', '.join(kinds)}, found {name!r}{did_you_mean(name, kinds)}"
        return *doc.position((*at, "kind")), f"{dotted(at)}.kind: {text}"
    return *doc.position(at), unlike(at, group)


def _known_keys(whole: Any, at: Keys, in_parts: bool) -> list[str]:  # noqa: ANN401 parsed YAML
    """The keys allowed around a place."""
    model: type[BaseModel] | None = Spec
    here = whole
    for number, step in enumerate(at[:-1]):
        here = here[step]
        if isinstance(step, int) and at[number - 1] == "checks":
            kind = str(here.get("kind")) if isinstance(here, dict) else ""
            model = registry.get(kind).keys if kind in registry.KINDS else Check
        elif model is not None and step in (named := fields(model)):
            model = model_in(named[str(step)].annotation)
    known = [] if model is None else list(fields(model))
    return [*known, *OF_A_PART] if len(at) == 1 and not in_parts else known
