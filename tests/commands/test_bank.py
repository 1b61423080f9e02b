"""`drill bank`: banks in use, new questions, previews, and the page and status of an audit."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

import grader.bank
from grader.audit import audit as auditing
from grader.audit import proofs
from grader.bank import builtin, load_question
from grader.forms import FORM_NAMES
from grader.grading.kinds.schema import question_schema
from grader.model.audit import AuditReport, Remark
from grader.model.question import Question
from tests.audit.audits import AT_ZERO, REFERENCE, gate
from tests.audit.audits import question as gate_question
from tests.bank.specs import SPEC, edited, write_bank
from tests.commands.conftest import ROOT, Drill, follow, without_torch

pytestmark = pytest.mark.usefixtures("one_zygote")


def bank_names(home: Path) -> str:
    """Return the user's list of banks."""
    return (home / "banks").read_text(encoding="utf-8")


def test_a_bank_is_added_once_listed_and_removed(real: Drill, home: Path, tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "mine")
    follow(
        real,
        f"""
        bank add ../mine => 0 | mine {bank} 1 question; it is in use from now on
        bank add {bank} => 0 | mine {bank} 1 question; it is in use already
        list => 0 | scaled-copy
        bank list => 0 | mine {bank} 1 question, from {home}/banks | drill {builtin()}
        """,
    )
    assert bank_names(home) == f"{bank}\n"
    follow(
        real,
        f"""
        bank remove ../mine => 0 | {bank} is no longer in use; it is left where it is
        list => 0 | !scaled-copy
        """,
    )
    assert (bank_names(home), bank.is_dir()) == ("", True)


def test_a_list_behind_a_link_is_changed_in_place(real: Drill, home: Path, tmp_path: Path) -> None:
    home.mkdir()
    real_list = tmp_path / "dotfiles-banks"
    real_list.touch()
    (home / "banks").symlink_to(real_list)
    real("bank", "add", str(write_bank(tmp_path / "mine")))
    assert (home / "banks").is_symlink()
    assert real_list.read_text(encoding="utf-8") == f"{tmp_path / 'mine'}\n"


def test_one_file_is_a_bank_too(real: Drill, tmp_path: Path) -> None:
    spec = tmp_path / "the-question.yaml"
    spec.write_text(SPEC, encoding="utf-8")
    data = real("bank", "add", str(spec), "--json").data
    assert (data["name"], data["questions"], data["already"]) == ("the-question", 1, False)
    document = real("bank", "list", "--json").data
    assert (document["ok"], [b["name"] for b in document["banks"]]) == (
        True,
        ["the-question", "drill"],
    )
    assert "the-question" in {q["id"] for q in real("list", "--json").data["questions"]}


NO_BANK = "drill: expected a folder that holds questions/, or a .yaml file,"
NO_LINE = "expected a path that fits on a line of"


@pytest.mark.parametrize(
    ("name", "make", "phrases"),
    [
        ("thing", lambda p: p.exists(), (NO_BANK, "found nothing at ")),
        ("thing", lambda p: p.mkdir(), (NO_BANK, "found no questions/ in ")),
        ("thing", lambda p: p.write_text("x"), (NO_BANK, "found the file ")),
        *((name, write_bank, (NO_LINE,)) for name in ("a\rb", "a\u2028b", "a\udcffb", "a #b")),
    ],
)
def test_a_path_that_is_not_a_bank_or_does_not_fit_the_list_is_refused(
    real: Drill, home: Path, name: str, make: Callable[[Path], object], phrases: tuple[str, ...]
) -> None:
    make(home.parent / name)
    real("bank", "add", f"../{name}").refused(*phrases)
    assert not (home / "banks").exists()


def test_a_list_that_is_not_text_is_not_overwritten(
    real: Drill, home: Path, tmp_path: Path
) -> None:
    write_bank(tmp_path / "mine")
    home.mkdir()
    (home / "banks").write_bytes(b"\xff\xfe")
    real("bank", "add", "../mine").refused(
        "cannot be read: expected UTF-8 text", "DRILL_HOME=DIR names another"
    )
    assert (home / "banks").read_bytes() == b"\xff\xfe"


