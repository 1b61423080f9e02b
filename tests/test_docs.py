"""What the documents say is so: sessions are run, commands exist, nothing is left out."""

from __future__ import annotations

import graphlib
import importlib.util
import os
import re
import shlex
import stat
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import pytest
import yaml
from pydantic import BaseModel

from grader.audit.audit import audit_question
from grader.bank import headers, load_question
from grader.cases import recipe
from grader.commands import entrypoint, grade, output
from grader.commands.app import load_command
from grader.grading.kinds import registry
from grader.model import errors, spec
from tests import corpus

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
README = (ROOT / "README.md").read_text(encoding="utf-8")
FORMAT = (ROOT / "docs" / "format.md").read_text(encoding="utf-8")
KEYS = (ROOT / "docs" / "keys.md").read_text(encoding="utf-8")
KINDS = [registry.kind_named(name).check_model for name in registry.KINDS]


@dataclass(frozen=True, slots=True)
class Command:
    """One line behind a `$`, and the lines printed below it."""

    line: str
    printed: tuple[str, ...]


def blocks(text: str) -> list[str]:
    """Return the fenced blocks that are consoles."""
    return re.findall(r"^```console\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def commands(block: str) -> Iterator[Command]:
    """Yield the commands of a console."""
    for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        line, *printed = part.rstrip("\n").split("\n")
        yield Command(line, tuple(printed))


def parts(line: str) -> Iterator[list[str]]:
    """Yield the words of each program on a line, paths to `drill` shortened."""
    for part in line.split(" && "):
        words = shlex.split(part)
        if words[0].endswith("venv/bin/drill"):
            words[0] = "drill"
        yield words


SHOWN = [(p.relative_to(ROOT).as_posix(), c) for p in PAGES for b in blocks(p.read_text("utf-8"))
         for c in commands(b)]  # fmt: skip


@pytest.mark.parametrize(("page", "command"), SHOWN, ids=[f"{p}: {c.line}" for p, c in SHOWN])
def test_every_command_that_is_shown_can_be_typed(page: str, command: Command) -> None:
    assert page
    for words in parts(command.line):
        match words:
            case ["drill", *arguments]:
                assert_drill_takes(arguments)
            case [".ci/test", *paths]:
                assert (ROOT / ".ci/test").stat().st_mode & stat.S_IXUSR
                assert all((ROOT / path).exists() for path in paths)
            case [".ci/venv/bin/python", "-m", "ruff" | "mypy", *_]:
                pass
            case ["python", script, *_]:
                assert (ROOT / script).is_file()
            case ["python3", "-m", "venv", ".venv"] | [".", ".venv/bin/activate"]:
                pass
            case [".venv/bin/pip", "install", "-q", "-c", "constraints.txt", "-e", "."]:
                assert (ROOT / "pyproject.toml").is_file()
            case ["pip", "install", requirement]:
                assert requirement in (ROOT / "constraints.txt").read_text("utf-8").split()
            case ["$EDITOR", _]:
                pass
            case _:
                pytest.fail(f"nobody knows how to try {words}")


def assert_drill_takes(arguments: list[str]) -> None:
    """Check the commands, options and ids of a line; metavariables in capitals are anything."""
    command: Any = load_command()
    rest = list(arguments)
    while rest:
        word = rest.pop(0)
        below = getattr(command, "commands", {})
        if word not in below and getattr(command, "name", "") in {"history", "interview"}:
            command, below = next(iter(below.values())), {}  # of which the first is implied
        if word.startswith("--"):
            (option,) = [p for p in command.params if word in p.opts] or [None]
            assert option is not None, f"{command.name} has no {word}"
            if not option.is_flag:
                rest.pop(0)
        elif below and word in below:
            command = below[word]
        else:
            assert not below, f"no command {word}"
            known = {path.stem for path in (ROOT / "questions").glob("*.yaml")}
            assert word.isupper() or word in known | {"relu-gate", "my-norm", "my-sum", "..."}, (
                f"no question {word}"
            )


def test_the_session_in_the_readme_is_what_happens(tmp_path: Path) -> None:
    right = corpus.right_programs("maxpool-routing")["clipped_windows"].source
    # Seeds are drawn afresh, so the session is repeated with the one it shows.
    (seed,) = set(re.findall(r"seed (\d+)", blocks(README)[0]))
    for command in commands(blocks(README)[0]):
        words = shlex.split(command.line)
        if words[0] == "$EDITOR":
            (tmp_path / words[1]).write_bytes(right)
            continue
        extra = ["--seed", seed] if words[1] == "grade" else []
        shown = timeless("\n".join(command.printed))
        printed = timeless(drill(*words[1:], *extra, cwd=tmp_path).stdout)
        assert filled(shown, printed) == printed


def test_the_readme_gives_no_fault_of_a_question_away() -> None:
    for path in (ROOT / "questions").glob("*.yaml"):
        ideas = load_question([ROOT], path.stem).ideas
        assert [idea for idea in ideas if idea in README] == []


def drill(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    """Run the program as a person at a terminal of 80 columns would."""
    shown = {k: v for k, v in os.environ.items() if not k.startswith("DRILL_")}
    mine = {"DRILL_HOME": str(cwd / "home"), "COLUMNS": "80", "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "grader", *arguments],
        env=shown | mine,
        cwd=cwd,
        capture_output=True,
        text=True,
        check=False,
    )


def filled(shown: str, printed: str) -> str:
    """Return what was printed where a page shows it, `...` being any lines; else what is shown."""
    pieces = shown.split("\n...\n")
    at = 0
    for piece in pieces:
        at = printed.find(piece, at)
        if at < 0:
            return shown
        at += len(piece)
    whole = printed.startswith(pieces[0]) and printed.endswith(pieces[-1])
    return printed if whole else shown


def timeless(text: str) -> str:
    """Replace what depends on the machine and on the clock."""
    text = re.sub(r"\d+ minutes? \((\d+) planned", r"0 minutes (\1 planned", text)
    text = re.sub(r" +(\d+ seeds), [\d.]+ s$", r" \1", text, flags=re.MULTILINE)
    return text.rstrip("\n") + "\n"


def test_the_ten_minutes_of_authoring_are_what_happens(tmp_path: Path) -> None:
    text = (ROOT / "docs" / "authoring.md").read_text(encoding="utf-8")
    (minutes,) = re.findall(r"^## Ten minutes\n.*?(?=^## )", text, re.MULTILINE | re.DOTALL)
    (seed,) = set(re.findall(r" seed (\d+)$", minutes, re.MULTILINE))
    told = re.findall(
        r"^`([\w/.-]+)`\n\n```\w+\n(.*?)^```|^```console\n(.*?)^```", minutes, re.M | re.S
    )
    ran = []
    for name, content, console in told:
        if name:
            path = tmp_path / "mine" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content)
            continue
        for command in commands(console):
            words = shlex.split(command.line)[1:]
            extra = ["--seed", seed] if words[0] == "grade" else []
            printed = timeless(drill(*words, *extra, cwd=tmp_path).stdout)
            assert filled(timeless("\n".join(command.printed)), printed) == printed
            ran.append(" ".join(words))
    assert ran[-3:] == [
        "--bank mine bank audit relu-gate --write-killed-by", "--bank mine start relu-gate",
        "grade --explain",
    ]  # fmt: skip


@pytest.mark.usefixtures("one_zygote")
def test_the_question_in_two_parts_is_proved(tmp_path: Path) -> None:
    (text,) = re.findall(
        r"^```yaml\n(format: 3\n.*?^parts:.*?)^```", section(FORMAT, "Parts"), re.M | re.S
    )
    path = tmp_path / "growing-mean.yaml"
    path.write_text(text)
    report = audit_question(load_question([path], "growing-mean"), seeds=range(2))
    assert (report.problems, report.remarks) == ((), ())


def generator() -> ModuleType:
    """Import docs/generate.py."""
    found = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert found is not None
    assert found.loader is not None
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    "page", ["commands.md", "curriculum.md", "keys.md", "question.schema.json"]
)
def test_pages_made_from_the_program_are_current(page: str) -> None:
    made = generator().pages()
    message = "python docs/generate.py writes it anew"
    assert (ROOT / "docs" / page).read_text(encoding="utf-8") == made[page], message


