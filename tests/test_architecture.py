"""The laws of the layout, read from the source: who imports whom, and what only one room may do.

Each law collects its offenders, so that a failure lists every one of them.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "grader"
WORKER = PACKAGE / "sandbox" / "worker"
SHARED = {"wire", "protocol", "walls", "control", "limits"}  # of both sides
FLOORS = {
    "model": 0, "cases": 1, "costs": 1, "sandbox": 2, "forms": 3, "grading": 4, "bank": 5,
    "explain": 6, "audit": 7, "records": 7, "reports": 7, "classroom": 8, "commands": 9,
}  # fmt: skip
TOP = 10  # the files beside the rooms
MOST_LINES = 700  # of one file, where it is one thought
FILES = sorted(p for p in PACKAGE.rglob("*.py") if "_bank" not in p.parts)
JUDGING = [p for p in FILES if WORKER not in p.parents]


def inside(path: Path) -> str:
    """A file's path in the package."""
    return path.relative_to(PACKAGE).as_posix()


def room(path: Path) -> str:
    """The first folder of a file in the package, or its own name."""
    return path.relative_to(PACKAGE).parts[0]


@functools.cache
def tree(path: Path) -> ast.Module:
    """Parse a file once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported(path: Path) -> Iterator[str]:
    """Every module that a file imports anywhere, and what it takes out of one."""
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = source_module(path, node)
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)


def source_module(path: Path, node: ast.ImportFrom) -> str:
    """Return the absolute name of the module from which an import takes names."""
    package = ["grader", *path.relative_to(PACKAGE).parts[:-1]]
    base = package[: len(package) - node.level + 1] if node.level else []
    return ".".join([*base, *([node.module] if node.module else [])])


def module_name(path: Path) -> str:
    """Return the dotted name of a file, or of the package if it is an `__init__.py`."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imported_modules(path: Path, modules: Collection[str]) -> set[str]:
    """Return the modules of the program that a file imports, in functions and for types, too.

    `from package import module` counts as an import of the module only.
    """
    names = set[str]()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Import):
            names.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = source_module(path, node)
            for alias in node.names:
                submodule = f"{source}.{alias.name}"
                names.add(submodule if submodule in modules else source)
    return names & set(modules)


def reachable(module: str, imports: dict[str, set[str]]) -> set[str]:
    """Return the modules that a module imports, directly or through others."""
    reached = set[str]()
    pending = [module]
    while pending:
        new = imports[pending.pop()] - reached
        reached |= new
        pending += new
    return reached


def read(path: Path) -> set[str]:
    """The names that a file reads or calls, dotted once."""
    found = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Name):
            found.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            found.add(f"{node.value.id}.{node.attr}")
    return found


