def _over_rows(values):
    return values.sum(axis=0)
