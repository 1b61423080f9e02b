"""Style: a fused linear cross-entropy that makes the gradients in its forward pass."""

import numpy as np


class Context:
    def save_for_backward(self, *arrays):
        self.saved = arrays


def loss_forward(_input, weight, target, chunk, ignore_index=-100):
    ctx = Context()
    BT = _input.shape[0]
    num_chunks = (BT + chunk - 1) // chunk
    grad_input = np.zeros_like(_input)
    grad_weight = np.zeros_like(weight)
    loss_1d = np.zeros(BT, dtype=np.float32 if _input.dtype == np.float32 else np.float64)
    n_non_ignore = (target != ignore_index).sum().item()
    for chunk_id in range(num_chunks):
        start_idx = chunk_id * chunk
        end_idx = min((chunk_id + 1) * chunk, BT)
        _input_chunk = _input[start_idx:end_idx]
        logits_chunk = _input_chunk @ weight.T
        target_chunk = target[start_idx:end_idx]
        m = logits_chunk.max(axis=-1)
        d = np.exp(logits_chunk - m[:, None]).sum(axis=-1)
        index = np.arange(len(target_chunk))
        loss_1d[start_idx:end_idx] = m + np.log(d) - logits_chunk[index, target_chunk]
        grad_logits = np.exp(logits_chunk - m[:, None]) / (d[:, None] * n_non_ignore)
        grad_logits[index, target_chunk] -= 1 / n_non_ignore
        grad_input[start_idx:end_idx] = grad_logits @ weight
        grad_weight += grad_logits.T @ _input_chunk
    ctx.save_for_backward(grad_input, grad_weight)
    return loss_1d.sum() / n_non_ignore, ctx


def loss_backward(grad_output, ctx):
    grad_input, grad_weight = ctx.saved
    if grad_output != 1.0:
        grad_input = grad_input * grad_output
        grad_weight = grad_weight * grad_output
    return grad_input, grad_weight
