"""Reports of every kind, for properties that hold for all of them."""

from __future__ import annotations

import typing
from collections.abc import Mapping
from dataclasses import fields
from types import UnionType
from typing import Any

from hypothesis import strategies as st

from grader.model import report as model
from grader.model.report import REPORT_FORMAT, Report, Verdict

Numbers = st.SearchStrategy[float]
Texts = st.SearchStrategy[str]

TEXTS: Texts = st.text(st.characters(codec=None), max_size=40)


def reports(numbers: Numbers, texts: Texts = TEXTS) -> st.SearchStrategy[Report]:
    """Reports with every field drawn, those with a default too."""
    return typing.cast("st.SearchStrategy[Report]", _of(Report, numbers, texts))


def _of(hint: Any, numbers: Numbers, texts: Texts) -> st.SearchStrategy[Any]:
    """Values of the type that a field declares."""
    origin, parts = typing.get_origin(hint), typing.get_args(hint)
    if origin is typing.Literal:
        return st.sampled_from(parts)
    inner = [_of(p, numbers, texts) for p in parts if p is not Ellipsis and p is not type(None)]
    if origin in (typing.Union, UnionType):
        return st.one_of([st.none(), *inner] if type(None) in parts else inner)
    if origin is tuple:
        many = Ellipsis in parts
        return st.lists(inner[0], max_size=3).map(tuple) if many else st.tuples(*inner)
    if origin is frozenset:
        return st.frozensets(inner[0], max_size=4)
    if origin is Mapping:
        return st.dictionaries(*inner, max_size=3)
    if hint is Verdict:
        return st.sampled_from(Verdict)
    if hint in (int, bool):
        return st.integers(-3, 10**6) if hint is int else st.booleans()
    if hint is float or hint is str:
        return numbers if hint is float else texts
    hints = typing.get_type_hints(hint, vars(model))
    drawn = {f.name: _of(hints[f.name], numbers, texts) for f in fields(hint)}
    if hint is Report:
        drawn["format"] = st.just(REPORT_FORMAT)
    return st.builds(hint, **drawn)
