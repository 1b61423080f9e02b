"""What pip installs: wheel, sdist and editable install all carry the program and its questions.

Nothing is downloaded: hatchling is there, and the dependencies are those of these tests.
"""

from __future__ import annotations

import email
import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from grader import __version__

ROOT = Path(__file__).parents[1]
BANK = {
    path.relative_to(ROOT).as_posix(): path.read_bytes()
    for folder in ("questions", "drills")
    for path in sorted((ROOT / folder).rglob("*"))
    if path.suffix in {".py", ".txt", ".yaml"} and not path.name.startswith((".", "test_"))
}

OF_CUDA = ("cuda", "nvidia", "triton")  # what only some builds of torch require

# What a package that builds on this one may write.  Extend it with what is promised to others; the
# comment marks a mistake that types must find, and mypy says so where it no longer does.
DOWNSTREAM = """\
from pathlib import Path

from grader import CheckResult, Question, Report, Verdict, grade, open_question


def passes(name: str, submission: bytes, bank: Path) -> bool:
    question: Question = open_question(name, bank).question
    report: Report = grade(question, submission, seed=1)
    return report.verdict is Verdict.PASS


def failed(report: Report) -> dict[str, str]:
    checks: tuple[CheckResult, ...] = report.checks
    return {check.id: check.message for check in checks if check.verdict is not Verdict.PASS}


def mistaken(question: Question) -> Report:
    return grade(question, "def f(): ...", seed=1)  # type: ignore[arg-type]
"""


def locked() -> dict[str, dict[str, str]]:
    """Return what .ci/lock.txt has, by name: hashes by version."""
    found: dict[str, dict[str, str]] = {}
    text = (ROOT / ".ci" / "lock.txt").read_text()
    for entry in re.split(r"^(?=\w)", text, flags=re.MULTILINE)[1:]:
        match = re.match(r"([\w.-]+)==([\w.]+)", entry)
        assert match, entry
        found.setdefault(canonicalize_name(match[1]), {})[match[2]] = entry
    return found


def required(name: str, extras: Iterable[str] = ()) -> Iterator[str]:
    """Give what an installed package requires here, by name."""
    for text in metadata.requires(name) or ():
        asked = Requirement(text)
        marker = asked.marker
        if marker is None or any(marker.evaluate({"extra": extra}) for extra in ("", *extras)):
            yield canonicalize_name(asked.name)


def test_every_package_of_continuous_integration_has_a_hash() -> None:
    """Those that others require, too; torch alone has a version and no hash."""
    known, waiting = locked(), ["drill-dl"]
    for name in waiting:  # which grows
        for one in required(name, ("torch", "dev") if name == "drill-dl" else ()):
            if one not in waiting and not one.startswith(OF_CUDA):
                waiting.append(one)
    assert len(waiting) > 50
    assert {*waiting} - {"drill-dl", "torch"} <= known.keys()
    for name, versions in known.items():
        for version, entry in versions.items():
            assert "--hash=sha256:" in entry, (name, version)


