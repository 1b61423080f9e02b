# %% no-grads
# killed_by: parts
"""You left the gradients out."""

def ledger(n):
    return {"weights": 2 * n, "grads": 0, "total": 2 * n}
