"""Specs are read alike by PyYAML with libyaml and without it, which is stricter in some places."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from grader.bank import yaml_document

ROOT = Path(__file__).parents[2]
SPECS = [
    *sorted((ROOT / "questions").glob("*.yaml")),
    *sorted((ROOT / "tests" / "banks").glob("*/questions/*.yaml")),
]


@pytest.fixture(scope="module")
def pure() -> ModuleType:
    """Give the module that reads specs, as it is where PyYAML has no libyaml."""
    spec = importlib.util.spec_from_file_location(
        "document_without_libyaml", yaml_document.__file__
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(yaml, "CSafeLoader", raising=False)
        patch.setitem(sys.modules, spec.name, module)
        spec.loader.exec_module(module)
    assert issubclass(module._Loader, yaml.SafeLoader)
    return module


@pytest.mark.parametrize("path", SPECS, ids=lambda path: path.stem)
def test_a_spec_is_the_same_document_with_libyaml_and_without(path: Path, pure: ModuleType) -> None:
    raw = path.read_bytes()
    ours, theirs = yaml_document.parse_yaml(raw, path), pure.parse_yaml(raw, path)
    assert repr(theirs.data) == repr(ours.data)  # some have NaN, which equals nothing
    assert {at: tuple(spot)[:2] for at, spot in theirs.positions.items()} == {
        at: tuple(spot)[:2] for at, spot in ours.positions.items()
    }
