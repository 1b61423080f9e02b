"""A scale that numpy made turns the gradients of queries and keys into float64."""


_kept = attention_backward


def attention_backward(grad_o, ctx):
    grad_q, grad_k, grad_v = _kept(grad_o, ctx)
    return grad_q.astype(np.float64), grad_k.astype(np.float64), grad_v
