"""A package that adds a kind of check and a generator: built, installed, and used in a question."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.cli.app import run
from grader.kinds import registry
from grader.model import extension

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
QUESTION = HERE / "running-total.yaml"
Drill = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel of the example and lay it out as an installer does."""
    folder = tmp_path_factory.mktemp("site")
    dist = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(dist)]
    subprocess.run(build, cwd=HERE, check=True, capture_output=True)
    (wheel,) = dist.glob("*.whl")
    with zipfile.ZipFile(wheel) as packed:
        packed.extractall(folder)
    return folder


@pytest.fixture
def program(tmp_path: Path) -> Drill:
    """Run the program in a process of its own, with further folders of packages."""

    def call(*arguments: str, sites: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith("DRILL_")}
        path = os.pathsep.join(map(str, [ROOT, *sites]))
        return subprocess.run(
            [sys.executable, "-m", "grader", "--bank", str(QUESTION), *arguments],
            env=kept | {"PYTHONPATH": path, "DRILL_HOME": str(tmp_path / "home")},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )

    return call


@pytest.fixture
def drill(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    one_zygote: None,
) -> Iterator[Drill]:
    """Run it in this process, which looks for packages anew each time, and forgets what it found.

    Starting a process and importing the program takes longer than most of what is tried here.
    """
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DRILL_HOME", str(tmp_path / "home"))
    imported = set(sys.modules)

    def forget() -> None:
        for cached in (extension.load, registry.find):
            cached.cache_clear()
        for name in set(sys.modules) - imported:
            if name.startswith(("drill_example", "drill_broken")):
                del sys.modules[name]

    def call(*arguments: str, sites: tuple[Path, ...] = ()) -> subprocess.CompletedProcess[str]:
        forget()
        capsys.readouterr()
        with monkeypatch.context() as patch:
            for folder in reversed(sites):
                patch.syspath_prepend(folder)
            status = run(["--bank", str(QUESTION), *arguments])
        return subprocess.CompletedProcess(arguments, status, *capsys.readouterr())

    yield call
    forget()


def test_a_question_with_both_is_graded(program: Drill, site: Path, tmp_path: Path) -> None:
    started = program("start", "running-total", sites=(site,))
    assert started.returncode == 0, started.stderr
    graded = program("grade", "--json", sites=(site,))
    report = json.loads(graded.stdout)
    assert graded.returncode == 1, graded.stdout
    assert report["checks"][0]["kind"] == "monotone"
    assert report["checks"][0]["message"] == "total falls behind entry [0] (case there-and-back)"
    assert report["checks"][1]["verdict"] == "skipped"
    assert [named["id"] for named in report["misconceptions"]] == ["signed"]
    right = tmp_path / "running-total" / "submission.py"
    right.write_text(
        "import numpy as np\ndef distance(x):\n"
        "    return np.abs(np.diff(x, axis=-1)).cumsum(axis=-1)\n"
    )
    passed = program("grade", sites=(site,))
    assert passed.returncode == 0, passed.stdout + passed.stderr


def test_what_the_kind_observes_confirms_an_idea_and_does_not_carry_it(
    drill: Drill, site: Path, tmp_path: Path
) -> None:
    body = "import numpy as np\ndef distance(x):\n    return {} * np.cumsum(np.diff(x), axis=-1)\n"
    submission = tmp_path / "walk.py"
    found = []
    for factor in ("1.0", "3.28"):  # in feet it falls at the same places, and is no value of it
        submission.write_text(body.format(factor))
        ended = drill("grade", "running-total", "--file", str(submission), "--json", sites=(site,))
        found.append(json.loads(ended.stdout)["misconceptions"])
    (named,), feet = found
    assert (named["id"], named["exact"], named["results"]) == ("signed", True, ["rises"])
    assert feet == []


def test_an_audit_measures_its_tolerance_and_what_it_stops(drill: Drill, site: Path) -> None:
    ended = drill("bank", "audit", "running-total", "--seeds", "2", "--json", sites=(site,))
    report = json.loads(ended.stdout)
    (audited,) = report.get("questions", [report])
    facts = {fact["id"]: fact for fact in audited["checks"]}
    assert audited["problems"] == []
    assert facts["rises"]["stops"] == 2  # the starter as well
    assert facts["rises"]["margin"]["closest"] == "signed"
    assert facts["rises"]["margin"]["wrong"] > 5  # orders of magnitude beyond the slack
    assert facts["rises"]["margin"]["right"] is None