def within(name: str, modules: set[str]) -> bool:
    """Whether an imported name is one of some modules or lies in one."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in modules for n in range(1, len(parts) + 1))


def test_every_room_has_a_floor() -> None:
    assert {p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()} == set(FLOORS)


def test_imports_go_down() -> None:
    offenders = [
        f"{inside(path)} imports {name}"
        for path in FILES
        for name in imported(path)
        if name.startswith("grader.")
        and (there := name.split(".")[1]) in FLOORS
        and there != room(path)
        and FLOORS[there] >= FLOORS.get(room(path), TOP)
    ]
    assert offenders == []


def test_no_module_imports_itself_in_a_circle() -> None:
    paths = {module_name(path): path for path in FILES}
    imports = {module: imported_modules(path, paths) for module, path in paths.items()}
    reached = {module: reachable(module, imports) for module in paths}
    circles = {
        tuple(sorted(other for other in reached[module] if module in reached[other]))
        for module in paths
        if module in reached[module]
    }
    assert sorted(circles) == []


def test_torch_is_imported_in_workers_only() -> None:
    assert [inside(p) for p in JUDGING if any(within(n, {"torch"}) for n in imported(p))] == []


def test_the_judging_side_takes_nothing_of_a_worker_but_what_both_sides_agree_on() -> None:
    offenders = [
        f"{inside(path)} imports {name}"
        for path in JUDGING
        for name in imported(path)
        if within(name, {"grader.sandbox.worker"})
        and name != "grader.sandbox.worker"
        and not within(name, {f"grader.sandbox.worker.{shared}" for shared in SHARED})
    ]
    assert offenders == []


def test_a_worker_imports_its_own_folder_the_standard_library_numpy_and_torch() -> None:
    allowed = {*sys.stdlib_module_names, "numpy", "torch", "worker", "grader.sandbox.worker"}
    offenders = [
        f"{inside(path)} imports {name}"
        for path in WORKER.rglob("*.py")
        for name in imported(path)
        if not within(name, allowed)
    ]
    assert offenders == []


def test_the_judging_side_runs_no_data_as_code() -> None:
    forbidden = {"eval", "exec", "compile", "__import__", "breakpoint"}
    assert [(inside(p), read(p) & forbidden) for p in JUDGING if read(p) & forbidden] == []
    runners = {"runpy", "code", "codeop", "imp"}
    assert [inside(p) for p in JUDGING if any(within(n, runners) for n in imported(p))] == []


def test_nothing_is_unpickled() -> None:
    modules = {"pickle", "marshal", "shelve", "dill", "copyreg", "cloudpickle"}
    assert [inside(p) for p in FILES if any(within(n, modules) for n in imported(p))] == []
    loaders = {"np.load", "numpy.load", "torch.load", "yaml.load", "yaml.unsafe_load"}
    assert [(inside(p), read(p) & loaders) for p in FILES if read(p) & loaders] == []


def kinds_of_checks() -> dict[str, str]:
    """The classes of keys by the name of their kind, read from the files of the kinds."""
    found = {}
    for path in (PACKAGE / "grading" / "kinds").glob("*.py"):
        for node in tree(path).body:
            if not isinstance(node, ast.ClassDef):
                continue
            for line in node.body:
                text = ast.unparse(line)
                if text.startswith("kind: Literal["):
                    found[ast.literal_eval(text.removeprefix("kind: Literal"))[0]] = node.name
    return found


def literals(node: ast.AST) -> set[object]:
    """Every constant in a piece of code."""
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}


def picks_kinds(path: Path, kinds: dict[str, str]) -> Iterator[str]:
    """Where a file tells kinds of checks apart by their name or their keys."""
    for node in ast.walk(tree(path)):
        named = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
        if named in kinds.values():
            yield named
        compared = isinstance(node, ast.Compare | ast.Match) and literals(node) & kinds.keys()
        if compared and re.search(r"\bkind\b", ast.unparse(node)):
            yield ast.unparse(node)
        if isinstance(node, ast.Set | ast.Tuple | ast.List) and len(node.elts) > 1:
            words = [part.value for part in node.elts if isinstance(part, ast.Constant)]
            if len(words) == len(node.elts) and set(words) <= kinds.keys():
                yield ast.unparse(node)


def constants(path: Path) -> Iterator[str]:
    """The names that the top level of a file assigns."""
    for node in tree(path).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if target is not None:
                yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def test_limits_are_defined_in_one_place() -> None:
    limit = re.compile(r"_?MAX_(\w+_)?(BYTES|SECONDS)|\w*(CALL|CPU|GRADE|IDLE|START)_SECONDS")
    places = {inside(p) for p in FILES if any(limit.fullmatch(name) for name in constants(p))}
    assert places == {"model/limits.py", "sandbox/worker/limits.py"}


def test_only_a_kind_knows_what_is_special_about_it() -> None:
    kinds = kinds_of_checks()
    assert len(kinds) >= 10
    outside = [p for p in FILES if "kinds" not in p.parts]
    assert {inside(p): found for p in outside if (found := list(picks_kinds(p, kinds)))} == {}


SPEAKING = {"print", "input", "exit", "quit", "sys.exit"}
SURROUNDINGS = {
    "os.environ", "os.getenv", "os.getcwd", "os.chdir", "Path.cwd", "time.time", "datetime.now",
}  # fmt: skip
JUSTIFIED = {
    ("bank/__init__.py", "os.environ"),  # DRILL_BANK, DRILL_HOME, XDG_CONFIG_HOME: where banks are
    ("sandbox/scratch_folder.py", "time.time"),  # how old a folder is that a killed judge left
    ("sandbox/worker/boot.py", "sys.exit"),  # which programs call exit() and quit()
    ("sandbox/worker/roles.py", "os.environ"),  # of a worker, which has nothing of the judge's
    ("sandbox/worker/roles.py", "os.chdir"),
}


def test_speaking_and_looking_around_are_for_the_command_line() -> None:
    found = {
        (inside(path), name)
        for path in FILES
        if room(path) not in {"commands", "__main__.py"}
        for name in read(path) & (SPEAKING | SURROUNDINGS)
    }
    assert found == JUSTIFIED


def speaks(function: ast.FunctionDef) -> bool:
    """Whether a function writes to the terminal or ends the program."""
    names = {ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.expr)}
    return bool(names & {"output", "print", "sys.exit", "sys.stdout", "sys.stderr", "typer"})


def test_a_function_of_a_command_that_returns_data_does_not_write() -> None:
    offenders = [
        f"{inside(path)} {node.name}"
        for path in FILES
        if room(path) == "commands"
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if node.args.args and ast.unparse(node.args.args[0].annotation or node) == "Context"
        if speaks(node)
    ]
    assert offenders == []


def test_the_engine_knows_no_question_by_name() -> None:
    ids = [p.stem for p in (ROOT / "questions").glob("*.y*ml")]
    every = {word for i in ids for word in (i, i.replace("-", "_"))}
    words = re.compile(rf"\b(?:{'|'.join(map(re.escape, every))})\b")
    assert len(ids) >= 5
    assert [inside(p) for p in FILES if words.search(p.read_text(encoding="utf-8"))] == []


def test_questions_and_drills_carry_the_same_ids() -> None:
    questions = {p.stem for p in (ROOT / "questions").glob("*.y*ml")}
    assert questions == {p.name for p in (ROOT / "drills").iterdir() if p.is_dir()}


def test_every_file_can_be_read_in_one_sitting() -> None:
    lengths = {inside(p): len(p.read_text(encoding="utf-8").splitlines()) for p in FILES}
    assert {name: n for name, n in lengths.items() if n > MOST_LINES} == {}


def undocumented(module: ast.Module) -> Iterator[str]:
    """The public functions and classes of a file that do not say what they do; methods may."""
    for node in module.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_"):
                continue
            if not ast.get_docstring(node):
                yield node.name


def test_everything_public_says_what_it_does() -> None:
    offenders = {inside(p): list(undocumented(tree(p))) for p in FILES}
    assert {name: found for name, found in offenders.items() if found} == {}
    assert [inside(p) for p in FILES if not ast.get_docstring(tree(p))] == []


def class_names() -> dict[str, list[str]]:
    """The files that define each class, nested ones included."""
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(inside(path))
    return places


def test_a_class_name_has_one_meaning() -> None:
    assert {name: places for name, places in class_names().items() if len(places) > 1} == {}


def test_the_script_of_torch_versions_names_what_exists() -> None:
    """No type checker reads it, because its name has no ending."""
    script = ast.parse((ROOT / ".ci" / "torch-versions").read_text(encoding="utf-8"))
    imported_objects = {
        alias.name: getattr(importlib.import_module(node.module), alias.name, None)
        or importlib.import_module(f"{node.module}.{alias.name}")
        for node in ast.walk(script)
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("grader")
        for alias in node.names
    }
    used = {
        (node.value.id, node.attr)
        for node in ast.walk(script)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    missing = {
        (name, attribute)
        for name, attribute in used
        if name in imported_objects and not hasattr(imported_objects[name], attribute)
    }
    assert imported_objects
    assert missing == set()
