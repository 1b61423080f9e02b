"""A bank in a zip or a wheel: read in place, and refused with one sentence when it is not sound."""

from __future__ import annotations

import stat
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.bank import archive, headers, load, names
from grader.bank.locate import ids
from grader.bank.storage import refusal
from grader.model.errors import BankError, UsageError
from tests.bank.specs import FILES, SPEC, edited


def packed(
    path: Path,
    top: str = "",
    extra: dict[str, str | bytes] | None = None,
    method: int = zipfile.ZIP_DEFLATED,
) -> Path:
    """Pack a bank of one question below a folder, and further files as they are named."""
    entries: dict[str, str | bytes] = {f"{top}questions/scaled-copy.yaml": SPEC}
    entries |= {f"{top}drills/scaled-copy/{name}": f"# {name}\n" for name in FILES}
    with zipfile.ZipFile(path, "w", method) as made:
        for name, content in (entries | (extra or {})).items():
            made.writestr(name, content)
    return path


def add(path: Path, info: zipfile.ZipInfo, content: bytes = b"") -> Path:
    """Add one entry with whatever its description says."""
    with zipfile.ZipFile(path, "a") as made:
        made.writestr(info, content)
    return path


@pytest.mark.parametrize("top", ["", "./", "our_bank/", "grader/_bank/", "repository-main/"])
@pytest.mark.parametrize("name", ["bank.zip", "our_bank-1.0-py3-none-any.whl"])
def test_a_bank_is_found_where_archives_have_it(tmp_path: Path, top: str, name: str) -> None:
    path = packed(tmp_path / name, top, {"our_bank-1.0.dist-info/METADATA": "Name: our-bank\n"})
    assert refusal(path) == ""
    assert [(h.id, h.title, h.bank) for h in headers([path])] == [
        ("scaled-copy", "A scaled copy", path)
    ]
    question = load([path], "scaled-copy")
    assert question.reference == b"# reference.py\n"
    assert question.variants == {"adds-it": (b"# misconceptions/adds_it.py\n",)}
    assert question.spec_path == path / f"{top}questions/scaled-copy.yaml"
    assert [*names([path])] == ["bank" if name == "bank.zip" else "our_bank"]
    assert sorted(p.name for p in tmp_path.iterdir()) == [name], "nothing is extracted"


def test_a_stored_archive_is_read_too(tmp_path: Path) -> None:
    path = packed(tmp_path / "bank.zip", method=zipfile.ZIP_STORED)
    assert ids([path]) == ["scaled-copy"]


def test_the_highest_folder_of_questions_is_the_banks(tmp_path: Path) -> None:
    path = packed(
        tmp_path / "bank.zip", "main/", {"main/tests/banks/mini/questions/other.yaml": SPEC}
    )
    assert ids([path]) == ["scaled-copy"]