def test_what_is_better_passed_before_is_there_and_goes_around_in_no_circle() -> None:
    before = {head.id: head.prerequisites for head in headers([ROOT])}
    order = list(graphlib.TopologicalSorter(before).static_order())
    assert set(order) == set(before)
    tracks = {"architectures", "attention", "debugging", "derivations", "distributed", "inference",
              "kernels", "memory", "numerics", "pooling-and-convolution", "post-training",
              "training-loops"}  # fmt: skip
    assert {head.track for head in headers([ROOT])} <= tracks


def test_every_question_has_one_to_three_roles() -> None:
    assert {
        head.id: len(head.roles) for head in headers([ROOT]) if not 0 < len(head.roles) < 4
    } == {}


def test_every_question_is_about_something_in_the_curriculum() -> None:
    tracks = yaml.safe_load((ROOT / "docs" / "curriculum.yaml").read_text("utf-8"))
    named = {name for items in tracks.values() for names in items.values() for name in names}
    assert {path.stem for path in (ROOT / "questions").glob("*.yaml")} <= named


def test_every_command_is_in_the_readme() -> None:
    for words in generator().commands():
        command = " ".join(["drill", *words])
        group = words in {(), ("bank",), ("class",), ("history", "list"), ("interview", "begin")}
        assert group or f"`{command}" in README, f"{command} is missing"


