"""Where no row counts, 0 is divided by 0."""


def _count(rows):
    return rows.sum(dtype=float)
