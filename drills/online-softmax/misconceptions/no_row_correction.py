"""The gradient of the scores is the weights times that of the weights."""


def _grad_scores(weights, grad_weights, correction):
    return weights * grad_weights
