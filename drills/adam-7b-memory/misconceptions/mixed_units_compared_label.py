"""A MiB of nvidia-smi is a million bytes."""


def fits(n_params, recipe, card_mib):
    return training_state(n_params, recipe)["total"] <= card_mib * 10**6
