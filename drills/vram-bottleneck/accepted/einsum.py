"""Every product is an einsum over named axes."""

import torch
from torch import einsum, sigmoid


class EinsumSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        gate = einsum("...d,fd->...f", x, w_gate)
        up = einsum("...d,fd->...f", x, w_up)
        return einsum("...f,df->...d", gate * sigmoid(gate) * up, w_down)

    @staticmethod
    def backward(ctx, dy):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        shape = x.shape
        x, dy = x.reshape(-1, shape[-1]), dy.reshape(-1, shape[-1])
        gate = einsum("nd,fd->nf", x, w_gate)
        up = einsum("nd,fd->nf", x, w_up)
        s = sigmoid(gate)
        dw_down = einsum("nd,nf->df", dy, gate * s * up)
        dh = einsum("nd,df->nf", dy, w_down)
        d_gate = dh * up * s * (1 + gate * (1 - s))
        d_up = dh * gate * s
        dx = einsum("nf,fd->nd", d_gate, w_gate) + einsum("nf,fd->nd", d_up, w_up)
        dw_gate = einsum("nf,nd->fd", d_gate, x)
        dw_up = einsum("nf,nd->fd", d_up, x)
        return dx.reshape(shape), dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    return EinsumSwiGLU.apply(x, w_gate, w_up, w_down)