def test_what_is_wrong_inside_has_its_place_in_the_archive(tmp_path: Path) -> None:
    path = tmp_path / "bank.zip"
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("questions/one.yaml", edited("minutes: 5", "minutes: long"))
    with pytest.raises(BankError) as raised:
        load([path], "one")
    inside = path / "questions" / "one.yaml"
    assert raised.value.problems[0].startswith(
        f"{inside}:1:1: expected the file {path / 'drills' / 'one' / 'starter.py'}, or code.starter"
    )
    assert (
        f"{inside}:5:10: minutes: expected a whole number, found the text 'long'"
        in raised.value.problems
    )


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def device(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 3
    info.external_attr = (stat.S_IFCHR | 0o666) << 16
    return info


def raw_name(path: Path, name: bytes) -> Path:
    """Rename the entry NAME, in place, to what zipfile would not write."""
    data = path.read_bytes()
    path.write_bytes(data.replace(b"N" * len(name), name))
    return path


HOSTILE: dict[str, tuple[Callable[[Path], Path], str]] = {
    "a path above": (
        lambda p: add(p, zipfile.ZipInfo("../evil.py")),
        "expected paths inside the archive, found '../evil.py'",
    ),
    "a path above, further in": (
        lambda p: add(p, zipfile.ZipInfo("drills/../../evil.py")),
        "expected paths inside the archive, found 'drills/../../evil.py'",
    ),
    "an absolute path": (
        lambda p: add(p, zipfile.ZipInfo("/etc/evil")),
        "expected paths inside the archive, found '/etc/evil'",
    ),
    "a drive": (
        lambda p: add(p, zipfile.ZipInfo("C:/evil")),
        "expected paths inside the archive, found 'C:/evil'",
    ),
    "backslashes": (
        lambda p: raw_name(add(p, zipfile.ZipInfo("N" * 7)), b"..\\evil"),
        "expected paths inside the archive, found '..\\\\evil'",
    ),
    "a NUL in a name": (
        lambda p: raw_name(add(p, zipfile.ZipInfo("N" * 7)), b"a\0../b\0"),
        "expected paths inside the archive, found 'a\\x00../b\\x00'",
    ),
    "a link": (
        lambda p: add(p, link("drills/scaled-copy/driver.py"), b"/etc/passwd"),
        "expected files and folders, found the symbolic link 'drills/scaled-copy/driver.py'",
    ),
    "a device": (
        lambda p: add(p, device("drills/null")),
        "expected files and folders, found the special file 'drills/null'",
    ),
}


@pytest.mark.parametrize("what", list(HOSTILE))
def test_what_could_surprise_whoever_unpacks_it_is_refused(tmp_path: Path, what: str) -> None:
    make, said = HOSTILE[what]
    path = make(packed(tmp_path / "bank.zip"))
    assert refusal(path) == f"{path}: {said}"
    with pytest.raises(BankError) as raised:
        headers([path])
    assert raised.value.message == f"{path}: {said}"
    assert raised.value.exit_status == 3


def test_a_path_that_is_there_twice_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "bank.zip")
    with pytest.warns(UserWarning, match="Duplicate name"):
        add(path, zipfile.ZipInfo("questions/scaled-copy.yaml"), b"other")
    assert "expected each path once, found 'questions/scaled-copy.yaml' twice" in refusal(path)


def test_an_encrypted_entry_is_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "bank.zip")
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")  # the first entry of the central directory
    flags = struct.unpack_from("<H", data, at + 8)[0]
    struct.pack_into("<H", data, at + 8, flags | 1)
    path.write_bytes(data)
    assert "found 'questions/scaled-copy.yaml' encrypted" in refusal(path)


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_other_packings_are_refused(tmp_path: Path, method: int) -> None:
    path = packed(tmp_path / "bank.zip", method=method)
    assert "packed otherwise" in refusal(path)


def test_a_bomb_is_refused_before_it_is_unpacked(tmp_path: Path) -> None:
    path = packed(tmp_path / "bank.zip")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as made, made.open("bomb", "w") as file:
        for _ in range((archive.MAX_UNPACKED >> 20) + 1):
            file.write(bytes(1 << 20))
    assert path.stat().st_size < 1 << 20
    assert "expected at most 268,435,456 bytes unpacked, found 269," in refusal(path)


