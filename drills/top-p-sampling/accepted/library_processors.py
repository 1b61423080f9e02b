"""Style: a library's logits processors, one class per setting, on an ascending sort."""

import numpy as np


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


class TemperatureLogitsWarper:
    def __init__(self, temperature):
        self.temperature = temperature

    def __call__(self, scores):
        return scores / self.temperature


class TopKLogitsWarper:
    def __init__(self, top_k, filter_value=-float("Inf")):
        self.top_k, self.filter_value = top_k, filter_value

    def __call__(self, scores):
        top_k = min(self.top_k, scores.shape[-1])
        indices_to_remove = scores < np.sort(scores, axis=-1)[..., -top_k, None]
        return np.where(indices_to_remove, self.filter_value, scores)


class TopPLogitsWarper:
    def __init__(self, top_p, filter_value=-float("Inf"), min_tokens_to_keep=1):
        self.top_p, self.filter_value = top_p, filter_value
        self.min_tokens_to_keep = min_tokens_to_keep

    def __call__(self, scores):
        sorted_indices = np.argsort(scores, axis=-1)
        sorted_logits = np.take_along_axis(scores, sorted_indices, -1)
        cumulative_probs = softmax(sorted_logits).cumsum(axis=-1)
        sorted_indices_to_remove = cumulative_probs <= (1 - self.top_p)
        sorted_indices_to_remove[..., -self.min_tokens_to_keep :] = False
        indices_to_remove = np.zeros_like(sorted_indices_to_remove)
        np.put_along_axis(indices_to_remove, sorted_indices, sorted_indices_to_remove, -1)
        return np.where(indices_to_remove, self.filter_value, scores)


def probs(logits, temperature=1.0, top_k=0, top_p=1.0):
    processors = [TemperatureLogitsWarper(temperature)]
    if top_k > 0:
        processors.append(TopKLogitsWarper(top_k))
    if top_p < 1.0:
        processors.append(TopPLogitsWarper(top_p))
    for processor in processors:
        logits = processor(logits)
    return softmax(logits)


def sample(logits, u, temperature=1.0, top_k=0, top_p=1.0):
    cdf = probs(logits, temperature, top_k, top_p).cumsum(-1)
    return (cdf < u[:, None]).sum(-1)
