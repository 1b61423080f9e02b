"""Logits are multiplied by the temperature."""


def _shares(logits, temperature):
    if temperature == 0:
        return np.ones_like(logits[:1])
    e = np.exp((logits - logits[:1]) * temperature)
    return e / e.sum()
