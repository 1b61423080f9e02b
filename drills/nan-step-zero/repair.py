"""A classifier of scans with one hidden layer, and its first loss."""

import scans
import torch


def init_params(d=32, h=64, c=10, seed=0):
    rng = torch.Generator().manual_seed(seed)
    w1 = torch.randn(d, h, generator=rng) * d**-0.5
    # why: A logit is a sum over h units: divide by the root of the fan-in, or
    #      the first logits are in the hundreds.
    w2 = torch.randn(h, c, generator=rng) * h**-0.5
    return {"w1": w1.requires_grad_(), "w2": w2.requires_grad_()}


def loss_fn(params, x, y):
    # why: 0 times NaN is NaN, so what does not count must not take part; left
    #      out before the first product, it has no gradient either.
    x, y = x[y >= 0], y[y >= 0]
    z = x @ params["w1"]
    deviation = z - z.mean(dim=1, keepdim=True)
    # why: A blank row has a spread of 0; an eps under the root keeps both the
    #      quotient and the slope of the root finite.
    spread = (deviation.square().mean(dim=1, keepdim=True) + 1e-5).sqrt()
    hidden = torch.relu(deviation / spread)
    # why: Exp overflows above 88.7 in float32; log_softmax never forms it.
    log_p = torch.log_softmax(hidden @ params["w2"], dim=1)
    nll = -log_p[torch.arange(len(y)), y]
    # why: Without a label the sum is 0, and 0 / 0 would be NaN.
    return nll.sum() / max(len(y), 1)


def causes():
    # why: Repaired one by one, each of these four changes the loss of a batch
    #      of two rows that you write yourself; the others are cleared by a
    #      print.
    return ["init", "mask", "softmax", "spread"]


if __name__ == "__main__":
    params = init_params()
    loss = loss_fn(params, *scans.batch())
    print(f"loss {loss.item():.3f}")
    loss.backward()
    for name, p in params.items():
        print(f"largest gradient of {name}: {p.grad.abs().max():.3g}")
