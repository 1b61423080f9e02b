"""silu is applied to the up-projection, and the gate is left linear."""


def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLUFn.apply(x, w_up, w_gate, w_down)
