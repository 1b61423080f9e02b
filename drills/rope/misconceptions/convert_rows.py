"""The rows of a matrix are permuted, and its columns stay."""

_columns = convert


def convert(w, heads):
    return _columns(w.T, heads).T.copy()
