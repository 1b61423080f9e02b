"""Style: a tutorial of the first FlashAttention, whose output is normalized after every block."""

import numpy as np

NEG_INF = -1e10


def attend(Q, K, V, block):
    N, d = Q.shape
    scale = 1 / np.sqrt(d)
    O = np.zeros_like(Q)
    l = np.zeros((N, 1))
    m = np.full((N, 1), NEG_INF)
    Kj_blocks = np.split(K, len(K) // block)
    Vj_blocks = np.split(V, len(V) // block)
    for Kj, Vj in zip(Kj_blocks, Vj_blocks):
        S_ij = scale * np.einsum("id,jd->ij", Q, Kj)
        m_block = np.max(S_ij, axis=-1, keepdims=True)
        P_ij = np.exp(S_ij - m_block)
        l_block = np.sum(P_ij, axis=-1, keepdims=True)
        m_new = np.maximum(m, m_block)
        l_new = np.exp(m - m_new) * l + np.exp(m_block - m_new) * l_block
        O = (l / l_new) * np.exp(m - m_new) * O
        O += (np.exp(m_block - m_new) / l_new) * (P_ij @ Vj)
        l, m = l_new, m_new
    return O, (m + np.log(l))[:, 0]