def test_what_is_locked_are_the_tested_versions() -> None:
    known = locked()
    for line in (ROOT / "constraints.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            pinned = Requirement(line)
            name, version = canonicalize_name(pinned.name), str(pinned.specifier)[2:]
            assert name == "torch" or version in known[name], line


def test_actions_are_named_by_commit_and_keep_no_credentials() -> None:
    for workflow in (ROOT / ".github" / "workflows").glob("*.yml"):
        text = workflow.read_text()
        uses = re.findall(r"uses: *(\S+)", text)
        assert uses
        assert all(re.fullmatch(r"[\w/-]+@[0-9a-f]{40}", one) for one in uses), uses
        assert text.count("actions/checkout@") == text.count("persist-credentials: false")


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the program and access to the dependencies of these tests."""

    folder: Path

    @property
    def site(self) -> Path:
        """Where it keeps packages."""
        return next(self.folder.glob("lib/python*/site-packages"))

    def drill(self, *arguments: str, cwd: Path) -> Any:
        """Run the script `drill` from elsewhere and return its JSON."""
        shown = {k: v for k, v in os.environ.items() if not k.startswith(("DRILL_", "PYTHON"))}
        ended = subprocess.run(
            [self.folder / "bin" / "drill", *arguments, "--json"],
            env=shown | {"DRILL_HOME": str(cwd / "home")},
            cwd=cwd,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stdout + ended.stderr
        return json.loads(ended.stdout)


def python(*arguments: str | Path, cwd: Path = ROOT) -> None:
    """Run python; show what it said when it fails."""
    command = [sys.executable, *arguments]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    ended = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build a wheel and an sdist from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    python("-m", "hatchling", "build", "-d", folder)
    return folder


def wheel_in(folder: Path) -> Path:
    """Return the one wheel of a folder."""
    (found,) = folder.glob("*.whl")
    return found


def install(into: Path, *what: str | Path) -> Installed:
    """Make a virtual environment, lend it our packages, and install without any index."""
    python("-m", "venv", "--without-pip", into)
    installed = Installed(into)
    ours = dict.fromkeys((sysconfig.get_path("purelib"), sysconfig.get_path("platlib")))
    (installed.site / "lent.pth").write_text("\n".join(ours) + "\n")
    pip = ("-m", "pip", "--python", into, "--disable-pip-version-check", "install", "--quiet")
    # The program itself may be among what is lent.
    offline = ("--no-index", "--no-deps", "--no-build-isolation", "--ignore-installed")
    python(*pip, *offline, *what)
    return installed


@pytest.fixture(scope="module")
def installed(dist: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Install the wheel, once for those who only use it."""
    return install(tmp_path_factory.mktemp("installed") / "venv", wheel_in(dist))


def contents(wheel: Path) -> dict[str, bytes]:
    """Return every file of a wheel by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_the_wheel_installs_one_package_which_carries_the_bank(dist: Path) -> None:
    held = contents(wheel_in(dist))
    assert {name.split("/")[0] for name in held if ".dist-info/" not in name} == {
        "grader",
        f"drill_dl-{__version__}.data",  # the manual page
    }
    prefix = "grader/_bank/"
    carried = {n.removeprefix(prefix): data for n, data in held.items() if n.startswith(prefix)}
    assert carried == BANK
    assert "grader/py.typed" in held
    pages = [*(ROOT / "grader").rglob("templates/*"), *(ROOT / "grader").rglob("topics/*")]
    assert pages
    assert {path.relative_to(ROOT).as_posix() for path in pages} <= held.keys()


def test_torch_and_the_tools_are_not_installed_unless_asked_for(dist: Path) -> None:
    held = contents(wheel_in(dist))
    (text,) = (data for name, data in held.items() if name.endswith("/METADATA"))
    required = email.message_from_bytes(text).get_all("Requires-Dist") or []
    for tool in ("torch", "pytest", "mypy", "ruff", "hatchling", "hypothesis"):
        asked = [r for r in required if r.startswith(tool)]
        assert asked
        assert all("extra ==" in r for r in asked)


@pytest.mark.slow
def test_an_installed_wheel_lists_and_grades(installed: Installed, tmp_path: Path) -> None:
    bank = installed.site / "grader" / "_bank"
    listed = installed.drill("list", cwd=tmp_path)["questions"]
    assert {q["id"] for q in listed} == {p.stem for p in (ROOT / "questions").glob("*.yaml")}
    assert {q["bank"] for q in listed} == {str(bank)}
    reference = bank / "drills" / "maxpool-routing" / "reference.py"
    arguments = ("grade", "maxpool-routing", "--file", str(reference))
    assert installed.drill(*arguments, cwd=tmp_path)["verdict"] == "pass"


@pytest.mark.slow
def test_a_module_elsewhere_is_checked_against_the_types_of_the_wheel(
    installed: Installed, tmp_path: Path
) -> None:
    module = tmp_path / "downstream.py"
    module.write_text(DOWNSTREAM)
    settings = ("--strict", "--config-file=", f"--cache-dir={tmp_path / 'cache'}")
    interpreter = f"--python-executable={installed.folder / 'bin' / 'python'}"
    python("-m", "mypy", *settings, interpreter, module, cwd=tmp_path)


def test_an_editable_install_uses_the_bank_of_the_checkout(tmp_path: Path) -> None:
    installed = install(tmp_path / "venv", "-e", ROOT)
    assert not (installed.site / "grader").exists()
    listed = installed.drill("list", cwd=tmp_path)["questions"]
    assert {q["bank"] for q in listed} == {str(ROOT)}


def test_the_sdist_builds_the_same_wheel(dist: Path, tmp_path: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    python("-m", "tarfile", "-e", sdist, tmp_path)
    (source,) = (p for p in tmp_path.iterdir() if p.is_dir())
    python("-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "again", cwd=source)
    assert contents(wheel_in(tmp_path / "again")) == contents(wheel_in(dist))


def test_the_sdist_holds_what_its_tests_need(dist: Path) -> None:
    (sdist,) = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    for folder in ("tests", "docs", "benchmarks", ".ci"):
        for path in (ROOT / folder).rglob("*"):
            name = path.relative_to(ROOT).as_posix()
            made = "/." in name or "__pycache__" in name or name.startswith(".ci/venv/")
            assert made or path.is_dir() or name in held
    assert {"README.md", "CHANGELOG.md", "constraints.txt", "LICENSE"} <= held
