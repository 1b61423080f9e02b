"""A hook is registered on the output, as if it always had a graph."""


def swiglu_mlp(x, w_gate, w_up, w_down):
    y = SwiGLUFn.apply(x, w_gate, w_up, w_down)
    y.register_hook(lambda grad: grad)
    return y
