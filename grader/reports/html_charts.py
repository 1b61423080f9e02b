"""Pictures as HTML: maps of arrays, bars of bytes, and curves.

Nothing in a picture is fetched or run, and no text is markup.  Each picture is given as `text` the
words that it replaces, for readers who do not see it, and as `fallback` the HTML to use if there is
nothing to draw.

Colors lie over the background of the page, light or dark, and are never the only sign: a value
below zero has a minus, bytes over the budget lie beyond a line, curves differ in strokes.
"""

from __future__ import annotations

import html
import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from itertools import accumulate, product

from grader.model.number_format import format_aligned_numbers, format_number
from grader.model.report import Bar, Bars, Curve, Grids, Panel
from grader.reports.text_layout import display_width, escape_line, truncate

# A map with more entries, rows or columns shows no numbers.
_MAX_PRINTED_ENTRIES, _MAX_PRINTED_ROWS, _MAX_PRINTED_COLUMNS = 96, 16, 12
_MAP_WIDTH = 240  # pixels of a map without numbers
_SHADES, _MAX_OPACITY = 8, 0.6  # an opacity over which both black and white can be read
_LETTER, _LINE, _GAP = 8, 24, 12  # pixels
_MAX_CELL, _MAX_TITLE = 16, 60  # letters
_MAX_POINTS = 400  # of a curve
_MIN_UNDOTTED = 12  # a curve with fewer steps has a dot at each
_MIN_LOG_RATIO = 1e3  # of the ends of a curve that is drawn over powers of ten
_COURSE = "Millions of bytes held, from the first operation to the last, forward and backward: "
_SIZE = re.compile(r"(\d[\d,]{0,30}) bytes?$")
_BOUND = re.compile(r"(?:above|below) (-?\d[\d,]{0,30}(?:\.\d+)?(?:e-?\d+)?)$")


def heat_maps(grids: Grids, text: str, fallback: str) -> str:
    """Draw the inputs without colors, yours and expected on one color scale, and the difference.

    Large arrays show no numbers, and have the fallback below the picture.
    """
    entries = grids.entries
    if entries is None or len(grids.panels) < 2:  # large, or hidden in a class
        return fallback
    *inputs, yours, expected = grids.panels
    count = math.prod(entries.shape)
    if (
        not len(entries.yours) == len(entries.expected) == count
        or min(entries.shape, default=1) < 1
    ):
        return fallback
    shape = _map_shape(entries.shape)
    values = [*entries.yours, *entries.expected]
    wrong = {*entries.wrong}
    differences = [values[i] - values[count + i] if i in wrong else 0.0 for i in range(count)]
    texts: list[str] = []
    difference_texts: list[str] = []
    has_few_lines = shape[-2] <= _MAX_PRINTED_ROWS and shape[-1] <= _MAX_PRINTED_COLUMNS
    is_printed = has_few_lines and count <= _MAX_PRINTED_ENTRIES
    if is_printed:
        texts = format_aligned_numbers(values)
        for i, number in enumerate(format_aligned_numbers(differences)):
            difference_texts.append(number if i in wrong else "")
    letters = max(map(len, texts + difference_texts), default=0)
    framed = wrong if is_printed and len(wrong) < count else set()
    scale = _scale(values)
    difference_scale = _scale(differences)
    results = ""
    for title, map_texts, map_values, map_scale, map_framed in (
        (yours.title, texts[:count], values[:count], scale, framed),
        (expected.title, texts[count:], values[count:], scale, set()),
        ("yours - expected", difference_texts, differences, difference_scale, set()),
    ):
        results += _svg(title, shape, map_texts, map_values, map_scale, map_framed, letters)
    input_maps = "".join(_input_map(panel) for panel in inputs if panel.rows)
    maps = f'<div class="maps">{input_maps}<div class="maps">{results}</div></div>'

    caption = _color_key(values, is_printed=is_printed)
    caption += f"; deepest at {format_number(scale)},"
    caption += f" in the difference at {format_number(difference_scale)}."
    caption += " What is allowed is left out of that."
    if framed:
        caption += " Framed in yours: wrong."
    figure = _figure(maps, text, caption)
    return figure if is_printed else figure + fallback


