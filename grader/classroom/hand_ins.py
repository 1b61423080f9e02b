"""The answers of a class: for each student and question, the files that are most likely theirs.

A file *claims* to be a student's answer to a question by its path.  Of all files with a claim to
the same answer, those with the best rank are the answer.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from grader.classroom.notebook import notebook_code
from grader.classroom.submission_layout import (
    ANY,
    LAYOUTS,
    METADATA,
    NONE,
    PROGRAMS,
    UNFIT,
    AnswerNames,
    Claim,
    Layout,
    PatternLayout,
    detect_layout,
    is_markdown,
    read_submitters,
    version_numbers,
)
from grader.classroom.submitted_files import SubmittedFile, SubmittedFiles
from grader.model.classroom import HandIn, SubmittedProgram
from grader.model.errors import UsageError
from grader.model.limits import MAX_PATH_LENGTH, MAX_STUDENT_FILES, MAX_SUBMISSION_FILE_BYTES
from grader.model.number_format import format_count, join_words
from grader.model.question import Question
from grader.reports.text_layout import escape_line
from grader.sandbox import Closeable

MAX_LISTED_FILES = 5  # files that a notice names
# Added to the depth of a file that is known by its functions: deeper than any path.
UNKNOWN_DEPTH = MAX_PATH_LENGTH
# A function or class at the left margin, also in the JSON of a notebook.
_DEFINITION = re.compile(rb"(?:^|\\n|\")(?:def|class)[ \t]+([A-Za-z_]\w*)", re.MULTILINE)
# The name of an answer at the beginning of a line of text.
_TEXT_ANSWER = re.compile(rb"^[^\w\n]*([A-Za-z_]\w*)[^\w\n]*[=:~]", re.MULTILINE)


class ClaimedFile(NamedTuple):
    """A file, and one claim of its path."""

    claim: Claim
    file: SubmittedFile


class HandIns(Closeable):
    """The files of a class; iterate once for the answers among them, with their programs."""

    def __init__(
        self,
        root: Path,
        names: AnswerNames,
        layout: str = "",
        pattern: str = "",
        skips_errors: bool = False,
        questions: Iterable[Question] = (),
    ) -> None:
        """Find every file in a folder or zip file, and the layout of their paths.

        If neither a layout nor a pattern is given, the layout is detected; UsageError if it is
        unclear, or if the folder or zip file cannot be read. With `skips_errors`, a cell of a
        notebook that raises does not stop the next ones. If the questions are given, an unchanged
        starter does not count next to another file, and a file with another name is recognized by
        the functions that it defines.
        """
        if layout and pattern:
            raise UsageError("expected --layout or --pattern, found both")
        if layout and layout not in LAYOUTS:
            raise UsageError(f"layout: expected {', '.join(LAYOUTS)}, found {layout}")
        self.names = names
        # "ann to softmax" for each question without an answer; "ann" if none has one.
        self.students_without_file: list[str] = []
        self.joined: dict[str, list[str]] = {}  # files that a program imports, by its path
        self.recognized: dict[str, str] = {}  # questions of files with another name, by path
        self.students: set[str] = set()  # students who have an answer, right or wrong
        self._skips_errors = skips_errors
        self._questions = {question.id: question for question in questions}
        self._expected_names = {  # names of the functions or answers that each asks for
            name: {*(asked.spec.answers if name in names.texts else asked.signatures_for_part())}
            for name, asked in self._questions.items()
        }
        self._reasons: dict[str, str] = {}  # why a file is not used, by path; "" if it is
        # Files that a program may import: by student and folder, then by name.
        self._modules = defaultdict[tuple[str, str], dict[str, SubmittedFile]](dict)
        described = PatternLayout(pattern, names) if pattern else None
        self._submitted = SubmittedFiles(root, names.suffixes)
        self.empty = self._submitted.empty_folders
        try:
            self.files = self._submitted.find_files()
            self.layout: Layout | PatternLayout = described or self._detect_layout(layout)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        self._submitted.close()

    def _detect_layout(self, name: str) -> Layout:
        layout = detect_layout([file.path for file in self.files], self.names, name)
        if layout.name != "gradescope":
            return layout
        path = layout.base_folder + METADATA
        for file in self.files:
            if file.path == path:
                if file.fault:
                    raise UsageError(f"{path}: {file.fault}")
                layout = layout._replace(claims_by_folder=read_submitters(file.content()))
        return layout

    def __iter__(self) -> Iterator[tuple[HandIn, SubmittedProgram]]:
        """Give each answer of a student to a question with its program, the latest one last.

        A hand-in without a program has the reason in `fault` (the student's) or `unread` (the
        grader's), and the program is empty.
        """
        self._reasons = {file.path: self._reason_by_path(file) for file in self.files}
        for claimed in self._claimed_files().values():
            candidates = claimed
            if len(claimed) > 1:
                candidates = [
                    entry
                    for entry in claimed
                    if entry.claim.certainty < UNFIT and not self._is_starter(entry)
                ]
            candidates = candidates or claimed
            best = min(map(_rank, candidates))
            likely = [entry for entry in candidates if _rank(entry) == best]
            likely.sort(key=_time_order)
            certainty = likely[0].claim.certainty
            if certainty < UNFIT:
                yield from self._answers(likely)
            elif certainty == UNFIT or likely[0].claim.student not in self.students:
                yield self._missing_answer(likely)

    def unused_files(self) -> Iterator[tuple[str, str]]:
        """Give the path of each file that does not count, with the reason; iterate first."""
        for path, reason in self._reasons.items():
            if reason:
                yield path, reason

    def _claimed_files(self) -> dict[tuple[str, str], list[ClaimedFile]]:
        """Return the files with a claim, by student and question; note why others do not count."""
        claimed = defaultdict[tuple[str, str], list[ClaimedFile]](list)
        for file in self.files:
            claims = [] if file.is_stray else self.layout.claims(file.path)
            if claims and claims[0].certainty == NONE:
                question = self._question_by_definitions(file)
                if question:
                    claims = [
                        claim._replace(certainty=ANY, depth=UNKNOWN_DEPTH + claim.depth)
                        for claim in claims
                        if claim.question == question
                    ]
                elif self._reasons[file.path]:
                    self._reasons[file.path] = file.fault or self._rename_advice(file)
            for claim in claims:
                if claim.time is None:
                    claim = claim._replace(time=file.changed_at)
                claimed[claim.student, claim.question].append(ClaimedFile(claim, file))
                if file.suffix == ".py" and not file.fault:
                    name = file.name.rpartition(".")[0]
                    self._modules[claim.student, file.folder][name] = file
                if claim.certainty < UNFIT:
                    self.students.add(claim.student)
                if claim.certainty != NONE and not file.fault:
                    self._reasons[file.path] = "another file is more likely the answer"
        return claimed

    def _answers(self, likely: list[ClaimedFile]) -> Iterator[tuple[HandIn, SubmittedProgram]]:
        """Give the answers among the likely files of one student and question.

        A file that another one imports is not an answer. Only the last `MAX_STUDENT_FILES`
        files are read.
        """
        usable = [entry for entry in likely if entry.file.is_unread or not entry.file.fault]
        answers: list[tuple[HandIn, SubmittedProgram]] = []
        imported_paths = set[str]()
        for claim, file in (usable or likely)[-MAX_STUDENT_FILES:]:
            modules = self._modules[claim.student, file.folder]
            try:
                hand_in, program = self._read_hand_in(file, claim, modules)
            except OSError as error:  # of this machine: no fault of the student
                self._reasons[file.path] = file.with_error(error).fault
                continue
            answers.append((hand_in, program))
            self._reasons[file.path] = ""
            imported_paths |= {modules[name].path for name in program.modules}
        for path in imported_paths:
            self._reasons[path] = ""
        # A file that another program imports does not count as an answer.
        separate = [answer for answer in answers if answer[0].path not in imported_paths]
        is_recognized = likely[0].claim.depth >= UNKNOWN_DEPTH
        for hand_in, program in separate or answers:
            if is_recognized:
                self.recognized[hand_in.path] = hand_in.question
            if program.modules:
                self.joined[hand_in.path] = [f"{name}.py" for name in program.modules]
            yield hand_in, program

    def _missing_answer(self, likely: list[ClaimedFile]) -> tuple[HandIn, SubmittedProgram]:
        """Return a hand-in without a program, with the fault of the likeliest file."""
        student, question, certainty = likely[0].claim[:3]
        suffixes = self.names.suffixes_for(question)

        def likelihood(entry: ClaimedFile) -> tuple[int, bool, str]:
            file = entry.file
            names = self._defined_names(file, [question]).get(question, ())
            return len(names), file.suffix in suffixes, self._reason_by_path(file)

        claim, file = max(likely, key=likelihood)
        fault = file.fault
        if not fault and certainty != UNFIT and file.suffix in suffixes:
            fault = self._rename_advice(file, question)
        fault = fault or f"expected a {' or '.join(suffixes)} file, found {file.name}"
        if certainty == UNFIT:
            self._reasons[file.path] = fault
        if not file.is_unread:
            missing = f"{student} to {question}" if student in self.students else student
            self.students_without_file.append(missing)
        return self._read_hand_in(file._replace(fault=fault), claim, {})

    def _read_hand_in(
        self, file: SubmittedFile, claim: Claim, modules: Mapping[str, SubmittedFile]
    ) -> tuple[HandIn, SubmittedProgram]:
        """Return a hand-in, and its program with the modules that it imports.

        OSError if this machine cannot read a file.
        """
        program = SubmittedProgram()
        try:
            if not file.fault:
                main = file.content()
                if file.suffix == ".ipynb":
                    main = notebook_code(main, skip=self._skips_errors)
                elif file.suffix == ".py":
                    main = _to_utf8(main)
                program = SubmittedProgram(main, _imported_modules(main, modules, {}))
        except OSError:
            raise
        except Exception as error:  # noqa: BLE001 - one file must not stop a class
            file = file.with_error(error)
        hand_in = HandIn(
            student=claim.student,
            question=claim.question,
            path=file.path,
            sha256="" if file.fault else program.sha256,
            at=claim.time or "",
            fault="" if file.is_unread else file.fault,
            name=claim.name,
            email=claim.email,
            late=claim.late,
            unread=file.fault if file.is_unread else "",
        )
        return hand_in, program

    def _is_starter(self, entry: ClaimedFile) -> bool:
        """Return True if a file is the unchanged starter of the question."""
        question = self._questions.get(entry.claim.question)
        if question is None or entry.file.fault:
            return False
        with suppress(OSError, UsageError):
            return question.is_starter(entry.file.content())
        return False

    def _defined_names(self, file: SubmittedFile, questions: Iterable[str]) -> dict[str, set[str]]:
        """Return by question which of its functions (or answers) a file seems to define.

        Questions without any are left out.
        """
        content = b""
        if not file.fault and file.suffix in self.names.suffixes:
            with suppress(OSError, UsageError):
                content = _to_utf8(file.content())
        pattern = _DEFINITION if file.suffix in PROGRAMS else _TEXT_ANSWER
        defined = {name.decode() for name in pattern.findall(content)}
        by_question = {name: self._expected_names.get(name, set()) & defined for name in questions}
        return {question: names for question, names in by_question.items() if names}

    def _question_by_definitions(self, file: SubmittedFile) -> str:
        """Return the only question whose functions or answers a file defines, or "".

        It is "" if the file or one of its folders is named after any question.
        """
        named = any(self.names.split_question_name(name)[0] for name in file.path.split("/"))
        if file.fault or named:
            return ""
        matching = self._defined_names(file, self.names.questions_for_suffix(file.suffix))
        return next(iter(matching)) if len(matching) == 1 else ""

    def _rename_advice(self, file: SubmittedFile, question: str = "") -> str:
        """Return a sentence that the name of a file fits no question, with advice to rename it.

        If a question is given, only its name is suggested.
        """
        other = self.names.split_question_name(file.name)[0]
        if other and other not in self.names.ids:
            return f"{file.name} is named after {other}, which is no question of the class"
        questions = [question] if question else self.names.questions_for_suffix(file.suffix)
        matching = self._defined_names(file, questions)
        advice = f"no question is named in {file.name}"
        for names in list(matching.values())[:1]:
            advice += f"; it defines {join_words(sorted(names))}"
        suggested = [f"{name}{file.suffix}" for name in matching or questions]
        return f"{advice}: rename it {' or '.join(suggested[:MAX_LISTED_FILES])}"

    def _reason_by_path(self, file: SubmittedFile) -> str:
        """Return why a file does not count; "" for a type that is no answer, such as a picture."""
        if file.fault:
            return file.fault
        could_answer = file.suffix in self.names.suffixes and not is_markdown(file.path)
        return self.layout.mismatch_note if could_answer else ""

    def describe_unassigned(self) -> str:
        """Return a sentence on the files that do not count; empty if every file counts."""
        files = [f"{escape_line(path, 200)} ({reason})" for path, reason in self.unused_files()]
        if not files:
            return ""
        listed = join_words(files, MAX_LISTED_FILES)
        return f"{format_count(len(files), 'file')} not taken for an answer: {listed}"


def _rank(entry: ClaimedFile) -> tuple[int, int]:
    return entry.claim.certainty, entry.claim.depth


def _time_order(entry: ClaimedFile) -> tuple[object, ...]:
    """Return a sort key by which the latest file comes last.

    Of files with equal times, that in the fewest folders comes last, then that with the largest
    number of a version (`_v2`), then that of a copy (` (1)`). A plain name has the number 0.
    """
    path = entry.file.path
    # Numbers of equal length, each after the smallest character: 9 comes before 10.
    name = re.sub("[0-9]+", lambda number: f"\0{number[0]:0>40}", path)
    return entry.claim.time, -path.count("/"), *version_numbers(path), name


# Programs.

_IMPORT = re.compile(rb"(?:^|[;:\n\r])[ \t]*(?:from[ \t]+(\w+)|import[ \t]+([^#\r\n;]+))")
_INSTALLED = sys.stdlib_module_names | {"numpy", "torch"}  # a student's file replaces none of them


def _to_utf8(source: bytes) -> bytes:
    """Return a program in UTF-8 if an editor of Windows saved it in UTF-16; others unchanged."""
    encoding = ""
    if source.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        encoding = "utf-16"
    elif source[1:8:2] == bytes(4):
        encoding = "utf-16-le"
    elif source[0:8:2] == bytes(4):
        encoding = "utf-16-be"
    if encoding:
        with suppress(UnicodeError):
            return source.decode(encoding).encode()
    return source


def _imported_modules(
    program: bytes, files: Mapping[str, SubmittedFile], modules: dict[str, bytes]
) -> dict[str, bytes]:
    """Add the files that a program imports, directly or not, to `modules`, and return `modules`.

    UsageError if they are too many or too large.
    """
    for statement in _IMPORT.finditer(program.removeprefix(codecs.BOM_UTF8)):
        for word in re.findall(rb"(?:^|,)[ \t]*(\w+)", statement[1] or statement[2]):
            name = word.decode()
            if name not in files or name in modules or name in _INSTALLED:
                continue
            source = _to_utf8(files[name].content())
            modules[name] = source
            size = sum(len(content) for content in modules.values())
            if len(modules) > MAX_STUDENT_FILES or size > MAX_SUBMISSION_FILE_BYTES:
                limit = f"{MAX_STUDENT_FILES} files and {MAX_SUBMISSION_FILE_BYTES:,} bytes"
                raise UsageError(f"expected at most {limit} that a program imports, found more")
            _imported_modules(source, files, modules)
    return modules
