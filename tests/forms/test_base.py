"""Files of answers and what is said of those that are none; and what is wrong with a question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from grader import bank
from grader.explain.session import GradingSession
from grader.forms.base import (
    MAX_LISTED_ERRORS,
    MAX_MESSAGE_LENGTH,
    UnreadableAnswer,
    answer_template,
    read_answers,
)
from grader.grading.session import GradeOptions
from grader.model.errors import BankError
from grader.model.report import Verdict
from grader.model.spec import Answer

ROOT = Path(__file__).parents[2]
TEMPLATES = ROOT / "grader" / "commands" / "templates"
NAMES = ["kv_total", "g[1]", "dp[i,j]"]
EXPECTED = "expected NAME = VALUE (names: kv_total, g[1] and dp[i,j]), found "
WHOLE = b"kv_total = 3 GB # of cache\ng [ 1 ] =2/3\n\n# nothing\ndp[i, j]= ?\n"
IDS = (
    "cluster-on-paper",
    "decode-on-paper",
    "four-averages",
    "roofline-and-ledger",
    "seven-windows",
    "softmax-five-lines",
    "three-rows",
)


def test_every_answer_has_its_place() -> None:
    found = read_answers(WHOLE, NAMES)
    assert {name: (one.value, one.line, one.column) for name, one in found.items()} == {
        "kv_total": ("3 GB", 1, 12),
        "g[1]": ("2/3", 2, 10),
    }


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (b"kv_total = 1\ndp[i,j] = 2", 0, "g[1] has no answer yet; write g[1] = ..."),
        (b"", 0, "kv_total, g[1] and dp[i,j] have no answer yet; write NAME = ..."),
        (b"kv_totl = 1", 1, f"{EXPECTED}'kv_totl = 1'; did you mean 'kv_total'?"),
        (WHOLE + b"kv_total = 4", 6, "kv_total stands in line 1 already; keep one"),
        (b"\n\nkv_total 3", 3, f"{EXPECTED}'kv_total 3'; did you mean 'kv_total'?"),
        (b"I hope so", 1, f"{EXPECTED}'I hope so'"),
        (b"My  answers are: below", 1, f"{EXPECTED}'My answers are: below'"),
        (b"So " * 20 + b": 3", 1, f"{EXPECTED}'So So So So So So So So So So So So So S'"),
        (b"Name: Zed", 1, f"{EXPECTED}'Name: Zed'"),
        (b"= 3", 1, f"{EXPECTED}'= 3'"),
        (b"kv_total = \xff", 1, "its letters are not UTF-8; save the file as UTF-8"),
        (b"#" * 70_000, 0, "the file has 70,000 bytes, at most 65,536 are read"),
    ],
)
def test_a_fault_in_a_file_has_a_sentence_and_a_line(text: bytes, line: int, said: str) -> None:
    with pytest.raises(UnreadableAnswer) as refused:
        read_answers(text, NAMES)
    assert refused.value.sentence.startswith(said)
    assert refused.value.line == line


@pytest.mark.parametrize(
    "text",
    [
        "kv_total = 3 GB\ng[1] = 2\ndp[i,j] = ?".encode("utf-16"),
        "# f\xfcnf\nkv_total = 3 GB # \xe9\ng[1]: 2\ndp[i,j] =".encode("latin-1"),
        b"kv_total = ?\nkv_total = 3 GB\nkv_total = 3 GB\ng[1] = 2\ng[1] =\ndp[i,j] = ?\r\n",
    ],
)
def test_an_unambiguous_file_is_read(text: bytes) -> None:
    assert {name: one.value for name, one in read_answers(text, NAMES).items()} == {
        "kv_total": "3 GB", "g[1]": "2"
    }  # fmt: skip


@pytest.mark.parametrize(
    "line",
    [
        "kv_total = 3 GB",
        "kv_total: 3 GB",
        "kv_total := 3 GB",
        "kv_total == 3 GB",
        "kv_total -> 3 GB",
        "kv_total => 3 GB",
        "kv_total \u2192 3 GB",
        "kv_total ~ 3 GB",
        "kv_total \u2248 3 GB",
        "- kv_total = 3 GB",
        "* kv_total = 3 GB",
        "\u2022 kv_total = 3 GB",
        "> 1. kv_total = 3 GB",
        "(2) kv_total = 3 GB",
        "b) kv_total = 3 GB",
        "**kv_total** = **3 GB**",
        "**kv_total:** 3 GB",
        "`kv_total` = `3 GB`",
        "_kv_total_ = *3 GB*",
        "KV_total = 3 GB.",
        "kv total = 3 GB;",
        "kv-total = 3 GB,",
        '"kv_total" = "3 GB"',
        "kv_total = 3 GB  # of all",
    ],
)
def test_a_line_may_be_written_in_many_ways(line: str) -> None:
    found = read_answers(f"{line}\n---\n```\n".encode(), NAMES, needed=["kv_total"])
    assert {name: one.value for name, one in found.items()} == {"kv_total": "3 GB"}
    assert line[found["kv_total"].column - 1 :].startswith("3 GB")


@pytest.mark.parametrize(
    "line",
    ["- kv_total = 3 GB", "kv total -> 3 GB", "KV_total = 3 GB", "kv_total ~ 3 GB", "`kv_total`=3"],
)
def test_a_literal_line_is_name_and_value(line: str) -> None:
    assert (
        read_answers(b"kv_total = 3 GB", NAMES, needed=["kv_total"], literal=True)["kv_total"].line
        == 1
    )
    with pytest.raises(UnreadableAnswer):
        read_answers(line.encode(), NAMES, needed=["kv_total"], literal=True)


def test_names_that_only_marks_tell_apart_are_written_as_they_are() -> None:
    names = ["x[1]", "x[-1]"]
    assert read_answers(b"x[1] = 2\nx[-1] = 3", names).keys() == {*names}
    with pytest.raises(UnreadableAnswer, match="found 'x1 = 2'"):
        read_answers(b"x1 = 2\nx[-1] = 3", names)


def test_in_a_class_an_unreadable_line_counts_as_not_given() -> None:
    text = b"Name: Zed\nkv_total = 3\nkv_total = 4\ng[1] = 2\n= 5\ndp[i,j] = \xff\n"
    unread: list[UnreadableAnswer] = []
    assert list(read_answers(text, NAMES, unread=unread)) == ["g[1]"]  # nobody knows which kv_total
    assert [one.line for one in unread] == [1, 3, 5, 6]
    assert read_answers(b"g[1] = 2", NAMES, unread=unread).keys() == {
        "g[1]"
    }  # a lost line is not given
    with pytest.raises(UnreadableAnswer, match="at most 65,536 are read"):
        read_answers(b"#" * 70_000, NAMES, unread=unread)


def test_all_faults_of_a_file_are_reported_together() -> None:
    text = b"kv_totl = 3\nno equals\ndp[i,j] = 1\n"
    with pytest.raises(UnreadableAnswer) as caught:
        read_answers(text, NAMES)
    said = caught.value.sentence
    assert f"line 1: {EXPECTED}'kv_totl = 3'; did you mean 'kv_total'?" in said
    assert f"line 2: {EXPECTED}'no equals'" in said
    assert caught.value.lines == ((1, "kv_totl = 3"), (2, "no equals"))


def test_two_unreadable_numbers_are_reported_together(session: GradingSession) -> None:
    open_ = session.question.without_leading_blank_lines(session.question.starter)
    report = session.grade(open_.replace(b"?", b"what"), seed=1)
    assert report.raised is not None
    (first, *_), many = report.raised.frames, report.message.count("line ")
    assert 2 <= many == len(report.raised.frames)
    assert f"line {first.line}: " in report.message


def test_nothing_in_the_starter_file_acts_on_a_terminal() -> None:
    text = answer_template(
        {"g": Answer(ask="red \x1b[31m and \u202e turned " + "word " * 30)}, rules=[]
    ).decode()
    assert "red \\x1b[31m and \\u202e turned" in text
    assert all(line.isprintable() and len(line) <= 80 for line in text.splitlines())


def test_the_starter_file_asks_for_every_answer() -> None:
    text = answer_template({"kv_total": Answer(ask="cache,\n  of all", unit="B")}, rules=[])
    assert text.decode().endswith("\n# cache, of all (in B)\nkv_total = ?\n")
    assert read_answers(text, ["kv_total"]) == {}


@given(st.binary(max_size=200))
def test_any_bytes_are_answers_or_a_sentence(text: bytes) -> None:
    try:
        sentence = f"{read_answers(text, [])} is empty"
    except UnreadableAnswer as refused:
        sentence = refused.sentence
    assert 0 < len(sentence) <= MAX_LISTED_ERRORS * MAX_MESSAGE_LENGTH


# -- graded ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module", params=IDS)
def session(request: pytest.FixtureRequest, one_zygote: None) -> Iterator[GradingSession]:
    with GradingSession(bank.load_question([ROOT], request.param)) as opened:
        yield opened


def test_accepted_answers_pass(session: GradingSession) -> None:
    assert session.question.accepted
    for name, text in session.question.accepted.items():
        report = session.grade(text, seed=11, filename="answers.txt")
        assert report.verdict is Verdict.PASS, name


def test_an_untouched_file_says_so_and_costs_no_try(session: GradingSession) -> None:
    report = session.grade(session.question.starter, seed=11, filename="answers.txt")
    assert report.verdict is Verdict.ERROR
    assert report.message.startswith("answers.txt: nothing is answered yet")
    assert report.unchanged  # a class does not count who hands it in
    assert report.raised is not None
    assert report.raised.is_unparsable_file


def test_in_a_class_the_readable_lines_are_graded(session: GradingSession) -> None:
    text = next(iter(session.question.accepted.values()))
    extra = b"Name: Zed\n" + text
    report = session.grade(
        extra, seed=11, filename="your answers", options=GradeOptions(lenient=True)
    )
    assert (report.verdict, len(report.unread)) == (Verdict.PASS, 1)
    assert report.unread[0].startswith("line 1 could not be read: expected NAME = VALUE (names: ")
    assert report.unread[0].endswith("), found 'Name: Zed'")
    assert session.grade(extra, seed=11).verdict is Verdict.ERROR
    line = next(one for one in text.splitlines() if one.partition(b"#")[0].count(b"="))
    name = line.partition(b"=")[0]
    report = session.grade(
        text.replace(line, name + b"= ~~"), seed=11, options=GradeOptions(lenient=True)
    )
    assert report.verdict in {Verdict.FAIL, Verdict.PASS}  # a review may list a line too many
    assert "could not be read: " in report.unread[0]
    assert (
        session.grade(b"= 1\n" * 90, seed=11, options=GradeOptions(lenient=True)).verdict
        is Verdict.ERROR
    )


def test_an_unreadable_file_never_runs(session: GradingSession) -> None:
    for text in (b"", b"import os", b"x = 1", b"\0", b"L = ?" * 9000):
        report = session.grade(text, seed=11, filename="answers.txt")
        assert report.verdict is Verdict.ERROR
        assert report.message.startswith("answers.txt:")


# -- what is wrong with a question of a form ------------------------------------------------------

BROKEN = [
    ("estimate", "unit: B,", "unit: GB,", "weight_bytes.unit: expected B, in which an answer of GB "
     "is read too, found GB"),
    ("estimate", "unit: B,", "unit: TB/token,", "weight_bytes.unit: expected B/tok, in which an"),
    ("estimate", "unit: B,", "unit: bits,", "weight_bytes.unit: expected a unit of 1, B, FLOP, s,"),
    ("estimate", "parts: [weight_bytes]", "parts: [bytes]", "answers: expected bytes, which size"),
    ("estimate", "parts: [weight_bytes]", "parts: [read_time]", "weight_bytes: expected a numbers"),
    ("estimate", "form: estimate", "form: essay", "form: expected"),
    ("estimate", "form: estimate\n", "", "answers: expected form: estimate, predict or derive"),
    ("estimate", "kind: numbers, run: size, of: size, parts: [weight_bytes]",
     "kind: outputs, run: size, of: size", "checks[0]: expected a check of answers by name"),
    ("estimate", "form: estimate", "form: review", "form: expected diff and reasons"),
    ("estimate", "form: estimate", "form: review", "form: expected a check of kind findings"),
    ("review", "form: review", "form: estimate", "form: expected answers, which a question to"),
    ("predict", '"grad_x[0]": {ask', '"grad_x[a]": {ask', "answers.grad_x[a]"),
    ("derive", "over: [i],", "over: [i, j, k],", "ds_dx: expected at most two indices"),
    ("derive", "over: [i],", "over: [for],", "ds_dx: expected another name than for"),
    ("derive", "ds_dx: {ask", '"ds[0]": {ask', "ds[0]: expected a name; indices stand in over"),
    ("derive", "may_not_use: [exp]", "may_not_use: [tan]", "may_not_use"),
    ("derive", "over: [i],", "over: [i], unit: s,", "ds_dx: expected no unit in a formula"),
    ("review", "lines: [4, 5]", "lines: [3, 4]", "diff: expected a line 3, which review calls"),
    ("review", "lines: [4, 5]", "lines: [9]", "diff: expected a line 9, which review calls wrong"),
    ("review", "reason: unequal-batches", "reason: unequal", "reasons: expected unequal of review"),
    ("review", "by: review\n    \"\"\"You a", "by: it\n    \"\"\"You a", "id of a check"),
    ("write-the-test", "uses: [numpy]", "uses: [numpy, torch]", "uses: expected numpy alone"),
    ("write-the-test", "id: calls, of", "id: calls, kind: curve, of", "measure"),
    ("write-the-test", "accept: [sorts]", "accept: [reverses-it]", "found reverses-it in"),
    ("write-the-test", "accept: [sorts]", "cases: [sorts]", "accept and reject in place of cases"),
    ("write-the-test", "driver.judge(", "judge(", "run[0]: expected a step of the driver"),
    ("diagnose", "form: diagnose", "form: write-the-test", "form: expected a check of kind verd"),
    ("estimate", "form: estimate", "form: diagnose", "form: expected causes, and a check of kind"),
]  # fmt: skip


def written(form: str, tmp_path: Path, was: str = "", becomes: str = "") -> Path:
    text = (TEMPLATES / f"{form}.yaml.txt").read_text()
    for mark, value in (("@TITLE@", "A title"), ("@TRACK@", "memory"), ("@SCHEMA@", "x.json")):
        text = text.replace(mark, value)
    assert was in text
    path = tmp_path / "by-hand.yaml"
    path.write_text(text.replace(was, becomes, 1) if was else text)
    return path


def refused(path: Path) -> str:
    with pytest.raises(BankError) as error:
        bank.load_question([path], "by-hand")
    return "\n".join([str(error.value), *map(str, getattr(error.value, "problems", ()))])


@pytest.mark.parametrize(("form", "was", "becomes", "said"), BROKEN)
def test_a_fault_has_a_sentence(
    form: str, was: str, becomes: str, said: str, tmp_path: Path
) -> None:
    assert said in refused(written(form, tmp_path, was, becomes))


def test_a_text_is_of_one_part(tmp_path: Path) -> None:
    path = written("estimate", tmp_path)
    of_parts = r"(?m)^(minutes|prompt|contract|checks|hints):.*\n(?:(?: .*)?\n)*"
    check = "id: {}, kind: numbers, run: size, of: size, parts: [weight_bytes, read_time]"
    part = "  - {{points: 50, minutes: 1, prompt: a, contract: [b], checks: [{{" + check + "}}]}}\n"
    parts = part.format("one") + part.format("two")
    path.write_text(re.sub(of_parts, "", path.read_text()) + f"parts:\n{parts}")
    assert "parts: expected one, which an answers file is about" in refused(path)


def test_the_templates_are_whole(tmp_path: Path) -> None:
    for form in ("estimate", "predict", "derive", "review", "diagnose", "write-the-test"):
        assert bank.load_question([written(form, tmp_path)], "by-hand").spec.form == form
