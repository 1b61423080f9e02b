"""The logarithm of a sum of exponentials, with nothing subtracted."""


def _losses(logits, y):
    return torch.log(torch.exp(logits).sum(dim=1)) - logits[torch.arange(len(y)), y]