@pytest.mark.parametrize(
    ("refusing", "phrase"),
    [("pathlib.Path.mkdir", "cannot be made: "), ("os.fsync", "cannot be written: ")],
)
def test_if_the_list_cannot_be_written_another_folder_is_suggested(
    real: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusing: str, phrase: str
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    write_bank(tmp_path / "mine")
    monkeypatch.setattr(refusing, refuse)
    result = real("bank", "add", "../mine")
    result.refused(phrase, "DRILL_HOME=DIR names another folder, which you can write")


def test_a_missing_bank_is_reported_with_the_command_that_removes_it(
    real: Drill, tmp_path: Path
) -> None:
    bank = write_bank(tmp_path / "mine")
    real("bank", "add", str(bank))
    bank.rename(tmp_path / "elsewhere")
    hint = f"drill bank remove {bank} takes it off the list"
    for words in ("list", "show maxpool-routing", "start maxpool-routing"):
        result = follow(real, f"{words} => 0 | maxpool-routing | {hint}")
        assert result.err.count(f"found nothing at {bank}") == 1
    result = real("bank", "list", "--json")
    assert result.status == 3
    assert [b["fault"] != "" for b in result.data["banks"]] == [True, False]
    assert result.data["banks"][0]["hint"] == hint
    follow(real, f"bank list => 3 | {hint}\nbank remove {bank} => 0")
    assert real("list").err == ""


def test_a_bank_that_is_not_on_the_list_cannot_be_removed(real: Drill, tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "mine")
    follow(
        real,
        f"""
        bank add {bank} => 0
        bank remove {bank}s => 2 | did you mean {bank}?
        bank remove ../nothing-alike => 2 | drill bank list shows those in use
        """,
    )
    bank.rename(tmp_path / "gone")
    follow(real, f"bank remove mien => 2 | did you mean {bank}?")


@pytest.mark.parametrize("name", ["mine", "mine-2"])
def test_a_bank_is_removed_by_the_name_that_the_list_shows(
    real: Drill, home: Path, tmp_path: Path, name: str
) -> None:
    banks = {"mine": tmp_path / "a" / "mine", "mine-2": tmp_path / "b" / "mine"}
    for bank in banks.values():
        real("bank", "add", str(write_bank(bank)))
    gone = banks.pop(name)
    follow(real, f"bank list => 0 | {name}\nbank remove {name} => 0 | {gone} is no longer in use")
    assert bank_names(home) == "".join(f"{bank}\n" for bank in banks.values())


def test_an_id_of_two_banks_is_listed_twice_and_asked_for_by_name(
    real: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_bank = write_bank(tmp_path / "mine", edited("A scaled copy", "Mine"))
    yours = write_bank(tmp_path / "yours", edited("A scaled copy", "Yours"))
    monkeypatch.setenv("DRILL_BANK", f"{own_bank}{os.pathsep}{yours}")
    two = "expected a question that one bank holds, found 'scaled-copy' in 2"
    say = "say mine/scaled-copy or yours/scaled-copy"
    # A folder is not taken for the other bank's question.
    wrong = f"for scaled-copy of {own_bank}, not for scaled-copy of {yours}"
    follow(
        real,
        f"""
        list => 0 | mine/scaled-copy | yours/scaled-copy
        show scaled-copy => 2 | {two} | {say}
        start scaled-copy => 2 | {two} | {say}
        grade scaled-copy => 2 | {two} | {say}
        show yours/scaled-copy => 0 | Yours | !Mine
        start mine/scaled-copy => 0
        start yours/scaled-copy => 2 | {wrong} | drill start yours/scaled-copy --dir DIR makes it
        --bank {yours} start scaled-copy => 2 | {wrong}
        start yours/scaled-copy --dir other => 0
        start mine/scaled-copy --json => 0 | "already_started": true
        """,
    )


def test_a_broken_bank_causes_one_warning_and_hides_no_other_bank(
    real: Drill, tmp_path: Path
) -> None:
    good, broken = write_bank(tmp_path / "good"), write_bank(tmp_path / "broken", name="other")
    follow(real, f"bank add {broken} => 0\nbank add {good} => 0")
    (broken / "questions" / "other.yml").write_text(SPEC, encoding="utf-8")
    fault = "expected one file for the id other, found other.yaml too"
    for words in ("show scaled-copy", "start scaled-copy", "hint", "list"):
        assert follow(real, f"{words} => 0").err.count(fault) <= 1, words
    follow(
        real,
        f"""
        list => 0 | scaled-copy | {fault}
        --bank {broken} list => 3
        show other => 2
        """,
    )


ADDING = """
import sys
from grader.commands.app import run
print("ready", flush=True)
sys.stdin.readline()
for bank in sys.argv[1:]:
    assert run(["bank", "add", bank]) == 0
"""


def test_two_processes_that_add_banks_at_once_lose_no_bank(home: Path, tmp_path: Path) -> None:
    banks = [str(write_bank(tmp_path / f"bank-{n}")) for n in range(24)]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    pipes["env"] = os.environ | {"PYTHONPATH": str(ROOT)}
    adding = [
        subprocess.Popen([sys.executable, "-c", ADDING, *banks[half::2]], **pipes)
        for half in (0, 1)
    ]
    for process in adding:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    for process in adding:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in adding:
        process.communicate()
    assert [process.returncode for process in adding] == [0, 0]
    assert sorted(bank_names(home).split()) == sorted(banks)
    assert [p.name for p in home.iterdir()] == ["banks"]


def test_suggested_commands_repeat_the_bank_option(real: Drill, tmp_path: Path) -> None:
    bank = write_bank(tmp_path / "a bank")
    option = f"--bank '{bank}'"
    Path("mine.py").touch()
    follow(
        lambda *words: real("--bank", str(bank), *words),
        f"""
        bank new 'Bad Id' => 2 | drill bank new bad-id {option}
        show scaled-copy => 0 | Next: drill start scaled-copy {option}
        grade scaled-copy => 2 | Next: drill start scaled-copy {option}
        hint scaled-copy => 0 | drill solution scaled-copy {option} --give-up
        solution scaled-copy => 2 | Next: drill hint scaled-copy {option} drill
        grade scaled-copy --file mine.py => 1 | drill grade scaled-copy --file mine.py {option}
        """,
    )


# Write a question.


def paths_in(folder: Path) -> list[str]:
    return sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())


def assert_proved(where: Path, question_id: str) -> None:
    report = auditing.audit_question(load_question([where], question_id), seeds=range(2))
    assert (report.problems, report.remarks) == ((), ())


def test_a_new_question_passes_its_audit_and_says_what_to_do_next(real: Drill) -> None:
    result = real("bank", "new", "masked-mean")
    assert (result.status, result.err) == (0, "")
    assert paths_in(Path()) == [
        "drills/masked-mean/ideas.py",
        "drills/masked-mean/reference.py",
        "question.schema.json",
        "questions/masked-mean.yaml",
    ]
    assert_proved(Path(), "masked-mean")
    lines = {line.strip() for line in result.out.splitlines()}
    commands = ("--bank . bank audit masked-mean", "--bank . start masked-mean", "bank add .")
    assert lines >= {*paths_in(Path()), *(f"drill {words}" for words in commands)}
    spec = Path("questions/masked-mean.yaml")
    named = spec.read_text().splitlines()[0].partition("$schema=")[2]
    assert (spec.parent / named).read_text() == question_schema()
    assert real("bank", "schema").out == question_schema()


@pytest.mark.parametrize("form", FORM_NAMES[1:])
def test_a_question_of_another_form_passes_its_audit_without_a_remark(
    form: str, real: Drill
) -> None:
    result = real("bank", "new", "by-hand", "--form", form)
    assert (result.status, result.err) == (0, "")
    assert paths_in(Path()) == ["question.schema.json", "questions/by-hand.yaml"]
    assert_proved(Path(), "by-hand")


def test_one_file_is_a_bank_by_itself(real: Drill) -> None:
    command = "drill --bank masked-mean.yaml bank audit masked-mean"
    follow(real, f"bank new masked-mean --one-file => 0 | {command}")
    assert paths_in(Path()) == ["masked-mean.yaml", "question.schema.json"]
    assert_proved(Path("masked-mean.yaml"), "masked-mean")


@pytest.mark.usefixtures("audited_questions")
@pytest.mark.parametrize("options", [(), ("--one-file",)])
def test_a_new_question_with_a_taken_id_causes_a_warning_that_tells_the_two_apart(
    drill: Drill, options: tuple[str, ...]
) -> None:
    created = drill("bank", "new", "double-trouble", *options)
    where = "double-trouble.yaml" if options else "."
    assert created.status == 0
    assert "has a question double-trouble too" in created.err
    assert f"say --bank {where} in commands about the new one" in created.err
    warning = "double-trouble is taken from a bank in use, not from"
    audited = drill("bank", "audit", "double-trouble", "--seeds", "1")
    assert f"{warning} {where}\n    --bank {where} takes the one that is here" in audited.err
    assert (
        warning not in drill("--bank", where, "bank", "audit", "double-trouble", "--seeds", "1").err
    )
    assert "has a question" not in drill("bank", "new", "of-no-other-bank", *options).err


@pytest.mark.usefixtures("audited_questions")
def test_a_question_only_in_the_current_folder_is_suggested_with_its_bank(drill: Drill) -> None:
    Path("card.yaml").write_text(SPEC)
    phrases = "no question card in the banks in use | --bank card.yaml takes the one that is here"
    follow(
        drill,
        f"""
        bank audit card => 2 | {phrases}; a bank is a folder that holds questions/, or a .yaml file
        bank audit card.yaml => 2 | {phrases}
        bank audit cart => 2 | no question cart
        """,
    )


@pytest.mark.parametrize(("one_file", "parts"), [(False, 3), (True, 2), (True, 9)])
def test_a_skeleton_in_parts_passes_its_audit_except_for_its_todos(
    real: Drill, parts: int, *, one_file: bool
) -> None:
    words = ("--parts", str(parts), "--json", *["--one-file"] * one_file)
    created = real("bank", "new", "in-parts", *words).data
    question = load_question([Path("in-parts.yaml") if one_file else Path()], "in-parts")
    assert [len(part.checks) for part in question.spec.parts] == [1] * parts
    assert sum(part.points for part in question.spec.parts) == 100
    assert sorted(created["todo"]) == sorted(question.todos)
    assert len(question.todos) > 8 * parts
    report = auditing.audit_question(question, seeds=range(1))
    missing = ["todo"] if one_file else ["todo", "repair"]
    assert (report.problems, [remark.about for remark in report.remarks]) == ((), missing)


@pytest.mark.parametrize("word", ["null", "12", "1e5", "on"])
def test_an_id_that_yaml_reads_as_a_number_or_a_date_is_quoted(real: Drill, word: str) -> None:
    assert real("bank", "new", word).status == 0
    assert yaml.safe_load(Path(f"questions/{word}.yaml").read_text())["track"] == word
    assert load_question([Path()], word).spec.title == word.capitalize()


IDS = "lower-case words joined by hyphens, at most 60 characters, found"


@pytest.mark.parametrize(
    ("words", "phrases"),
    [
        (("My_Question",), (f"{IDS} 'My_Question'", "drill bank new my-question")),
        (("a--b",), (IDS, "drill bank new a-b")),
        (("é",), (IDS, "drill bank new my-norm")),
        (("../x",), (IDS, "drill bank new x")),
        (("a", "--form", "essay"), (f"--form: expected one of {', '.join(FORM_NAMES)}, found",)),
        (("a", "--form", "derive", "--parts", "2"), ("--form derive: expected no --parts",)),
        (("a", "--parts", "1"), ("--parts: expected a number from 2 to 9, found 1",)),
        (("a", "--parts", "10"), ("--parts: expected a number from 2 to 9, found 10",)),
    ],
)
def test_invalid_ids_and_options_of_a_new_question_are_refused(
    real: Drill, words: tuple[str, ...], phrases: tuple[str, ...]
) -> None:
    real("bank", "new", *words).refused(*phrases)
    assert paths_in(Path()) == []


@pytest.mark.parametrize("taken", ["questions/a.yaml", "questions/a.yml", "drills/a/notes.txt"])
def test_bank_new_never_overwrites(real: Drill, taken: str) -> None:
    path = Path(taken)
    path.parent.mkdir(parents=True)
    path.write_text("mine")
    Path("questions").mkdir(exist_ok=True)
    real("bank", "new", "a").refused("nothing is ever written over it")
    assert (paths_in(Path()), path.read_text()) == ([taken], "mine")


def test_if_the_spec_cannot_be_written_no_file_remains(
    real: Drill, monkeypatch: pytest.MonkeyPatch
) -> None:
    true = Path.open

    def refuse(path: Path, mode: str = "r", **named: Any) -> Any:
        if mode == "xb":
            raise PermissionError(13, "Permission denied")
        return true(path, mode, **named)

    monkeypatch.setattr(Path, "open", refuse)
    real("bank", "new", "masked-mean").refused(
        "cannot be written: Permission denied",
        "choose a folder that you can write, with --bank DIR",
    )
    assert paths_in(Path()) == []
    assert list(Path("drills").iterdir()) == []


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("questions/masked-mean.yaml", "  We pool", "  TODO We pool"),
        ("questions/masked-mean.yaml", "  one-padded:", "  # TODO\n  one-padded:"),
        ("drills/masked-mean/reference.py", "    total", "    # TODO\n    total"),
        ("drills/masked-mean/ideas.py", "\ndef", "\n# TODO\ndef"),
    ],
)
def test_a_remaining_todo_in_any_file_fails_a_strict_audit(
    real: Drill, file: str, old: str, new: str
) -> None:
    real("bank", "new", "masked-mean")
    text = Path(file).read_text(encoding="utf-8")
    Path(file).write_text(text.replace(old, new, 1), encoding="utf-8")
    result = real("--bank", ".", "bank", "audit", "masked-mean", "--seeds", "1", "--strict")
    assert result.status == 3
    assert f"todo: 1 TODO is left: {file}:" in " ".join(result.out.split())