def _color_key(values: Iterable[float], *, is_printed: bool) -> str:
    """Return the meaning of the colors of a map, for its caption."""
    text = f"{_key('below')} below zero"
    if not is_printed:
        text += ", with a dash"
    text += f", {_key('above')} above it"
    if not all(map(math.isfinite, values)):
        text += f", {_key('odd')} NaN or infinity"
    return text


def _map_shape(shape: Sequence[int]) -> Sequence[int]:
    """Return a shape with at least two axes: (1, 5) for (5,), and (3, 4) for (1, 3, 4).

    From three axes on, those of length 1 are dropped if at most two others remain.
    """
    long_axes = [n for n in shape if n != 1]
    if len(long_axes) < 3 <= len(shape):
        shape = long_axes
    return (*(1,) * (2 - len(shape)), *shape)


def _input_map(panel: Panel) -> str:
    """Draw an input as its panel shows it, with its focus framed."""
    columns = max(map(len, panel.rows))
    texts: list[str] = []
    for row_texts in panel.rows:
        texts += row_texts
        texts += [""] * (columns - len(row_texts))
    framed = {row * columns + column for row, column in panel.focus}
    if len(framed) >= len(texts):
        framed = set()
    title = f"{panel.title} ({panel.note})" if panel.note else panel.title
    return _svg(title, (len(panel.rows), columns), texts, framed=framed)


def _scale(values: Iterable[float]) -> float:
    """Return the largest finite magnitude, which gets the deepest color."""
    return max((abs(value) for value in values if math.isfinite(value)), default=0.0)


