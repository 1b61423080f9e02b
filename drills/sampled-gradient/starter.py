"""The gradient of an expected reward, estimated from draws."""

import numpy as np


def softmax(logits):
    e = np.exp(logits - logits.max())
    return e / e.sum()


def estimate(logits, actions, rewards):
    """The derivative of the log of what was drawn, times how good that was."""
    score = np.eye(len(logits))[actions] - softmax(logits)
    advantages = rewards - rewards.mean()
    return (advantages[:, None] * score).mean(axis=0)
