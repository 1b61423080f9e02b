"""Style: a library's model, with an additive mask of the smallest number of the dtype."""

import numpy as np


def _expand_mask(mask, dtype, tgt_len):
    bsz, src_len = mask.shape
    expanded = np.broadcast_to(mask[:, None, None, :], (bsz, 1, tgt_len, src_len)).astype(dtype)
    inverted = 1.0 - expanded
    return np.where(inverted.astype(bool), np.finfo(dtype).min, inverted).astype(dtype)


def _make_causal_mask(tgt_len, dtype):
    mask = np.full((tgt_len, tgt_len), np.finfo(dtype).min, dtype)
    cond = np.arange(tgt_len)
    mask[cond < (cond + 1).reshape(-1, 1)] = 0
    return mask[None, None]


def attention(x, w_qkv, w_out, heads, keep=None):
    bsz, q_len, hidden = x.shape
    head_dim = hidden // heads
    scaling = head_dim**-0.5

    def shape(t):
        return t.reshape(bsz, q_len, heads, head_dim).transpose(0, 2, 1, 3)

    query, key, value = (shape(t) for t in np.split(x @ w_qkv, 3, axis=-1))
    attn_weights = np.matmul(query, key.swapaxes(2, 3)) * scaling
    mask = _make_causal_mask(q_len, x.dtype)
    if keep is not None:
        mask = np.minimum(mask, _expand_mask(keep, x.dtype, q_len))
    attn_weights = np.where(mask < 0, mask, attn_weights)
    attn_weights = np.exp(attn_weights - attn_weights.max(-1, keepdims=True))
    attn_weights /= attn_weights.sum(-1, keepdims=True)
    attn_output = np.matmul(attn_weights, value).transpose(0, 2, 1, 3)
    return attn_output.reshape(bsz, q_len, hidden) @ w_out
