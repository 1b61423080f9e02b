"""Laws of the layout, checked on the source: which room imports which, and what a room may do.

Each law collects its offenders: a failure lists all of them.
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
SHARED_MODULES = {"wire", "protocol", "walls", "control", "limits"}  # used by judge and worker
FLOORS = {
    "model": 0, "cases": 1, "costs": 1, "sandbox": 2, "forms": 3, "grading": 4, "bank": 5,
    "explain": 6, "audit": 7, "records": 7, "reports": 7, "classroom": 8, "commands": 9,
}  # fmt: skip
TOP = 10  # floor of the files outside of all rooms
MAX_LINES = 700  # of one file
FILES = sorted(p for p in PACKAGE.rglob("*.py") if "_bank" not in p.parts)
JUDGE_FILES = [p for p in FILES if WORKER not in p.parents]


def package_path(path: Path) -> str:
    """Return the path of a file in the package."""
    return path.relative_to(PACKAGE).as_posix()


def room(path: Path) -> str:
    """Return the first folder of a file in the package, or its name if it is in no folder."""
    return path.relative_to(PACKAGE).parts[0]


@functools.cache
def tree(path: Path) -> ast.Module:
    """Return the syntax tree of a file, parsed once."""
    return ast.parse(path.read_text(encoding="utf-8"))


def imported_names(path: Path) -> Iterator[str]:
    """Yield every module that a file imports anywhere, and every name that it imports from one."""
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


def names_read(path: Path) -> set[str]:
    """Return the names that a file reads or calls: NAME or NAME.ATTRIBUTE."""
    names = set()
    for node in ast.walk(tree(path)):
        if isinstance(node, ast.Name):
            names.add(node.id)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names.add(f"{node.value.id}.{node.attr}")
    return names


def is_in_modules(name: str, modules: set[str]) -> bool:
    """Return True if an imported name is one of some modules or is inside one."""
    parts = name.split(".")
    return any(".".join(parts[:n]) in modules for n in range(1, len(parts) + 1))


def test_every_room_has_a_floor() -> None:
    assert {p.name for p in PACKAGE.iterdir() if (p / "__init__.py").exists()} == set(FLOORS)


def test_imports_go_down() -> None:
    offenders = [
        f"{package_path(path)} imports {name}"
        for path in FILES
        for name in imported_names(path)
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
    assert [
        package_path(p)
        for p in JUDGE_FILES
        if any(is_in_modules(n, {"torch"}) for n in imported_names(p))
    ] == []


def test_the_judge_imports_only_shared_modules_of_the_worker() -> None:
    offenders = [
        f"{package_path(path)} imports {name}"
        for path in JUDGE_FILES
        for name in imported_names(path)
        if is_in_modules(name, {"grader.sandbox.worker"})
        and name != "grader.sandbox.worker"
        and not is_in_modules(
            name, {f"grader.sandbox.worker.{shared}" for shared in SHARED_MODULES}
        )
    ]
    assert offenders == []


def test_a_worker_imports_only_its_folder_the_standard_library_numpy_and_torch() -> None:
    allowed = {*sys.stdlib_module_names, "numpy", "torch", "worker", "grader.sandbox.worker"}
    offenders = [
        f"{package_path(path)} imports {name}"
        for path in WORKER.rglob("*.py")
        for name in imported_names(path)
        if not is_in_modules(name, allowed)
    ]
    assert offenders == []


def test_the_judge_never_runs_data_as_code() -> None:
    forbidden = {"eval", "exec", "compile", "__import__", "breakpoint"}
    assert [
        (package_path(p), names_read(p) & forbidden)
        for p in JUDGE_FILES
        if names_read(p) & forbidden
    ] == []
    runners = {"runpy", "code", "codeop", "imp"}
    assert [
        package_path(p)
        for p in JUDGE_FILES
        if any(is_in_modules(n, runners) for n in imported_names(p))
    ] == []


def test_nothing_is_unpickled() -> None:
    modules = {"pickle", "marshal", "shelve", "dill", "copyreg", "cloudpickle"}
    assert [
        package_path(p) for p in FILES if any(is_in_modules(n, modules) for n in imported_names(p))
    ] == []
    loaders = {"np.load", "numpy.load", "torch.load", "yaml.load", "yaml.unsafe_load"}
    assert [
        (package_path(p), names_read(p) & loaders) for p in FILES if names_read(p) & loaders
    ] == []


def kinds_of_checks() -> dict[str, str]:
    """Map the name of each kind to its class of keys, read from the files of the kinds."""
    classes = {}
    for path in (PACKAGE / "grading" / "kinds").glob("*.py"):
        for node in tree(path).body:
            if not isinstance(node, ast.ClassDef):
                continue
            for line in node.body:
                text = ast.unparse(line)
                if text.startswith("kind: Literal["):
                    classes[ast.literal_eval(text.removeprefix("kind: Literal"))[0]] = node.name
    return classes


def literals(node: ast.AST) -> set[object]:
    """Return every constant in a piece of code."""
    return {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}


def kind_distinctions(path: Path, kinds: dict[str, str]) -> Iterator[str]:
    """Yield each place where a file tells kinds of checks apart by name or by their keys."""
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


def assigned_constants(path: Path) -> Iterator[str]:
    """Yield the names that the top level of a file assigns."""
    for node in tree(path).body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        for target in targets:
            if target is not None:
                yield from (part.id for part in ast.walk(target) if isinstance(part, ast.Name))


def test_limits_are_defined_in_one_place() -> None:
    limit = re.compile(r"_?MAX_(\w+_)?(BYTES|SECONDS)|\w*(CALL|CPU|GRADE|IDLE|START)_SECONDS")
    places = {
        package_path(p)
        for p in FILES
        if any(limit.fullmatch(name) for name in assigned_constants(p))
    }
    assert places == {"model/limits.py", "sandbox/worker/limits.py"}


def test_no_other_file_tells_kinds_of_checks_apart() -> None:
    kinds = kinds_of_checks()
    assert len(kinds) >= 10
    outside = [p for p in FILES if "kinds" not in p.parts]
    assert {
        package_path(p): distinctions
        for p in outside
        if (distinctions := list(kind_distinctions(p, kinds)))
    } == {}


TERMINAL_NAMES = {"print", "input", "exit", "quit", "sys.exit"}
ENVIRONMENT_NAMES = {
    "os.environ", "os.getenv", "os.getcwd", "os.chdir", "Path.cwd", "time.time", "datetime.now",
}  # fmt: skip
ALLOWED_USES = {
    ("bank/__init__.py", "os.environ"),  # DRILL_BANK, DRILL_HOME, XDG_CONFIG_HOME: where banks are
    ("sandbox/scratch_folder.py", "time.time"),  # how old a folder is that a killed judge left
    ("sandbox/worker/boot.py", "sys.exit"),  # which programs call exit() and quit()
    ("sandbox/worker/roles.py", "os.environ"),  # of a worker, which has nothing of the judge's
    ("sandbox/worker/roles.py", "os.chdir"),
}


def test_only_commands_print_and_read_their_environment() -> None:
    uses = {
        (package_path(path), name)
        for path in FILES
        if room(path) not in {"commands", "__main__.py"}
        for name in names_read(path) & (TERMINAL_NAMES | ENVIRONMENT_NAMES)
    }
    assert uses == ALLOWED_USES


def writes(function: ast.FunctionDef) -> bool:
    """Return True if a function writes to the terminal or ends the program."""
    names = {ast.unparse(node) for node in ast.walk(function) if isinstance(node, ast.expr)}
    return bool(names & {"output", "print", "sys.exit", "sys.stdout", "sys.stderr", "typer"})


def test_a_function_of_a_command_that_returns_data_does_not_write() -> None:
    offenders = [
        f"{package_path(path)} {node.name}"
        for path in FILES
        if room(path) == "commands"
        for node in tree(path).body
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_")
        if node.args.args and ast.unparse(node.args.args[0].annotation or node) == "Context"
        if writes(node)
    ]
    assert offenders == []


def test_the_engine_knows_no_question_by_name() -> None:
    ids = [p.stem for p in (ROOT / "questions").glob("*.y*ml")]
    every = {word for i in ids for word in (i, i.replace("-", "_"))}
    words = re.compile(rf"\b(?:{'|'.join(map(re.escape, every))})\b")
    assert len(ids) >= 5
    assert [package_path(p) for p in FILES if words.search(p.read_text(encoding="utf-8"))] == []


def test_questions_and_drills_have_the_same_ids() -> None:
    questions = {p.stem for p in (ROOT / "questions").glob("*.y*ml")}
    assert questions == {p.name for p in (ROOT / "drills").iterdir() if p.is_dir()}


def test_no_file_is_too_long() -> None:
    lengths = {package_path(p): len(p.read_text(encoding="utf-8").splitlines()) for p in FILES}
    assert {name: n for name, n in lengths.items() if n > MAX_LINES} == {}


def undocumented_names(module: ast.Module) -> Iterator[str]:
    """Yield the public functions and classes of a file that have no docstring, without methods."""
    for node in module.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.name.startswith("_"):
                continue
            if not ast.get_docstring(node):
                yield node.name


def test_everything_public_has_a_docstring() -> None:
    offenders = {package_path(p): list(undocumented_names(tree(p))) for p in FILES}
    assert {name: names for name, names in offenders.items() if names} == {}
    assert [package_path(p) for p in FILES if not ast.get_docstring(tree(p))] == []


def class_names() -> dict[str, list[str]]:
    """Map each class name to the files that define it; nested classes count."""
    places: dict[str, list[str]] = {}
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(package_path(path))
    return places


def test_a_class_name_has_one_meaning() -> None:
    assert {name: places for name, places in class_names().items() if len(places) > 1} == {}


def test_the_script_for_torch_versions_uses_names_that_exist() -> None:
    """Type checkers do not read the script, because its name has no suffix."""
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
