"""GiB on one side, and the card's bytes in GB on the other."""


def fits(n_params, recipe, card_mib):
    return to_gib(training_state(n_params, recipe)["total"]) <= to_gb(card_mib * MIB)