# See what somebody sees who holds a misconception.


def test_a_preview_shows_every_variant_as_a_grade_would(real: Drill, tmp_path: Path) -> None:
    programs = ["def relu(x):\n    return x * 0\n", "def relu(x):\n    return x * 0 - 1\n"]
    zero = {"killed_by": "gate", "feedback": "It lets nothing through."}
    gate_question(
        tmp_path / "bank",
        begin="def relu(x):\n    return x * 2\n",
        reference="\n    from __future__ import annotations\n" + REFERENCE,
        variants={
            "open": "from __future__ import annotations\n\ndef relu(x):\n    return x.copy()\n",
            **dict(zip(("zero", "zero / below"), programs, strict=True)),
        },
        misconceptions={"open": {"killed_by": "gate", "feedback": "All."}, "zero": zero},
    )
    words = ("--bank", str(tmp_path / "bank"), "bank", "preview", "gate")
    result = real(*words, "zero")
    first, second = result.out.split("\nzero (2)\n")
    assert first.startswith("zero\n")
    assert "\nFAIL  gate   seed 0\n" in first
    assert all("It lets nothing through." in page for page in (first, second))
    _, page = real(*words, "zero", "--seed", "5", "--json").data["pages"]
    assert (page["name"], page["report"]["seed"]) == ("zero (2)", 5)
    assert [m["id"] for m in page["report"]["misconceptions"]] == ["zero"]
    (page,) = real(*words, "open", "--json").data["pages"]
    assert [m["id"] for m in page["report"]["misconceptions"]] == ["open"]
    (page,) = real(*words, "starter", "--json").data["pages"]
    assert page["report"]["verdict"] == "fail"
    assert real("history", "--json").data["attempts"] == []
    real(*words, "opne").refused("gate has no misconception 'opne'; did you mean 'open'?")
    real(*words).refused("expected the name of a misconception of gate, found none")
    assert real(*words).err.endswith("it has open, zero, starter\n")


