"""Neighbors are paired; the table holds all angles, and then all of them again, as for halves."""


def _turned(x, cos, sin):
    turning = x[..., : 2 * cos.shape[-1]]
    partner = np.stack([-turning[..., 1::2], turning[..., ::2]], axis=-1).reshape(turning.shape)
    cos, sin = np.concatenate([cos, cos], axis=-1), np.concatenate([sin, sin], axis=-1)
    return np.concatenate([turning * cos + partner * sin, x[..., turning.shape[-1] :]], axis=-1)
