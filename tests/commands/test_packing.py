"""A pack has the question and examples that run, and nothing of the solution."""

from __future__ import annotations

import errno
import itertools
import re
import subprocess
import sys
import zipfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import pytest

from grader import bank, forms
from grader.commands.context import Context
from grader.commands.pack import EXAMPLES_FOLDER, write_pack
from grader.explain.session import GradingSession
from grader.grading.evaluation import cases_and_draws
from grader.model.errors import UsageError
from grader.model.question import Question
from grader.model.report import Verdict
from grader.reports.case_script import module_name
from tests.classroom.builders import NOW, ROOT
from tests.content import ALWAYS, each_question

SHORT = 12  # letters: a number that answers a follow-up may stand anywhere


def context(folder: Path) -> Context:
    return Context(folder, folder / "data", lambda: NOW, bank=ROOT)


@cache
def load_question(name: str) -> Question:
    return bank.load_question([ROOT], name)


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """Return a function that packs one question, with all parts, and returns its folder."""
    folder = tmp_path_factory.mktemp("packed")

    @cache
    def write(name: str) -> Path:
        write_pack(context(folder), [name], Path(name))
        return folder / name / name

    return write


def long_lines(source: bytes | str) -> set[str]:
    """Return the lines of a text that are long enough to be specific."""
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    return {line.strip() for line in text.splitlines() if len(line.strip()) > 20}


@each_question(always=ALWAYS)
def test_a_pack_contains_nothing_secret(pack: Callable[[str], Path], name: str) -> None:
    packed_question = load_question(name)
    content = {path: path.read_bytes() for path in (pack(name)).rglob("*") if path.is_file()}
    assert {"README.md", forms.form_of(packed_question.spec).file} <= {
        path.name for path in content
    }
    packed_lines = {line for text in content.values() for line in long_lines(text)}
    everything = b"\n".join(content.values()).decode("utf-8", "replace")
    public_lines = set[str]().union(
        *map(long_lines, [packed_question.starter, packed_question.driver or b""])
    )
    public_lines |= set[str]().union(*map(long_lines, packed_question.companion_files.values()))
    for part in packed_question.spec.parts:  # the question itself may show a line of an answer
        public_lines |= (
            long_lines(part.prompt)
            | long_lines(part.interface)
            | long_lines("\n".join(part.contract))
        )
    ours = [packed_question.reference, packed_question.repair, *packed_question.accepted.values()]
    ours += [source for sources in packed_question.variants.values() for source in sources]
    for source in ours:
        assert not (long_lines(source) - public_lines) & packed_lines
    for part in packed_question.spec.parts:
        further = [secret for path in part.follow_ups for secret in (*path.choice, *path.points)]
        for secret in (*part.hints, *further, *(path.answer for path in part.follow_ups)):
            assert len(secret) < SHORT or secret not in everything
    for idea in packed_question.ideas.values():
        assert " ".join(idea.feedback.split())[:60] not in " ".join(everything.split())
    example_names = {path.stem for path in content if path.parent.name == EXAMPLES_FOLDER}
    scripts = [
        text
        for path, text in content.items()
        if path.suffix == ".py" and path.stem in example_names
    ]
    first = {text.splitlines()[0].decode() for text in scripts}
    about_cases = {
        module_name(case): recipe.about for case, recipe in cases_and_draws(packed_question).items()
    }
    public_abouts = {about_cases[case] for case in example_names & about_cases.keys()}
    for case, about in about_cases.items():
        if case not in example_names and about not in public_abouts:
            assert not any(line.endswith(f": {about}") for line in first)
    assert not re.search(r"\bdrill (grade|run|hint|show|solution)\b", everything)


