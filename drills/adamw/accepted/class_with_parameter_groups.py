"""As a port of a framework's class: defaults in a dict, the state by parameter, eps before the correction."""

import math

import numpy as np


class AdamW:
    def __init__(self, params, lr=1e-3, betas=(0.9, 0.999), eps=1e-8, weight_decay=1e-2):
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        defaults = dict(lr=lr, betas=betas, eps=eps, weight_decay=weight_decay)
        self.param_groups = [{"params": list(params), **defaults}]
        self.state = {}

    def step(self, grads):
        for group in self.param_groups:
            beta1, beta2 = group["betas"]
            for i, (p, grad) in enumerate(zip(group["params"], grads)):
                if grad is None:
                    continue
                state = self.state.setdefault(i, {})
                if len(state) == 0:
                    state["step"] = 0
                    state["exp_avg"] = np.zeros_like(p)
                    state["exp_avg_sq"] = np.zeros_like(p)
                exp_avg, exp_avg_sq = state["exp_avg"], state["exp_avg_sq"]
                state["step"] += 1

                # Decay the first and second moment running average coefficient
                exp_avg *= beta1
                exp_avg += (1.0 - beta1) * grad
                exp_avg_sq *= beta2
                exp_avg_sq += (1.0 - beta2) * grad * grad
                denom = np.sqrt(exp_avg_sq) + group["eps"]

                step_size = group["lr"]
                bias_correction1 = 1.0 - beta1 ** state["step"]
                bias_correction2 = 1.0 - beta2 ** state["step"]
                step_size = step_size * math.sqrt(bias_correction2) / bias_correction1
                p -= step_size * exp_avg / denom

                # Weight decay last, on the updated weight
                if group["weight_decay"] > 0.0:
                    p -= group["lr"] * group["weight_decay"] * p
        return group["params"]


def init(params):
    return AdamW([])


def step(params, grads, state, lr, beta1=0.9, beta2=0.999, eps=1e-8, decay=0.01):
    group = state.param_groups[0]
    group.update(params=[p.copy() for p in params], lr=lr, betas=(beta1, beta2), eps=eps)
    group["weight_decay"] = decay
    return state.step(grads), state
