"""Wrong: the reshape around the Function copies a transposed x, and the copy stays alive."""

import torch
import torch.nn.functional as F


class MatrixSwiGLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        assert x.dim() == 2
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        return torch.mm(F.silu(torch.mm(x, w_gate.t())) * torch.mm(x, w_up.t()), w_down.t())

    @staticmethod
    def backward(ctx, dy):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        gate = torch.mm(x, w_gate.t())
        up = torch.mm(x, w_up.t())
        sig = torch.sigmoid(gate)
        silu = gate * sig
        d_down = torch.mm(dy.t(), silu * up)
        d_hidden = torch.mm(dy, w_down)
        d_up = d_hidden * silu
        d_gate = d_hidden * up * (sig + silu * (1 - sig))
        dx = torch.mm(d_gate, w_gate) + torch.mm(d_up, w_up)
        return dx, torch.mm(d_gate.t(), x), torch.mm(d_up.t(), x), d_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    y = MatrixSwiGLU.apply(x.reshape(-1, x.shape[-1]), w_gate, w_up, w_down)
    return y.reshape(x.shape)
