"""As in a well-known course: a function with a mode and a dict of parameters, behind the class."""

import numpy as np


def batchnorm_forward(x, gamma, beta, bn_param):
    mode = bn_param["mode"]
    eps = bn_param.get("eps", 1e-5)
    momentum = bn_param.get("momentum", 0.9)
    N, D = x.shape
    running_mean = bn_param.get("running_mean", np.zeros(D, dtype=x.dtype))
    running_var = bn_param.get("running_var", np.zeros(D, dtype=x.dtype))

    if mode == "train":
        sample_mean = np.mean(x, axis=0)
        sample_var = np.var(x, axis=0)
        x_hat = (x - sample_mean) / np.sqrt(sample_var + eps)
        out = gamma * x_hat + beta
        running_mean = momentum * running_mean + (1 - momentum) * sample_mean
        running_var = momentum * running_var + (1 - momentum) * sample_var
    elif mode == "test":
        x_hat = (x - running_mean) / np.sqrt(running_var + eps)
        out = gamma * x_hat + beta
    else:
        raise ValueError(f'Invalid forward batchnorm mode "{mode}"')

    bn_param["running_mean"] = running_mean
    bn_param["running_var"] = running_var
    return out


class BatchNorm1d:
    def __init__(self, gamma, beta, eps=1e-5, momentum=0.1):
        assert eps > 0
        self.gamma, self.beta = gamma, beta
        self.bn_param = {"mode": "train", "eps": eps, "momentum": 1 - momentum}
        self.bn_param["running_mean"] = np.zeros(len(gamma))
        self.bn_param["running_var"] = np.ones(len(gamma))

    training = property(
        lambda self: self.bn_param["mode"] == "train",
        lambda self, on: self.bn_param.update(mode="train" if on else "test"),
    )
    running_mean = property(
        lambda self: self.bn_param["running_mean"],
        lambda self, new: self.bn_param.update(running_mean=new),
    )
    running_var = property(
        lambda self: self.bn_param["running_var"],
        lambda self, new: self.bn_param.update(running_var=new),
    )

    def forward(self, x):
        return batchnorm_forward(x, self.gamma, self.beta, self.bn_param)

    def backward(self, grad_y):
        raise NotImplementedError
