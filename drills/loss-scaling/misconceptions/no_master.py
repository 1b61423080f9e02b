"""What comes back is the float16 weights, in float32."""


def _moved(p, g, lr):
    return (p - lr * g).astype(np.float16).astype(p.dtype)
