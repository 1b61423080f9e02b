"""A state that fills the card to the byte does not fit."""


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] < card_mib * MIB
