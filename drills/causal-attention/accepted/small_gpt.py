"""Style: a small GPT's causal self-attention with a registered mask."""

import math

import numpy as np


class CausalSelfAttention:
    def __init__(self, c_attn, c_proj, n_head, block_size):
        self.c_attn, self.c_proj, self.n_head = c_attn, c_proj, n_head
        self.bias = np.tril(np.ones((block_size, block_size)))[None, None]

    def __call__(self, x):
        B, T, C = x.shape
        q, k, v = np.split(x @ self.c_attn, 3, axis=2)
        k = k.reshape(B, T, self.n_head, C // self.n_head).swapaxes(1, 2)
        q = q.reshape(B, T, self.n_head, C // self.n_head).swapaxes(1, 2)
        v = v.reshape(B, T, self.n_head, C // self.n_head).swapaxes(1, 2)
        att = (q @ k.swapaxes(-2, -1)) * (1.0 / math.sqrt(k.shape[-1]))
        att = np.where(self.bias[:, :, :T, :T] == 0, float("-inf"), att)
        att = softmax(att)
        y = (att @ v).swapaxes(1, 2).reshape(B, T, C)
        return y @ self.c_proj


def softmax(x):
    exp_x = np.exp(x - np.max(x, axis=-1, keepdims=True))
    return exp_x / np.sum(exp_x, axis=-1, keepdims=True)


def attention(x, w_qkv, w_out, heads):
    return CausalSelfAttention(w_qkv, w_out, heads, block_size=1024)(x)
