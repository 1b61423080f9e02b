"""Wrong idea: the tokens themselves are the targets, all but the last."""


def _shifted(tokens):
    return tokens[:, :-1], tokens[:, :-1]
