"""Style: a tutorial of FlashAttention 2: tiles of queries and keys, divided once at the end."""

import math

import numpy as np


def attend(q, k, v, block):
    seq_q, head_dim = q.shape
    seq_k = k.shape[0]
    assert seq_k % block == 0
    out = np.zeros_like(q)
    lse = np.zeros(seq_q)
    for i in range(seq_q):
        q_i = q[i : i + 1] / math.sqrt(head_dim)
        acc = np.zeros((1, head_dim))
        l_i = 0.0
        m_i = float("-inf")
        for j in range(seq_k // block):
            k_j = k[j * block : (j + 1) * block]
            v_j = v[j * block : (j + 1) * block]
            s = q_i @ k_j.T
            m_ij = max(m_i, s.max())
            p = np.exp(s - m_ij)
            alpha = math.exp(m_i - m_ij)
            l_i = l_i * alpha + p.sum()
            acc = acc * alpha + p @ v_j
            m_i = m_ij
        out[i] = acc / l_i
        lse[i] = m_i + math.log(l_i)
    return out, lse
