def ledger(n):
    return {"weights": 2 * n, "grads": 0, "total": 2 * n}
