"""Keeps ordinary autograd and packs what it saves with saved_tensors_hooks."""

import torch
import torch.nn.functional as F


def swiglu_mlp(x, w_gate, w_up, w_down):
    def pack(t):
        return ("kept", t) if t.untyped_storage().data_ptr() in known else ("sunk", t.cpu())

    known = {t.untyped_storage().data_ptr() for t in (x, w_gate, w_up, w_down)}
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda packed: packed[1]):
        return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()
