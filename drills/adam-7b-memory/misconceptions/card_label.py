"""A MiB of nvidia-smi is a million bytes."""


def _usable(card_mib, headroom):
    return (1 - headroom) * card_mib * 10**6
