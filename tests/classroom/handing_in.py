"""Folders, zip files and notebooks as students and learning platforms make them."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from grader.classroom.hand_in import HandIns
from grader.model.classroom import HandIn

Files = Mapping[str, bytes | str]


def tree(root: Path, files: Files) -> Path:
    """Write files into a folder."""
    for name, content in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return root


def zipped(files: Files) -> bytes:
    """Pack files."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return packed.getvalue()


def notebook(*cells: str, **changes: Any) -> bytes:
    """A notebook with cells of code."""
    book: dict[str, Any] = {
        "nbformat": 4, "nbformat_minor": 5, "metadata": {},
        "cells": [
            {"cell_type": "code", "source": cell.splitlines(keepends=True), "metadata": {},
             "outputs": [], "execution_count": None}
            for cell in cells
        ],
    }  # fmt: skip
    return json.dumps(book | changes).encode()


def found(root: Path, *asked: str, **how: str) -> list[HandIn]:
    """What is handed in."""
    return [one for one, _ in programs(root, *asked, **how)]


def programs(root: Path, *asked: str, **how: str) -> list[tuple[HandIn, bytes]]:
    """What is handed in, with the programs."""
    with HandIns(root, asked or ("mean",), **how) as handed:
        return list(handed)


def whose(root: Path, *asked: str, **how: str) -> list[tuple[str, str, str]]:
    """Student, question and path of the programs that are handed in."""
    handed = found(root, *asked, **how)
    return [(one.student, one.question, one.path) for one in handed if one.sha256]


def faults(root: Path, *asked: str, **how: str) -> dict[str, str]:
    """What is wrong, by path."""
    return {one.path: one.fault for one in found(root, *asked, **how)}
