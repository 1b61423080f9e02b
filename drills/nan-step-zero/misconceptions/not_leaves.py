"""The weights are scaled after requires_grad was set."""


def _drawn(rows, columns, rng):
    return torch.randn(rows, columns, generator=rng).requires_grad_() / math.sqrt(rows)
