"""Play a script of operations on a cache, as a server would, and write down what comes of each."""

import numpy as np


def rows_of(tokens, width):
    """Return the rows of tokens (n, width): like keys, each depends on all tokens up to its own."""
    state, rows = 0, np.zeros((len(tokens), width))
    for at, token in enumerate(tokens):
        state = (31 * state + 7 * token + 1) % 997
        rows[at] = state + 1000 * np.arange(width)
    return rows


def play(_program, cache, script, width, frees):
    """Return what comes of every operation of a script; whole numbers make up a script, too.

    Operations are separated by semicolons: `new a`, `a + 5 6` (append tokens), `fork a b` (b goes
    on from a), `free a`, `read a`, `start a 5 6 7`, and `rest a`, which appends those tokens of a's
    last start that were not found.

    Returns:
        After each operation the rows of all sequences, by their names; the number of blocks in use;
        and how it ended: 'done', 'found 4', or the exception that was raised.
    """
    if not isinstance(script, str):
        script = _script(script, frees)
    numbers, texts, wanted = {}, {}, {}
    reads, in_use, outcomes = {}, [], []
    for place, operation in enumerate(script.split(";"), 1):
        said = _do(cache, operation.split(), width, numbers, texts, wanted)
        alive = {name: _read(cache, numbers[name]) for name in texts}
        reads[f"{place}: {operation.strip()}"] = alive
        in_use.append(int(cache.in_use()))
        outcomes.append(f"{operation.strip()}: {said}")
    return reads, in_use, outcomes


def _read(cache, number):
    rows = cache.read(number)
    copy = np.array(rows, dtype=float)
    if isinstance(rows, np.ndarray) and rows.flags.writeable:
        rows += 0.5  # it is an array of its own, so nobody minds
    return copy


def _do(cache, words, width, numbers, texts, wanted):
    """Carry out one operation, and return how it ended."""
    if words[0] == "new":
        numbers[words[1]], texts[words[1]] = cache.new(), []
        return "done"
    if words[0] == "start":
        tokens = [int(t) for t in words[2:]]
        number, n = cache.start(list(tokens))
        numbers[words[1]], texts[words[1]], wanted[words[1]] = number, tokens[:n], tokens[n:]
        return f"found {n}"
    name = words[0] if words[1] == "+" else words[1]
    try:
        if words[0] == "fork":
            numbers[words[2]] = cache.fork(numbers[name])
            texts[words[2]] = list(texts.get(name, []))
        elif words[0] == "free":
            cache.free(numbers[name])
            texts.pop(name, None)
        elif words[0] == "read":
            cache.read(numbers[name])
        else:
            more = wanted[name] if words[0] == "rest" else [int(t) for t in words[2:]]
            whole = [*texts.get(name, []), *more]
            rows = rows_of(whole, width)[len(whole) - len(more) :]
            try:
                cache.append(numbers[name], list(more), rows)
            finally:
                rows += 0.25  # the caller's array is used for other rows next
            if name in texts:
                texts[name] = whole
    except (KeyError, MemoryError, IndexError) as error:
        if isinstance(error, KeyError) and name in texts:
            raise
        return type(error).__name__
    return "done"


def _script(codes, frees):
    """Return a script in which every number decides about one operation.

    Sequences are freed if `frees` is true; if it is "starts", they are begun with known texts.
    """
    operations, alive, texts = ["new s0", "s0 + 1 2"], ["s0"], {"s0": ["1", "2"]}
    begun = 1
    for code in (int(c) for c in codes):
        what, rest = code % 8, code // 8
        name = alive[rest % len(alive)]
        if what < 2 and len(alive) < 5:
            operations.append(f"fork {name} s{begun}")
            texts[f"s{begun}"] = list(texts[name])
        elif what == 2 and len(alive) < 5:
            operations.append(f"new s{begun}")
            texts[f"s{begun}"] = []
        elif what == 3 and frees is True and len(alive) > 1:
            operations.append(f"free {name}")
            alive.remove(name)
            continue
        elif what == 4 and frees == "starts" and len(alive) < 8:
            known = texts[name][: 1 + rest // 5 % 9]
            texts[f"s{begun}"] = [*known, str(rest % 9)]
            operations += [f"start s{begun} {' '.join(texts[f's{begun}'])}", f"rest s{begun}"]
        else:
            tokens = [str((rest + i) % 9) for i in range(1 + rest // 5 % 4)]
            operations.append(f"{name} + {' '.join(tokens)}")
            texts[name] += tokens
            continue
        alive.append(f"s{begun}")
        begun += 1
    return "; ".join(operations)
