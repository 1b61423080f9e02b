"""Style: x and y cut from the batch as in a small GPT, one-hot matrices for the embedding."""

import numpy as np


def get_batch(data):
    return data[:, :-1], data[:, 1:]


def cross_entropy(logits, targets, ignore_index):
    mask = (targets != ignore_index).astype(logits.dtype)
    logits = logits - logits.max(-1, keepdims=True)
    logsumexp = np.log(np.exp(logits).sum(-1))
    picked = np.take_along_axis(logits, targets[:, None], -1)[:, 0]
    n = mask.sum()
    loss = ((logsumexp - picked) * mask).sum() / n
    probs = np.exp(logits - logsumexp[:, None])
    onehot = np.eye(logits.shape[-1])[targets]
    return loss, (probs - onehot) * mask[:, None] / n


def loss_and_grad(wte, lm_head, idx, pad=0):
    x, y = get_batch(idx)
    B, T = x.shape
    onehot_x = np.eye(len(wte))[x].reshape(B * T, -1)
    tok_emb = onehot_x @ wte
    loss, dlogits = cross_entropy(tok_emb @ lm_head, y.reshape(B * T), ignore_index=pad)
    dtok_emb = dlogits @ lm_head.T
    return float(loss), onehot_x.T @ dtok_emb, tok_emb.T @ dlogits