def _svg(
    title: str,
    shape: Sequence[int],
    texts: Sequence[str],
    values: Sequence[float] = (),
    scale: float = 0.0,
    framed: Collection[int] = (),
    letters: int = 0,
) -> str:
    """Draw an array of two axes or more; the planes of the last two axes stand side by side.

    Args:
        title: Text above the picture.
        shape: Shape of the array.
        texts: Text of each cell, in order; none if the cells are colors only.
        values: Number of each cell, for its color; none for cells without color.
        scale: The magnitude with the deepest color.
        framed: Indices of cells with a frame.
        letters: Minimum width of a cell with text, in characters.
    """
    *leading, rows, columns = shape
    title = truncate(escape_line(title), _MAX_TITLE)
    texts = [truncate(escape_line(text), _MAX_CELL) for text in texts]
    cell_width, cell_height = _cell_size(rows, columns, texts, letters)
    planes = list(product(*map(range, leading)))
    planes_per_row = min(len(planes), max(1, _MAP_WIDTH // (cell_width * columns)))
    plane_width = cell_width * columns + _GAP
    label_height = _LINE if leading else 0
    plane_height = cell_height * rows + label_height + _GAP
    words = _text(1, 15, title)
    positions = []
    lines = dict.fromkeys(("edge", "mark", "frame"), "")
    for number, index in enumerate(planes):
        left = number % planes_per_row * plane_width + 1
        top = _LINE + number // planes_per_row * plane_height + label_height
        if index:
            words += _text(left, top - 7, f"[{', '.join(map(str, index))}]")
        lines["edge"] += _box(left, top, cell_width * columns, cell_height * rows)
        for row, column in product(range(rows), range(columns)):
            positions.append((left + column * cell_width, top + row * cell_height))
    colored = defaultdict[tuple[str, int], str](str)
    for entry, (x, y) in enumerate(positions):
        kind, shade = _color(values[entry], scale) if values else ("", 0)
        if kind:
            colored[kind, shade] += _box(x, y, cell_width, cell_height)
        if texts:
            words += _text(x + cell_width - 7, y + 16, texts[entry], ' class="number"')
        else:
            lines["mark"] += _mark(kind, x, y, cell_width, cell_height)
        if entry in framed:
            lines["frame"] += _box(x + 2, y + 2, cell_width - 4, cell_height - 4)
    width = max(planes_per_row * plane_width - _GAP, _LETTER * display_width(title)) + 2
    height = _LINE + math.ceil(len(planes) / planes_per_row) * plane_height
    size = f'width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
    paths = _paths(colored, lines)
    return f"<svg {size}><title>{html.escape(title)}</title>{paths}{words}</svg>"


def _paths(colored: Mapping[tuple[str, int], str], lines: Mapping[str, str]) -> str:
    """Return the SVG paths of colored cells (by class and shade) and of lines (by class)."""
    paths = ""
    for (kind, shade), path in colored.items():
        opacity = _MAX_OPACITY * shade / _SHADES
        paths += f'<path class="{kind}" fill-opacity="{opacity:g}" d="{path}"/>'
    for kind, path in lines.items():
        if path:
            paths += f'<path class="{kind}" d="{path}"/>'
    return paths


def _mark(kind: str, x: float, y: float, width: int, height: int) -> str:
    """Return an SVG path: a dash for a number below zero, a cross for NaN and infinities."""
    if kind == "below":
        return f"M{x + width / 4:g} {y + height / 2:g}h{width / 2:g}"
    if kind == "odd":
        return f"M{x} {y}l{width} {height}m0 -{height}l-{width} {height}"
    return ""


def _cell_size(rows: int, columns: int, texts: Sequence[str], letters: int) -> tuple[int, int]:
    """Return the width and height of a cell in pixels: room for its text, or a small square."""
    if texts:
        return _LETTER * max(letters, *map(display_width, texts)) + 14, _LINE
    side = max(3, min(_MAP_WIDTH // max(rows, columns), 18))
    return (18 if columns == 1 else side), (18 if rows == 1 else side)


def _color(value: float, scale: float) -> tuple[str, int]:
    """Return the CSS class of a value and its shade, from 1 to `_SHADES`; ("", 0) for zero."""
    if not math.isfinite(value):
        return "odd", _SHADES
    shade = math.ceil(abs(value) / scale * _SHADES) if value else 0
    if not shade:
        return "", 0
    return ("below" if value < 0 else "above"), shade


def _box(x: float, y: float, width: float, height: float) -> str:
    return f"M{x:g} {y:g}h{width:g}v{height:g}h-{width:g}z"


def _text(x: float, y: float, text: str, attribute: str = "") -> str:
    return f'<text x="{x:g}" y="{y:g}"{attribute}>{html.escape(escape_line(text))}</text>'


# -- bars -----------------------------------------------------------------------------------------


def bar_chart(bars: Sequence[Bar], exhibit: Bars, title: str, text: str, fallback: str) -> str:
    """Draw bars, and then a bar for each detail, in bytes.

    The bar "allowed" is the budget, a line through all bars.  Each detail's bar begins at the end
    of the one before, and `title` is the label of the first.  A peak also has a curve of the bytes
    held from the first operation to the last.
    """
    sizes = []
    for detail in exhibit.details:
        size = _SIZE.search(detail)
        sizes.append(float(size[1].replace(",", "")) if size else 0.0)
    ends = [0.0, *accumulate(sizes)]
    finite = [bar.value for bar in bars if math.isfinite(bar.value)]
    longest = max([ends[-1], *finite])
    if longest <= 0:
        return fallback
    budget = next((bar.value for bar in bars if bar.label == "allowed"), math.inf)
    rows = ""
    for bar in bars:
        end = min(bar.value, longest) if bar.value > 0 else 0.0
        rows += _bar_row(bar.label, bar.text, _bar_svg(0.0, end, budget, longest))
    for index, detail in enumerate(exhibit.details):
        label = "" if index else title
        rows += _bar_row(label, detail, _bar_svg(ends[index], ends[index + 1], budget, longest))
    table = f'<table class="bars">\n{rows}</table>\n'
    if len(exhibit.course) != 2:
        return table
    yours, right = (tuple(size / 1e6 for size in course) for course in exhibit.course)
    bound = f"below {budget / 1e6:.6g}"
    return table + curve_chart(Curve(yours, right), bound, text, "", _COURSE)


def _bar_row(label: str, text: str, svg: str) -> str:
    label = html.escape(escape_line(label))
    return f"<tr><th>{label}</th><td>{svg}</td><td>{html.escape(escape_line(text))}</td></tr>\n"


def _bar_svg(begin: float, end: float, budget: float, longest: float) -> str:
    """Draw a bar from `begin` to `end`, in another color beyond the budget, and the budget's line.

    All are numbers of bytes; `longest` fills the width.
    """
    drawn = ""
    for kind, left, right in (
        ("within", begin, min(end, budget)),
        ("beyond", max(begin, budget), end),
    ):
        if right > left:
            x = f"{100 * left / longest:.2f}%"
            width = f"{100 * (right - left) / longest:.2f}%"
            size = f'x="{x}" y="20%" width="{width}"'
            drawn += f'<rect class="{kind}" {size} height="60%"/>'
    if budget <= longest:
        x = f"{100 * budget / longest:.2f}%"
        drawn += f'<line class="bound" x1="{x}" x2="{x}" y1="0" y2="100%"/>'
    return f'<svg aria-hidden="true">{drawn}</svg>'


# -- curves ---------------------------------------------------------------------------------------


def curve_chart(curve: Curve, bound: str, text: str, fallback: str, about: str = "") -> str:
    """Draw yours and a right curve, and the line above or below which they have to end."""
    if not any(map(math.isfinite, (*curve.yours, *curve.expected))):
        return fallback
    curves = [("yours", "yours", curve.yours), ("right", "a right one", curve.expected)]
    if limit := _BOUND.match(bound):
        height_of_bound = float(limit[1].replace(",", ""))
        curves.append(("bound", bound, (height_of_bound, height_of_bound)))
    finite = [value for _, _, values in curves for value in values if math.isfinite(value)]
    low = min(finite)
    high = max(finite)
    is_logarithmic = low > 0 and high / low >= _MIN_LOG_RATIO

    def place(value: float) -> float:
        return math.log10(value) if is_logarithmic else value / 2  # half: no overflow

    span = place(high) - place(low) or 1.0

    def height(value: float) -> float:
        share = (place(value) - place(low)) / span
        return 96 - 92 * share

    paths = ""
    keys = []
    for kind, label, values in curves:
        has_dots = kind != "bound" and len(values) - 1 < _MIN_UNDOTTED
        path = _curve_path(values, height, has_dots=has_dots)
        paths += f'<path class="{kind}" d="{path}"/>'
        if has_dots:
            paths += f'<path class="{kind} dots" d="{path.replace("L", "M")}"/>'
        key = f"{_key(kind, 'M0 7h28')} {html.escape(escape_line(label))}"
        if kind != "bound" and values:
            key += f", ends at {format_number(values[-1])}"
        keys.append(key)
    caption = about + "; ".join(keys)
    if is_logarithmic:
        caption += "; upward in powers of ten"
    last_step = max(len(curve.yours), len(curve.expected)) - 1
    first, last = ("begin", "end") if about else ("step 0", f"{last_step:,}")
    plot = (
        f'<div class="plot"><div><span>{format_number(high)}</span>'
        f"<span>{format_number(low)}</span></div>"
        f'<svg viewBox="0 0 100 100" preserveAspectRatio="none">{paths}</svg>'
        f"<i></i><div><span>{first}</span><span>{last}</span></div></div>"
    )
    return _figure(plot, text, caption) + fallback


def _curve_path(
    values: Sequence[float], height: Callable[[float], float], *, has_dots: bool
) -> str:
    """Return the SVG path of a curve, with gaps at values that are not finite."""
    last = max(len(values) - 1, 1)
    path = ""
    pen = "M"
    for step in spread_steps(last, _MAX_POINTS):
        if step >= len(values) or not math.isfinite(values[step]):
            pen = "M"
            continue
        path += f"{pen}{100 * step / last:.4g} {height(values[step]):.4g}"
        if pen == "M" or has_dots:
            path += "h0"
        pen = "L"
    return path


def spread_steps(last: int, intervals: int) -> list[int]:
    """Return about equally spaced steps, 0 and `last` among them: [0, 2, 5, 8, 10] for 10 and 4."""
    return sorted({round(number * last / intervals) for number in range(intervals + 1)})


def _key(kind: str, path: str = "M1 1h26v12h-26z") -> str:
    """Return a small sample of a color or a line, for a caption."""
    opacity = f' fill-opacity="{_MAX_OPACITY}"'
    return f'<svg class="key" aria-hidden="true"><path class="{kind}"{opacity} d="{path}"/></svg>'


def _figure(drawing: str, text: str, caption: str) -> str:
    label = html.escape(" ".join(text.split()))
    picture = f'<div role="img" aria-label="{label}">{drawing}</div>'
    return f"<figure>\n{picture}\n<figcaption>{caption}</figcaption></figure>\n"
