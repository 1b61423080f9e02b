"""GB on one side, and the MiB of nvidia-smi over 1024 on the other."""


def fits(n_params, recipe, card_mib):
    return to_gb(training_state(n_params, recipe)["total"]) <= card_mib / 1024
