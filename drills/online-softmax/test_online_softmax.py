"""The reference and every right solution of online-softmax, against torch in float64.

The oracle knows no blocks: torch's scaled_dot_product_attention and autograd for the queries that
have a key, torch.logsumexp for lse, and for queries without a key what the contract says.
"""

from __future__ import annotations

import itertools

import numpy as np
import torch
import torch.nn.functional as F

from tests.harness import Array, Program, assert_close, each, normal, variants

variant = variants(__file__)
CLOSE = 1e-12
# T, S, d, e and block: one that divides S, one that does not, blocks of one, and one above S.
SIZES = [(5, 12, 3, 7, 4), (4, 11, 3, 2, 3), (3, 5, 2, 4, 1), (2, 3, 5, 1, 8), (1, 1, 1, 1, 1)]


def drawn(seed: int, sizes: tuple[int, ...]) -> list[Array]:
    """q, k, v and grad_o for T, S, d and e."""
    t, s, d, e = sizes[:4]
    return normal(seed, (t, d), (s, d), (s, e), (t, e))


def oracle(inputs: list[Array], mask: Array | None = None) -> list[Array]:
    """o, lse and the gradients of q, k and v; a query without a key takes no part."""
    q, k, v, grad_o = (torch.tensor(a, requires_grad=True) for a in inputs)
    seen = torch.ones(len(q), len(k), dtype=torch.bool) if mask is None else torch.tensor(mask)
    alive = seen.any(1)
    o, lse = torch.zeros_like(grad_o), torch.full((len(q),), -torch.inf, dtype=torch.float64)
    live = F.scaled_dot_product_attention(q[alive], k, v, attn_mask=seen[alive])
    scores = (q @ k.T / q.shape[1] ** 0.5).masked_fill(~seen, -torch.inf)
    o, lse = o.index_put((alive,), live), lse.index_put((alive,), scores[alive].logsumexp(1))
    grads = torch.autograd.grad(o, [q, k, v], grad_o)
    return [tensor.detach().numpy() for tensor in (o, lse, *grads)]


def agrees(program: Program, inputs: list[Array], block: int, *mask: Array) -> None:
    *qkv, grad_o = inputs
    o, lse = program.attend(*qkv, block, *mask)
    grads = program.attend_backward(grad_o, *qkv, o, lse, block, *mask)
    assert_close([o, lse, *grads], oracle(inputs, *mask), CLOSE, "float64", least=1)


@each("sizes", SIZES)
def test_results_and_gradients_are_those_of_torch(program: Program, sizes: tuple[int, ...]) -> None:
    agrees(program, drawn(1, sizes), sizes[4])


def test_masks_with_hidden_blocks_and_queries_without_a_key(program: Program) -> None:
    mask = np.random.default_rng(2).random((6, 10)) < 0.5
    mask[0, :4], mask[1], mask[2, :-1] = False, False, False
    for block in (1, 3, 10):
        agrees(program, drawn(3, (6, 10, 3, 4)), block, mask)
    agrees(program, drawn(4, (3, 4, 2, 3)), 3, np.zeros((3, 4), bool))


@each("lift", [2e4, -2e4])
def test_scores_may_be_large(program: Program, lift: float) -> None:
    inputs = drawn(5, (3, 7, 4, 2))
    inputs[0][:, 0], inputs[1][:, 0] = lift, 1 + np.arange(7) * 1e-5  # around 10,000
    *qkv, grad_o = inputs
    o, lse = program.attend(*qkv, 2)
    grads = program.attend_backward(grad_o, *qkv, o, lse, 2)
    assert_close([o, lse, *grads], oracle(inputs), 1e-10, "float64")