@each_question(always=ALWAYS)
def test_examples_print_the_results_of_the_reference(
    pack: Callable[[str], Path], name: str, tmp_path: Path
) -> None:
    packed_question = load_question(name)
    form = forms.form_of(packed_question.spec)
    scripts = sorted((pack(name) / EXAMPLES_FOLDER).glob("*.py"))
    assert bool(scripts) is not (
        form.is_text or form.runs_in_two_processes or packed_question.spec.form == "diagnose"
    )
    for script in [path for path in scripts if path.name != "driver.py"][:1]:
        (tmp_path / EXAMPLES_FOLDER).mkdir()
        for path in script.parent.iterdir():
            (tmp_path / EXAMPLES_FOLDER / path.name).write_bytes(path.read_bytes())
        for beside, text in {
            **packed_question.companion_files,
            form.file: packed_question.reference,
        }.items():
            (tmp_path / beside).write_bytes(text)
        command = [sys.executable, str(tmp_path / EXAMPLES_FOLDER / script.name)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        assert (done.returncode, done.stderr) == (0, "")
        outputs = f"\n{done.stdout}".split("\nexpected ")  # neither numbers nor arrays stand twice
        for before, after in itertools.pairwise(outputs):
            result, value = after.split("\n", 1)
            assert f"\n{result}\n{value}".rstrip() in before
        assert len(outputs) > 1 or ", as expected:" in done.stdout


@pytest.mark.parametrize(
    "name",
    ["maxpool-routing", "decode-on-paper", "gradient-check", "four-averages", "softmax-five-lines"],
)
def test_a_packed_question_can_be_graded_after_it_was_solved(
    pack: Callable[[str], Path], name: str
) -> None:
    packed_question = load_question(name)
    file = forms.form_of(packed_question.spec).file
    back = (pack(name) / file).read_bytes()
    assert back == packed_question.without_leading_blank_lines(packed_question.starter)
    with GradingSession(packed_question) as session:
        assert session.grade(back, seed=1, filename=file).verdict is not Verdict.PASS
        is_text = forms.form_of(packed_question.spec).is_text
        right = packed_question.reference
        if is_text:
            right = next(iter(packed_question.accepted.values()))
        assert session.grade(right, seed=1, filename=file).verdict is Verdict.PASS


def test_a_pack_has_the_parts_that_are_asked_and_is_the_same_every_time(tmp_path: Path) -> None:
    here, name = context(tmp_path), "maxpool-routing"
    for out in ("one.zip", "two.zip"):
        packed = write_pack(here, [name, name], Path(out), part=1)
    assert packed.questions == (name,)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "two.zip").read_bytes()
    write_pack(here, [name], Path("whole"))
    with zipfile.ZipFile(tmp_path / "one.zip") as archive:
        for path in set(packed.files) - {f"{name}/README.md"}:  # which has all parts in the other
            assert archive.read(path) == (tmp_path / "whole" / path).read_bytes()
        assert tuple(archive.namelist()) == packed.files
        readme = archive.read(f"{name}/README.md").decode()
    first, second, _ = load_question(name).spec.parts
    assert " ".join(first.prompt.split())[:50] in " ".join(readme.split())
    assert " ".join(second.prompt.split())[:50] not in " ".join(readme.split())
    assert f"{name}/{EXAMPLES_FOLDER}/tied.py" not in packed.files


def test_pack_refuses_unusable_questions_and_existing_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = context(tmp_path)
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine.txt").write_text("mine")
    (tmp_path / "old.zip").write_text("mine")
    (tmp_path / "empty").mkdir()
    (tmp_path / "link.zip").symlink_to(tmp_path / "nowhere.zip")
    for out in ("full", "old.zip", "link.zip"):
        with pytest.raises(UsageError, match="it is there already"):
            write_pack(here, ["three-rows"], Path(out))
    with pytest.raises(UsageError, match="three-rows has parts from 1 to 1, found 2"):
        write_pack(here, ["three-rows"], Path("empty"), part=2)
    with pytest.raises(UsageError, match="no question three-rws"):
        write_pack(here, ["three-rows", "three-rws"], Path("empty"))
    with pytest.raises(UsageError, match="expected one question of this id, found 2"):
        write_pack(here, ["three-rows", "drill/three-rows"], Path("empty"))
    assert not any((tmp_path / "empty").iterdir())

    read = Path.iterdir

    def closed(folder: Path) -> Iterator[Path]:
        if folder.name == "empty":
            raise PermissionError(errno.EACCES, "Permission denied", str(folder))
        return read(folder)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "iterdir", closed)
        with pytest.raises(UsageError, match="it is there already"):
            write_pack(here, ["three-rows"], Path("empty"))
    write_pack(here, ["three-rows"], Path("empty"))
    assert (tmp_path / "empty" / "three-rows" / "answers.txt").exists()
    assert (tmp_path / "old.zip").read_text() == (tmp_path / "full/mine.txt").read_text() == "mine"
