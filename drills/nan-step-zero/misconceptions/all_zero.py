"""Both weights are 0."""


def init_params(d=32, h=64, c=10, seed=0):
    return {
        "w1": torch.zeros(d, h).requires_grad_(),
        "w2": torch.zeros(h, c).requires_grad_(),
    }
