"""SwiGLU block with a backward of our own, so that we decide what is kept."""

import torch
import torch.nn.functional as F  # noqa: N812


class SwiGLUFn(torch.autograd.Function):
    """y = (silu(x w_gate^T) * (x w_up^T)) w_down^T as one node of the graph."""

    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        """Return y (N, D) of x (N, D), w_gate, w_up (F, D), w_down (D, F)."""
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        # why: Attributes of ctx live as long as the graph, and the report of
        #      saved tensors does not list them: g and u were 7 times the
        #      bytes of x.
        gate = x @ w_gate.t()
        up = x @ w_up.t()
        return (F.silu(gate) * up) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        """Return dx, dw_gate, dw_up and dw_down."""
        x, w_gate, w_up, w_down = ctx.saved_tensors
        # why 2: The gradients of the weights sum over all rows, whatever the
        #      leading dimensions, and reshape copies only where it has to.
        shape = x.shape
        x, grad_y = x.reshape(-1, shape[-1]), grad_y.reshape(-1, shape[-1])
        # why: Two products make g and u again, from x and the weights.
        gate, up = x @ w_gate.t(), x @ w_up.t()
        sig = torch.sigmoid(gate)
        silu = gate * sig

        dw_down = grad_y.t() @ (silu * up)
        dhidden = grad_y @ w_down
        dup = dhidden * silu
        dgate = dhidden * up * sig * (1 + gate * (1 - sig))
        dw_up = dup.t() @ x
        dw_gate = dgate.t() @ x
        # why: Both projections read x, and the gradients of the two paths
        #      add; with one block on fixed data nobody reads dx, in a stack
        #      the block below does.
        dx = dgate @ w_gate + dup @ w_up
        # why 2: The gradient has the shape that x came with.
        dx = dx.reshape(shape)
        return dx, dw_gate, dw_up, dw_down


def swiglu_mlp(x, w_gate, w_up, w_down):
    """SwiGLU feed-forward block; y has the shape and dtype of x."""
    return SwiGLUFn.apply(x, w_gate, w_up, w_down)


# why 3: A product moves its three matrices; what is rebuilt runs again; a
#      fused kernel reads and writes only what somebody outside of it needs.
def kernels(rows, width, hidden, plan):
    """Elements moved and FLOPs of each product, then of each element-wise one."""
    wide = rows * hidden
    moved = rows * width + width * hidden + wide
    product = moved, 2 * rows * width * hidden
    products = [product] * (9 if plan == "autograd" else 11)
    if plan == "rebuild_fused":
        tensors = [3, 6]  # g, u -> h; then g, u, dh -> h, du, dg
    else:
        tensors = [2, 3] * (2 if plan == "rebuild" else 1) + [3, 3, 3]
    others = [(count * wide, 0) for count in tensors]
    return products, [*others, (3 * rows * width, 0)]  # last: dx = a + b


def step_cost(rows, width, hidden, itemsize, plan):
    """FLOPs of a step, the bytes that it moves, and the bytes that it keeps."""
    products, others = kernels(rows, width, hidden, plan)
    kept = rows * (width + (4 * hidden if plan == "autograd" else 0))
    return {
        "flops": sum(flops for _, flops in products),
        "matmul_bytes": itemsize * sum(moved for moved, _ in products),
        "elementwise_bytes": itemsize * sum(moved for moved, _ in others),
        "kept_bytes": itemsize * kept,
    }


def step_seconds(
    rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second
):
    # why 3: Kernels run one after another, each limited by bytes or by FLOPs.
    """Time of a step, each kernel at the nearer limit."""
    products, others = kernels(rows, width, hidden, plan)
    return sum(
        max(moved * itemsize / bytes_per_second, flops / flops_per_second)
        for moved, flops in products + others
    )
