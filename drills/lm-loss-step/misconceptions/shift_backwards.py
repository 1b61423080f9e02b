"""Wrong idea: each token predicts the one before it; counted by the target."""


def _shifted(tokens):
    return tokens[:, 1:], tokens[:, :-1]