def test_a_long_entry_is_never_unpacked_whole(tmp_path: Path) -> None:
    long = bytes(4 << 20)
    path = packed(tmp_path / "bank.zip", extra={"drills/scaled-copy/driver.py": long})
    with pytest.raises(BankError, match=r"expected at most 1,048,576 bytes in .*driver.py"):
        load([path], "scaled-copy")
    spec = tmp_path / "spec.zip"
    with zipfile.ZipFile(spec, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("questions/one.yaml", b"#" * (4 << 20))
    with pytest.raises(BankError, match="expected at most 1,048,576 bytes, found 1,048,577"):
        load([spec], "one")


def test_an_entry_that_lies_about_its_size_is_damage(tmp_path: Path) -> None:
    path = packed(tmp_path / "bank.zip")
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    struct.pack_into("<I", data, at + 24, 10)  # ten bytes unpacked, it says
    path.write_bytes(data)
    assert headers([path])[0].title == "(unreadable)"
    with pytest.raises(BankError, match="expected a whole zip archive, found a damaged one"):
        load([path], "scaled-copy")


def test_archives_without_a_bank_are_told_so(tmp_path: Path) -> None:
    empty, deep, two = (tmp_path / f"{name}.zip" for name in ("empty", "deep", "two"))
    with zipfile.ZipFile(empty, "w"):
        pass
    packed(deep, "a/b/c/")
    packed(two, "a/", {"b/questions/other.yaml": SPEC})
    none = "expected questions/ with specs at the top or in one folder, found none"
    assert refusal(empty) == f"{empty}: {none}"
    assert refusal(deep) == f"{deep}: {none}"
    assert (
        refusal(two)
        == f"{two}: expected one folder questions/, found a/questions/ and b/questions/"
    )


def test_two_specs_of_one_id_are_refused(tmp_path: Path) -> None:
    path = packed(tmp_path / "bank.zip", extra={"questions/scaled-copy.yml": SPEC})
    assert "expected one file for the id scaled-copy" in refusal(path)


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Return the bytes of a sound archive."""
    return packed(tmp_path_factory.mktemp("whole") / "bank.zip").read_bytes()


def survives(path: Path, data: bytes) -> None:
    """Read a bank from bytes: all of it, or a `BankError` of one line."""
    path.write_bytes(data)
    try:
        headers([path])
        load([path], "scaled-copy")
    except BankError as error:
        found = error.message
    except UsageError:  # the name of the spec was damaged: it is another question's now
        return
    else:
        return
    assert str(path) in found
    assert "\n" not in found


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_an_archive_cut_short_is_refused(tmp_path: Path, whole: bytes, data: st.DataObject) -> None:
    survives(tmp_path / "bank.zip", whole[: data.draw(st.integers(0, len(whole) - 1))])


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_an_archive_with_any_bytes_changed_is_read_or_refused(
    tmp_path: Path, whole: bytes, data: st.DataObject
) -> None:
    changed = bytearray(whole)
    for _ in range(data.draw(st.integers(1, 4))):
        changed[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    survives(tmp_path / "bank.zip", bytes(changed))


def test_an_archive_that_is_too_long_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = packed(tmp_path / "bank.zip")
    monkeypatch.setattr(archive, "MAX_ARCHIVE", 100)
    assert refusal(path) == f"{path}: expected at most 100 bytes, found more"
    monkeypatch.undo()
    monkeypatch.setattr(archive, "MAX_ENTRIES", 3)
    assert refusal(path) == f"{path}: expected at most 3 entries, found 4"


def test_entries_are_counted_before_an_object_is_made_of_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "bank.zip"
    with zipfile.ZipFile(path, "w") as made:
        for number in range(archive.MAX_ENTRIES + 1):
            made.writestr(f"{number}/", "")
    data = bytearray(path.read_bytes())
    at = data.rindex(b"PK\x05\x06")
    struct.pack_into("<HH", data, at + 8, 3, 3)  # three entries, its end record says
    path.write_bytes(data)
    parsed: list[object] = []
    monkeypatch.setattr(zipfile, "ZipFile", lambda *given: parsed.append(given))
    assert refusal(path) == f"{path}: expected at most 20,000 entries, found 20,001"
    assert not parsed


@pytest.mark.parametrize("name", ["new\nline", "a b", "turned\u202e", "-option", "x" * 101])
def test_a_spec_whose_name_would_break_a_list_is_refused(tmp_path: Path, name: str) -> None:
    path = packed(tmp_path / "bank.zip", extra={f"questions/{name}.yaml": SPEC})
    with pytest.raises(BankError) as raised:
        headers([path])
    assert f"found {f'questions/{name}.yaml'!r}" in raised.value.message or (
        f"expected specs named by lower-case words joined by hyphens, found {f'{name}.yaml'!r}"
        in raised.value.message
    )
    assert raised.value.message.isprintable()