def test_machines_merge_in_any_order_and_their_shares_add_up(program: Program) -> None:
    inputs = drawn(6, (4, 11, 3, 5))
    q, k, v, grad_o = inputs
    mask = np.random.default_rng(7).random((4, 11)) < 0.6
    mask[1], mask[2, :7] = False, False
    cuts = [slice(0, 2), slice(2, 7), slice(7, 11)]
    parts = [program.attend(q, k[cut], v[cut], 2, mask[:, cut]) for cut in cuts]
    wanted = oracle(inputs, mask)
    for first, second, third in itertools.permutations(parts):
        o, lse = program.merge(*program.merge(*first, *second), *third)
        assert_close([o, lse], wanted[:2], CLOSE, "float64", least=1)
    of_q, of_k, of_v = zip(
        *(program.attend_backward(grad_o, q, k[c], v[c], o, lse, 2, mask[:, c]) for c in cuts),
        strict=True,
    )
    found = [sum(of_q), np.concatenate(of_k), np.concatenate(of_v)]
    assert_close(found, wanted[2:], CLOSE, "float64", least=1)


# What the text says.


def test_two_keys_as_the_follow_up_says(reference: Program, starter: Program) -> None:
    q, k = np.array([[1.0]]), np.array([[0.0], [np.log(3)]])
    o, lse = reference.attend(q, k, np.eye(2), 1)
    assert_close([o, lse], [np.array([[0.25, 0.75]]), np.log([4.0])], CLOSE)
    of_old = starter.attend(q, k, np.eye(2), 1)[1]
    assert [round(float(one[0]), 3) for one in (of_old, lse)] == [1.792, 1.386]


def test_what_a_colleague_would_look_at_is_right_in_the_starter(
    reference: Program, starter: Program
) -> None:
    for seed in range(8):
        inputs = drawn(seed, (1, 256, 16, 16))
        order = np.argsort(-(inputs[1] @ inputs[0][0]))
        inputs[1], inputs[2] = inputs[1][order], inputs[2][order]
        old = starter.attend(*inputs[:3], 64)
        for a, b in zip(old, reference.attend(*inputs[:3], 64), strict=True):
            np.testing.assert_array_equal(a, b)  # not one bit
        assert np.abs(old[0] - oracle(inputs)[0]).max() < 1e-15


def test_in_production_it_is_wrong_by_as_much_as_the_prompt_says(
    reference: Program, starter: Program
) -> None:
    off = []
    for seed in range(20):
        q, k, v, _ = drawn(seed, (8, 4096, 16, 16))
        (old, high), (o, lse) = (p.attend(q, k, v, 64) for p in (starter, reference))
        off.append(np.linalg.norm(old - o) / np.linalg.norm(o))
        assert (high >= lse).all()  # upward, always
    assert round(100 * float(np.mean(off))) == 46, off


def test_libraries_differ_on_a_query_without_a_key() -> None:
    q, k, v, _ = (torch.tensor(a) for a in drawn(9, (2, 3, 2, 2)))
    seen = torch.tensor([[False, False, False], [True, True, False]])
    assert torch.full((3,), -torch.inf).softmax(0).isnan().all()
    assert not F.scaled_dot_product_attention(q, k, v, attn_mask=seen)[0].any()


def test_true_means_hidden_in_one_place_and_seen_in_another() -> None:
    torch.manual_seed(0)
    layer = torch.nn.MultiheadAttention(4, 1, batch_first=True).double()
    x, moved = (torch.tensor(a)[None] for a in drawn(11, (3, 3, 4, 4))[:2])
    moved[:, :2] = x[:, :2]  # the last key differs
    last = torch.tensor([[False, False, True]])
    for hidden, alike in ((last, True), (None, False)):
        a, b = (layer(x, y, y, key_padding_mask=hidden)[0] for y in (x, moved))
        assert torch.allclose(a, b) == alike
    a, b = (F.scaled_dot_product_attention(x, y, y, attn_mask=~last) for y in (x, moved))
    assert torch.allclose(a, b)


def test_ideas_about_one_machine_are_right_on_one(reference: Program) -> None:
    """What only two machines show: the audit has the other direction."""
    *qkv, grad_o = drawn(10, (3, 7, 3, 4))
    o, lse = reference.attend(*qkv, 3)
    wanted = reference.attend_backward(grad_o, *qkv, o, lse, 3)
    for name in ("normalizes-anew", "correction-of-these-keys"):
        found = variant(name).attend_backward(grad_o, *qkv, o, lse, 3)
        assert_close(found, wanted, CLOSE, least=1)