# Prove questions.


@pytest.fixture
def audited_questions(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Which questions are audited, none in earnest: one is at fault, two seeds give a remark."""
    audited: list[str] = []

    def audit(question: Question, *, seeds: Any, **_: Any) -> AuditReport:
        audited.append(question.id)
        problems = ("no good",) * (question.id == "halve-well")
        remarks = (Remark("todo", "could be better"),) * (len(seeds) == 2)
        title = question.spec.title
        return AuditReport(question.id, title, tuple(seeds), 0.0, (), (), problems, remarks)

    monkeypatch.setattr(auditing, "audit_question", audit)
    monkeypatch.setattr("grader.commands.context.find_spec", without_torch)
    return audited


@pytest.mark.usefixtures("audited_questions")
def test_all_questions_that_can_run_here_are_audited(drill: Drill) -> None:
    result = drill("bank", "audit", "--json")
    assert (result.status, result.data["ok"]) == (3, False)
    assert [q["question"] for q in result.data["questions"]] == ["double-trouble", "halve-well"]
    assert result.data["skipped"] == ["needs-torch"]
    follow(
        drill,
        """
        bank audit => 3 | needs-torch is not audited | 1 of 2 not ready: halve-well
        bank audit needs-torch => 2 | pip install
        bank audit double-trouble --seeds 7 --json => 0 | "ok": true | "seeds": 7
        """,
    )


@pytest.mark.usefixtures("audited_questions")
def test_a_broken_question_does_not_hide_the_others(drill: Drill, broken: str) -> None:
    result = drill("bank", "audit", broken, "double-trouble")
    assert (result.status, result.err.count("drill: ")) == (3, 2)
    assert "double-trouble: no proof; proved now" in result.out
    assert result.out.endswith(f"\n1 of 2 not ready: {broken}\n")
    data = drill("bank", "audit", broken, "double-trouble", "--json").data
    assert (data["ok"], len(data["problems"]), len(data["questions"])) == (False, 2, 1)


@pytest.mark.usefixtures("audited_questions")
def test_a_remark_fails_a_strict_audit_only(drill: Drill) -> None:
    follow(
        drill,
        """
        bank audit double-trouble --seeds 2 => 0
        bank audit double-trouble --seeds 2 --strict => 3 | because of --strict
        bank audit double-trouble --seeds 2 --strict --json => 3 | "format": 2, "ok": false
        bank audit double-trouble --seeds 1 --strict => 0
        """,
    )


def test_ctrl_c_ends_an_audit_with_130(drill: Drill, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> AuditReport:
        raise KeyboardInterrupt

    monkeypatch.setattr(auditing, "audit_question", interrupted)
    result = drill("bank", "audit", "double-trouble")
    assert (result.status, result.out, "interrupted" in result.err) == (130, "", True)


MUTANTS = ("--mutants", "--seeds", "1")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a built-in bank of two questions; `gate` can be proved."""
    bank = tmp_path / "bank"
    gate(bank, AT_ZERO)
    for name, new_name in (("questions/gate.yaml", "door.yaml"), ("drills/gate", "door")):
        (bank / name).with_name(new_name).symlink_to(bank / name)
    monkeypatch.setattr(grader.bank, "builtin", lambda: bank)
    return bank


def write_false_proofs(folder: Path, *names: str, **changes: Any) -> None:
    """Write a proof of questions that nobody has proved."""
    for name in names:
        question = load_question([folder], name)
        text = proofs.Proof(
            question=name, digest=question.digest, grader=proofs.grader_digest(),
            versions=proofs.proof_versions(question), seeds=3, remarks=0, programs={}, accepted=[],
            styles=[], mutants=13, killed={}, equivalent=[], explained=[],
        ).model_copy(update=changes).to_bytes()  # fmt: skip
        proofs.proof_path(question).write_bytes(text)


def test_a_proof_is_written_after_an_audit_without_faults(folder: Path, real: Drill) -> None:
    result = real("bank", "audit", "gate", *MUTANTS, "--write-proofs")
    assert (result.status, "gate: no proof; proved now" in result.out) == (0, True)
    path = folder / "questions" / "gate.proof.json"
    assert str(path) in result.out
    result = real("bank", "audit", "gate", *MUTANTS)
    begin = "gate: proved before: this question, this grader, 1 seed, 13 mutants; proved now"
    assert result.out.startswith(begin)
    assert result.err == "", "it says what was found again"
    path.unlink()
    gate(folder)  # nothing is explained any more
    assert real("bank", "audit", "gate", *MUTANTS, "--write-proofs").status == 3
    assert not path.exists()


def test_an_audit_tries_only_questions_without_a_current_proof(
    folder: Path, real: Drill, audited_questions: list[str]
) -> None:
    write_false_proofs(folder, "door", "gate")
    result = real("bank", "audit", "--jobs", "1")
    assert (result.status, result.err, audited_questions) == (0, "", [])
    before = "proved before: this question, this grader, 3 seeds, 13 mutants"
    assert result.out == (
        f"door: {before}\ngate: {before}\n\nall 2 are ready, 2 of them proved before\n"
    )
    write_false_proofs(folder, "gate", digest="0")
    result = real("bank", "audit", "--jobs", "1")
    assert (result.status, audited_questions) == (0, ["gate"])
    assert "gate: the question has changed since its proof; proved now\n" in result.out
    assert result.out.endswith("\nall 2 are ready, 1 of them proved before\n")
    real("bank", "audit", "--jobs", "1", "--all")
    assert audited_questions == ["gate", "door", "gate"]


def test_proofs_in_a_strangers_bank_do_not_count(
    folder: Path,
    real: Drill,
    audited_questions: list[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setattr(grader.bank, "builtin", lambda: tmp_path)
    write_false_proofs(folder, "door", "gate")
    result = real("--bank", str(folder), "bank", "audit", "--jobs", "1", "--json")
    assert (audited_questions, result.data["proofs"]) == (["door", "gate"], [])
    monkeypatch.chdir(folder)
    real("bank", "audit", "--jobs", "1")
    assert audited_questions == ["door", "gate"] * 2
    real("bank", "audit", "--jobs", "1", "--mine")
    assert audited_questions == ["door", "gate"] * 2


def test_a_proof_is_of_all_mutants_and_not_written_through_a_link(
    folder: Path, real: Drill, audited_questions: list[str], tmp_path: Path
) -> None:
    for words in ((), ("--mutants", "--at-most", "3")):
        result = real("bank", "audit", "gate", "--write-proofs", *words)
        result.refused("--mutants without --at-most")
    (folder / "questions" / "gate.proof.json").symlink_to(tmp_path / "elsewhere")
    assert real("bank", "audit", "gate", *MUTANTS, "--write-proofs").status == 2
    assert (audited_questions, (tmp_path / "elsewhere").exists()) == ([], False)


def test_an_undetected_mutant_is_shown_and_the_status_is_3(tmp_path: Path, real: Drill) -> None:
    words = f"bank audit gate --seeds 2 --bank {tmp_path}/bank"
    question = gate(tmp_path / "bank")
    line = "+ return np.where(x >= 0, grad_y, 0).astype(x.dtype)"
    follow(
        real,
        f"""
        {words} --mutants => 3 | SURVIVES gate_backward, line 6: another bound | {line}
        {words} => 0
        """,
    )
    gate(tmp_path / "bank", AT_ZERO)
    follow(real, f'{words} --mutants --json => 0 | "ok": true | "explained": 1 | "score": 1.0')
    (tmp_path / "bank/drills/gate/starter.py").write_bytes(question.reference)
    warning = "the mutants of gate are not tried: its audit has problems"
    follow(real, f"{words} --mutants => 3 | {warning} | !mutants of the reference")


def test_a_new_question_is_audited_without_naming_the_bank(
    real: Drill, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real("bank", "new", "my-norm")
    for words in (("my-norm",), ()):  # all of the folder, and nothing else
        result = real("bank", "audit", *words, "--seeds", "1", "--json")
        assert (result.status, result.err) == (0, ""), result.out
        assert [report["question"] for report in result.data["questions"]] == ["my-norm"]
    other_bank = write_bank(tmp_path / "other")
    assert real("--bank", str(other_bank), "bank", "audit", "my-norm").status == 2
    monkeypatch.setenv("DRILL_BANK", os.fspath(other_bank))
    assert real("bank", "audit", "my-norm").status == 2