def test_the_example_imports_nothing_internal(site: Path) -> None:
    sources = "".join(p.read_text(encoding="utf-8") for p in site.rglob("*.py"))
    assert set(re.findall(r"(?:from|import) (grader[\w.]*)", sources)) == {"grader.api"}


def test_every_name_of_the_api_is_there_and_none_is_loaded_before_it_is_asked_for() -> None:
    script = (
        "import sys, grader.api as api\n"
        "assert not {'numpy', 'pydantic'} & set(sys.modules)\n"
        "print(*(name for name in api.__all__ if getattr(api, name) is None))\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (ended.stdout, ended.stderr) == ("\n", "")


def test_without_the_package_both_words_are_unknown(drill: Drill) -> None:
    ended = drill("show", "running-total")
    assert ended.returncode == 3
    assert f"{QUESTION}:21:23: checks[0].kind: expected one of outputs, gradch" in ended.stderr
    assert (
        "performance, peak, choices, findings, causes, verdicts, found 'monotone'" in ended.stderr
    )
    assert f"{QUESTION}:19:40: cases.walk.x: expected exactly one generator" in ended.stderr


def test_a_misspelt_word_suggests_that_of_an_extension(
    drill: Drill, site: Path, tmp_path: Path
) -> None:
    text = QUESTION.read_text(encoding="utf-8")
    wrong = tmp_path / "wrong.yaml"
    wrong.write_text(
        text.replace("kind: monotone", "kind: monotne")
        .replace("step: 0.5", "stpe: 0.5")
        .replace("  - {id: total, kind: outputs,", "  - {id: total, kind: monotone, slakc: 1.0,")
    )
    said = drill("--bank", str(wrong), "show", "wrong", sites=(site,)).stderr
    assert (
        "choices, findings, causes, verdicts, monotone, found 'monotne'; did you mean 'monotone'?"
        in said
    )
    assert "walk takes step, scale, shift, sprinkle" in said
    assert "found the key 'stpe'; did you mean 'step'?" in said
    assert "found the unknown key 'slakc'; did you mean 'slack'?" in said
    wrong.write_text(text.replace("step: 0.5", "step: -1"))
    said = drill("--bank", str(wrong), "show", "wrong", sites=(site,)).stderr
    assert "cases.walk.x.walk: expected a step above 0, found -1" in said


def test_the_schema_that_is_printed_has_the_kinds_that_are_installed(
    drill: Drill, site: Path
) -> None:
    def kinds(sites: tuple[Path, ...]) -> set[str]:
        schema = json.loads(drill("bank", "schema", sites=sites).stdout)
        return set(schema["properties"]["checks"]["items"]["discriminator"]["mapping"])

    assert kinds((site,)) - kinds(()) == {"monotone"}


def broken(folder: Path, module: str, name: str = "monotone") -> Path:
    """Install a package whose module holds whatever it is given."""
    info = folder / "drill_broken-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: drill-broken\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(
        f"[drill.checks]\n{name} = drill_broken:Own\n"
        "[drill.inputs]\nwalk = drill_broken:GENERATOR\n"
    )
    (folder / "drill_broken.py").write_text(module)
    return folder


GENERATOR = """
from grader.api import Check, Generator, Kind
from typing import Literal
import numpy as np
class Keys(Check):
    kind: Literal["monotone"]
    of: str
    slack: float = 0.0
class Own(Kind):
    keys = Keys
    def carry_out(self, evaluation, check):
        raise LookupError("nobody caught me")
GENERATOR = Generator(lambda shape, options, rng: np.zeros(shape), options=("step",))
"""


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("import nothing_of_that_name", "expected it to load, found ModuleNotFoundError"),
        ("Own = GENERATOR = 3", "expected a subclass of grader.api.Kind, found 3"),
        (GENERATOR.replace('["monotone"]', '["other"]'), "with kind: Literal['monotone'], found"),
        (GENERATOR.replace("Keys(Check)", "Keys"), "expected keys derived from"),
    ],
)
def test_an_extension_that_cannot_be_used_is_said_where_it_is_needed(
    drill: Drill, tmp_path: Path, module: str, said: str
) -> None:
    ended = drill("show", "running-total", sites=(broken(tmp_path / "site", module),))
    assert ended.returncode == 3
    assert f"{QUESTION}:21:23: checks[0].kind: the entry point monotone" in ended.stderr
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