def test_every_exit_status_is_in_the_readme() -> None:
    faults = [errors.UsageError("", ""), errors.BankError(""), errors.GraderError("", "")]
    statuses = {0, 1, entrypoint.EXIT_USAGE, entrypoint.EXIT_INTERRUPTED, output.EXIT_PIPE_CLOSED}
    statuses |= {fault.exit_status for fault in faults} | set(grade.EXIT_STATUS.values())
    documented = {int(n) for n in re.findall(r"^\| (\d+) \|", README, re.MULTILINE)}
    assert documented == statuses


def section(page: str, heading: str) -> str:
    """Return one section of a page."""
    found = re.search(rf"^## {heading}\b.*?(?=^## |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, f"no section {heading}"
    return found[0]


def meanings(heading: str, of: str = "") -> dict[str, str]:
    """Return the keys in the tables of a section of keys.md, and what is said of each."""
    before = rf"\| `{of}` " if of else ""
    pattern = rf"^{before}\| `(\w+)` \|(?:.*\|)? (.*) \|$"
    rows = re.findall(pattern, section(KEYS, heading), re.MULTILINE)
    assert all(said.strip() for _, said in rows), heading
    return dict(rows)


def names(model: type[BaseModel]) -> set[str]:
    """Return the keys of a part of a spec, as YAML has them."""
    return {field.alias or name for name, field in model.model_fields.items()}


@pytest.mark.parametrize(
    ("heading", "of", "model"),
    [
        ("A question", "", spec.Spec),
        ("parts: a part", "", spec.Part),
        ("checks: every kind", "", spec.Check),
        ("Mappings in these", "show", spec.Show),
        ("Mappings in these", "code", spec.Code),
        ("Mappings in these", "survivors", spec.Survivor),
        ("Mappings in these", "follow_ups", spec.FollowUp),
    ],
)
def test_every_key_of_a_question_is_described(
    heading: str, of: str, model: type[BaseModel]
) -> None:
    assert meanings(heading, of).keys() == names(model)


@pytest.mark.parametrize("kind", KINDS, ids=lambda k: k.__name__)
def test_every_kind_of_check_is_described_with_its_keys(kind: type[spec.Check]) -> None:
    (name,) = get_args(kind.model_fields["kind"].annotation)
    assert meanings("checks: one kind", name).keys() == names(kind) - names(spec.Check)
    decided = section(FORMAT, "What a check decides")
    assert re.search(rf"^\| `{name}` \| \w.* \|$", decided, re.MULTILINE), f"no row for {name}"


def words_of(*vocabularies: Mapping[str, object] | tuple[str, ...]) -> list[str]:
    """Return all words of some vocabularies."""
    return [word for vocabulary in vocabularies for word in vocabulary]


def test_every_generator_modifier_dtype_and_layout_is_described() -> None:
    described = meanings("cases: a case")
    for word in words_of(recipe.GENERATORS, recipe.MODIFIERS, recipe.RESERVED):
        assert word in described, word
    for generator, options in recipe.OPTIONS.items():
        assert all(f"`{option}`" in described[generator] for option in options), generator
    for word in words_of(recipe.DTYPES, recipe.LAYOUTS):
        assert re.search(rf"\b{word}\b", section(KEYS, "cases: a case")), word


def anchors(page: Path) -> set[str]:
    """Return the anchors that a page's headings make."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}


def test_links_between_pages_lead_somewhere() -> None:
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for target, anchor in re.findall(r"\]\(([^)#]*)#?([^)#]*)\)", text):
            found = page.parent / target if target else page
            assert found.exists(), f"{page.name}: {target}"
            assert not anchor or anchor in anchors(found), f"{page.name}: {target}#{anchor}"


def test_files_that_pages_name_exist() -> None:
    pages = [ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *(ROOT / "docs").rglob("*.md")]
    rooms = ["grader", "tests", "benchmarks", "docs"]
    # The page about the layout leaves `grader/` out.
    inside = [path.name for path in (ROOT / "grader").iterdir() if path.is_dir()]
    pattern = rf"`((?:{'|'.join([*rooms, *inside])})/[\w/.]*)`"
    found = {
        (page, name)
        for page in pages
        for name in re.findall(pattern, page.read_text("utf-8"))
        if not {"ID", "NAME", "_bank"} & set(name.split("/"))  # a wheel's only
    }
    assert len(found) > 50
    for page, name in found:
        known = (ROOT / name, ROOT / "grader" / name, ROOT / "grader" / "sandbox" / name)
        assert any(path.exists() for path in known), f"{page.name}: {name}"
