"""Style: a translation of loops in C, with the pre-softmax and post-softmax arrays kept."""

import math

import numpy as np


def attention_forward(inp_q, inp_k, inp_v, causal=False):
    B, T, hs = inp_q.shape
    S = inp_k.shape[1]
    scale = 1.0 / math.sqrt(hs)
    preatt = np.zeros((B, T, S))
    att = np.zeros((B, T, S))
    out = np.zeros((B, T, inp_v.shape[2]))
    for b in range(B):
        for t in range(T):
            last = t + 1 if causal else S
            maxval = -10000.0
            for t2 in range(last):
                val = float(np.dot(inp_q[b, t], inp_k[b, t2])) * scale
                maxval = max(maxval, val)
                preatt[b, t, t2] = val
            expsum = 0.0
            for t2 in range(last):
                att[b, t, t2] = math.exp(preatt[b, t, t2] - maxval)
                expsum += att[b, t, t2]
            expsum_inv = 0.0 if expsum == 0.0 else 1.0 / expsum
            for t2 in range(last):
                att[b, t, t2] *= expsum_inv
                out[b, t] += att[b, t, t2] * inp_v[b, t2]
    return out, (inp_q, inp_k, inp_v, att, scale)


def attention_backward(dout, ctx):
    q, k, v, att, scale = ctx
    dq, dk, dv = np.zeros_like(q), np.zeros_like(k), np.zeros_like(v)
    B, T, S = att.shape
    for b in range(B):
        for t in range(T):
            datt = np.zeros(S)
            for t2 in range(S):
                datt[t2] += np.dot(v[b, t2], dout[b, t])
                dv[b, t2] += att[b, t, t2] * dout[b, t]
            dpreatt = np.zeros(S)
            for t2 in range(S):
                for t3 in range(S):
                    indicator = 1.0 if t2 == t3 else 0.0
                    local = att[b, t, t2] * (indicator - att[b, t, t3])
                    dpreatt[t3] += local * datt[t2]
            for t2 in range(S):
                dq[b, t] += k[b, t2] * dpreatt[t2] * scale
                dk[b, t2] += q[b, t] * dpreatt[t2] * scale
    return dq, dk, dv