def test_an_extension_that_raises_is_no_fault_of_the_submission(
    drill: Drill, tmp_path: Path
) -> None:
    submission = tmp_path / "mine.py"
    submission.write_text("def distance(x):\n    return x\n")
    arguments = ("grade", "running-total", "--file", str(submission), "--json")
    ended = drill(*arguments, sites=(broken(tmp_path / "raises", GENERATOR),))
    assert ended.returncode == 3, ended.stderr
    message = json.loads(ended.stdout)["message"]
    assert "rises: the extension of kind monotone raised LookupError: nobody caught me" in message
    looks = "[evaluation.observed(check.run, case) for case in evaluation.cases_of(check)]"
    odd_module = GENERATOR.replace("np.zeros(shape)", "np.zeros(3)")
    odd_module = odd_module.replace('raise LookupError("nobody caught me")', looks)
    odd = broken(tmp_path / "odd", odd_module)
    message = json.loads(drill(*arguments, sites=(odd,)).stdout)["message"]
    assert "expected the generator walk to give shape (3, 40), found (3,)" in message


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("faults(self): yield 'slack'", "expected faults() of the extension of kind monotone to "
         "yield a pair of the path of a key, as a tuple, and a sentence, found 'slack'"),
        ("faults(self): return 3", "faults() of the extension of kind monotone raised TypeError"),
        ("lacks(self): return 3", "to return a text, found 3"),
        ("mentions(self): yield ('of', 'total')", "to yield a Mention of a path, a name and"),
        ("lacks(self): raise LookupError('me')", "monotone raised LookupError: me"),
    ],
)  # fmt: skip
def test_keys_of_an_extension_that_say_nonsense_are_its_fault(
    drill: Drill, tmp_path: Path, method: str, said: str
) -> None:
    module = GENERATOR.replace(
        "    slack: float = 0.0", f"    slack: float = 0.0\n    def {method}"
    )
    site = broken(tmp_path / "site", module)
    (tmp_path / "mine.py").write_text("def distance(x):\n    return x\n")
    for words in (("grade", "running-total", "--file", "mine.py"), ("bank", "audit")):
        ended = drill(*words, sites=(site,))
        assert ended.returncode == 3, ended.stderr
        whole = " ".join((ended.stdout + ended.stderr).split())
        assert said in whole
        assert "rises: " in whole


def test_two_packages_of_one_word_are_told(drill: Drill, site: Path, tmp_path: Path) -> None:
    ended = drill("show", "running-total", sites=(site, broken(tmp_path / "two", GENERATOR)))
    assert ended.returncode == 3
    assert (
        "expected one entry point monotone of drill.checks, "
        "found drill_broken:Own and drill_example.monotone:Monotone" in ended.stderr
    )


def test_nobody_looks_for_extensions_that_are_not_asked_for(tmp_path: Path) -> None:
    script = (
        "import importlib.metadata as m; kept = m.entry_points\n"
        "def watched(**asked):\n"  # pydantic looks for plugins of its own
        "    assert not asked['group'].startswith('drill.'), asked\n"
        "    return kept(**asked)\n"
        "m.entry_points = watched\n"
        "from pathlib import Path; from grader.bank import headers, load\n"
        "from grader.bank.locate import ids; from grader.session import grade\n"
        f"bank = [Path({str(ROOT)!r})]\n"
        "headers(bank)\n"
        "question = load(bank, ids(bank)[0])\n"
        "print(grade(question, question.reference, seed=1).verdict)\n"
    )
    ended = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout == "pass\n", ended.stderr


def test_the_page_shows_the_package_as_it_is() -> None:
    text = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^`([\w/.-]+)`\n\n```\w+\n(.*?)^```", text, re.MULTILINE | re.DOTALL))
    assert {"pyproject.toml", "drill_example/monotone.py", "drill_example/walk.py"} <= shown.keys()
    for name, content in shown.items():
        assert content == (HERE / name).read_text(encoding="utf-8"), name
