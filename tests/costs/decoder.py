"""The decoder of `grader.costs.transformer` in torch, on which the tests count."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

EPS = 1e-6
Settings = dict[str, Any]


class _FusedNorm(torch.autograd.Function):
    """RMSNorm like the fused CUDA kernel: it keeps its input and one number per token."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor) -> Tensor:
        inverse = torch.rsqrt(x.float().square().mean(-1, keepdim=True) + EPS)
        ctx.save_for_backward(x, weight, inverse)
        return (x.float() * inverse).to(x.dtype) * weight

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor, Tensor]:
        x, weight, inverse = ctx.saved_tensors
        normed = x.float() * inverse
        scaled = (grads[0] * weight).float()
        along = (scaled * normed).mean(-1, keepdim=True)
        down = tuple(range(x.ndim - 1))
        grad_weight = (grads[0].float() * normed).sum(down).to(weight.dtype)
        return ((scaled - along * normed) * inverse).to(x.dtype), grad_weight


class Norm(nn.Module):
    """RMSNorm with a gain."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Any:
        fused: Any = _FusedNorm.apply
        return fused(x, self.weight)


def line(fan_in: int, fan_out: int) -> nn.Linear:
    """Return a projection without a bias."""
    return nn.Linear(fan_in, fan_out, bias=False)


class Layer(nn.Module):
    """Attention, then the MLP, each behind a norm and added to the stream."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        width, ffn = s["width"], s["ffn"]
        self.heads, self.kv_heads, self.head = s["heads"], s["kv_heads"], width // s["heads"]
        self.fused, self.again = s["attention"] == "fused", s["recompute"] == "attention"
        self.norm_1, self.norm_2 = Norm(width), Norm(width)
        self.query, self.output = line(width, width), line(width, width)
        self.key, self.value = (line(width, self.kv_heads * self.head) for _ in range(2))
        self.gate = line(width, ffn) if s["mlp"] == "gated" else None
        self.up, self.down = line(width, ffn), line(ffn, width)

    def forward(self, x: Tensor, turn: tuple[Tensor, Tensor], hidden: Tensor) -> Tensor:
        normed = self.norm_1(x)
        q = rotated(self.query(normed).unflatten(-1, (self.heads, -1)).transpose(1, 2), *turn)
        k = rotated(self.key(normed).unflatten(-1, (self.kv_heads, -1)).transpose(1, 2), *turn)
        v = self.value(normed).unflatten(-1, (self.kv_heads, -1)).transpose(1, 2)
        if self.again:
            mixed = checkpoint(self.core, q, k, v, hidden, use_reentrant=False)
        else:
            mixed = self.core(q, k, v, hidden)
        x = x + self.output(mixed)
        normed = self.norm_2(x)
        if self.gate is None:
            grown = functional.gelu(self.up(normed))
        else:
            grown = functional.silu(self.gate(normed)) * self.up(normed)
        return x + torch.as_tensor(self.down(grown))

    def core(self, q: Tensor, k: Tensor, v: Tensor, hidden: Tensor) -> Tensor:
        """Return averages of the values by attention: (batch, seq, width)."""
        batch, _, seq, _ = q.shape
        if self.fused:
            grouped: dict[str, Any] = {}
            if self.kv_heads < self.heads:
                grouped["enable_gqa"] = True  # torch 2.5
            mixed = functional.scaled_dot_product_attention(q, k, v, is_causal=True, **grouped)
            return torch.as_tensor(mixed.transpose(1, 2).reshape(batch, seq, -1))
        groups = q.reshape(batch, self.kv_heads, -1, self.head)  # the queries of a key together
        scores = (groups @ k.transpose(-1, -2)) / self.head**0.5
        scores = scores.unflatten(2, (-1, seq)).masked_fill(hidden, -torch.inf)
        weights = scores.softmax(-1).flatten(2, 3)
        mixed = torch.as_tensor(weights @ v).view(batch, self.heads, seq, self.head)
        return mixed.transpose(1, 2).reshape(batch, seq, -1)


def rotated(x: Tensor, cos: Tensor, sin: Tensor) -> Tensor:
    """Rotate the two halves of a head against each other, by position."""
    first, second = x.chunk(2, -1)
    return x * cos + torch.cat([-second, first], -1) * sin


class Decoder(nn.Module):
    """A model from token ids to the loss of the next tokens."""

    def __init__(self, s: Settings) -> None:
        super().__init__()
        self.again = s["recompute"] == "layer"
        self.embedding = nn.Embedding(s["vocab"], s["width"])
        self.layers = nn.ModuleList(Layer(s) for _ in range(s["layers"]))
        self.norm = Norm(s["width"])
        self.head = line(s["width"], s["vocab"])
        if s["output"] == "tied":
            self.head.weight = self.embedding.weight

    def forward(
        self, ids: Tensor, labels: Tensor, turn: tuple[Tensor, Tensor], hidden: Tensor
    ) -> Tensor:
        x = self.embedding(ids)
        for layer in self.layers:
            if self.again:
                x = checkpoint(layer, x, turn, hidden, use_reentrant=False)
            else:
                x = layer(x, turn, hidden)
        return functional.cross_entropy(
            self.head(self.norm(x)).float().flatten(0, 1), labels.flatten()
        )


def build(settings: Settings, dtype: torch.dtype) -> tuple[Decoder, tuple[Any, ...]]:
    """Return a decoder and its arguments: ids, labels, a rotation, the mask of hidden pairs."""
    batch, seq, vocab = (settings[name] for name in ("batch", "seq", "vocab"))
    ids, labels = torch.randint(vocab, (2, batch, seq)).unbind()
    cos, sin = (torch.randn(seq, settings["width"] // settings["heads"]).to(dtype) for _ in "cs")
    return Decoder(settings).to(dtype), (
        ids, labels, (cos, sin), torch.ones(seq, seq, dtype=torch.bool).triu(1)
    )  # fmt: skip
