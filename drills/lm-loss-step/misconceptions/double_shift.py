"""Wrong idea: the loss shifts once more, so position t predicts token t + 2."""


def _shifted(tokens):
    return tokens[:, :-2], tokens[:, 2:]
