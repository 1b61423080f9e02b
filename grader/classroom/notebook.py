"""The program of a notebook: its code cells in order, as Jupyter would run them from the top.

Nothing here parses Python: what is a line of IPython's shows in how it begins.
"""

from __future__ import annotations

import json
import re

from grader.model.errors import UsageError

MOST_BYTES = 1_000_000  # of a program: a thousand times an honest one
MOST_VALUES = 400_000  # lists and objects in a notebook

# What plots, shows or asks does nothing where nobody looks; it runs in the submission's process.
_STAND_INS = """
import builtins, importlib.machinery, sys, traceback, types

class Nothing(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self

    def __call__(self, *args, **options):
        return self

    def __getitem__(self, key):
        return self

    def __setitem__(self, key, value):
        pass

    def __iter__(self):
        return iter([self])

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def subplots(self, *args, **options):
        return self, self

    def hist(self, *args, **options):
        return self, self, self

class Progress(Nothing):
    trange = range

    def tqdm(self, items=(), *args, **options):
        return items

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"matplotlib", "seaborn", "plotly", "IPython", "tqdm"}:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec):
        return (Progress if spec.name.startswith("tqdm") else Nothing)(spec.name)

    def exec_module(self, module):
        pass

def cell(scope, line, source):
    try:
        code = compile("\\n" * line + source, scope["__file__"], "exec", dont_inherit=True)
        exec(code, scope)
    except (Exception, SystemExit):
        traceback.print_exc()

sys.meta_path.append(Finder())
builtins.display = builtins.get_ipython = Nothing("display")
builtins.input = lambda *asked: ""
builtins._cell = cell
"""
_BEGIN = f"exec({_STAND_INS!r}, {{}})"
_SHOWS = re.compile(
    r"^[^#\n]*\b(matplotlib|seaborn|plotly|IPython|tqdm|display|get_ipython|input)\b", re.MULTILINE
)

# Magics of a whole cell whose rest is Python all the same.
_RUNS = frozenset({"time", "timeit", "capture", "prun", "memit", "mprun", "python", "python3"})
# %magic, !command, ?help, help? and x = %magic; `% x` goes on with an expression.
_IPYTHON = re.compile(
    r"^([ \t]*)((?:%{1,2}[A-Za-z]|!|\?|[A-Za-z_][\w.]*\?{1,2}$"
    r"|[\w.,\[\] ]+=\s*(?:%[A-Za-z]|!(?!=))).*(?:(?<=\\)\n.*)*)$",
    re.MULTILINE,
)


def code_of(content: bytes, *, skip: bool = False) -> bytes:
    """Return the code cells of a notebook, with an empty line between two.

    Lines of IPython's own become comments, so that the others keep their places.  Where anything
    is plotted or shown, stand-ins come first.  With `skip`, a cell that raises is passed over.
    """
    if content.count(b"[") + content.count(b"{") > MOST_VALUES:
        raise UsageError(f"expected a notebook of at most {MOST_VALUES:,} values, found more")
    try:
        read = json.loads(content.decode("utf-8-sig"))
        version = read["nbformat"]
        if version in {1, 2, 3}:
            text = f"expected a notebook of format 4, found {version}: save it again"
            raise UsageError(text)
        cells = [
            "".join(cell["source"]).replace("\r\n", "\n").replace("\r", "\n").rstrip("\n")
            for cell in read["cells"]
            if cell["cell_type"] == "code"
        ]
    except (ValueError, RecursionError, TypeError, KeyError):
        raise UsageError("expected a notebook, found something else in the file") from None
    if not any(map(str.strip, cells)):
        raise UsageError("expected a notebook with code, found no cell of it")
    cells = [_plain(cell) for cell in cells]
    if skip:
        cells = _apart([_BEGIN, *cells])
    elif any(map(_SHOWS.search, cells)):  # what is from __future__ comes before everything
        cells.insert("from __future__ " in cells[0], _BEGIN)
    found = "\n".join(f"{cell}\n" for cell in cells).encode("utf-8", "replace")
    if len(found) > MOST_BYTES:
        raise UsageError(f"expected at most {MOST_BYTES:,} bytes of code, found more")
    return found


def _apart(cells: list[str]) -> list[str]:
    """Return cells behind the first so that each runs by itself, at the lines where it stands."""
    made, line = cells[:1], cells[0].count("\n") + 2
    for cell in cells[1:]:
        quotes = next((quote for quote in ("'''", '"""') if quote not in cell), "")
        made.append(f"_cell(globals(), {line}, r{quotes}\n{cell}\n{quotes})" if quotes else cell)
        line += made[-1].count("\n") + 2
    return made


def _plain(cell: str) -> str:
    """Return a cell with IPython's own lines as comments; a block does not become empty."""
    first = cell.lstrip().split("\n", 1)[0]
    if first.startswith("%%") and first[2:].split(" ")[0] not in _RUNS:
        return re.sub(r"(?m)^(?=.)", "# ", cell)
    return _IPYTHON.sub(_commented, cell)


def _commented(found: re.Match[str]) -> str:
    before = found.string[: found.start()]
    if before.count('"""') % 2 or before.count("'''") % 2:  # it is a line of a text
        return found[0]
    indent, line = found[1], found[2].replace("\n", "\n# ")
    return f"{indent}pass  # {line}" if indent else f"# {line}"
