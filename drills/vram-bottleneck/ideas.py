# %% gate-and-up-swapped
# killed_by: forward
"""silu is applied to the up-projection, and the gate stays linear. The block is silu(x Wg^T) * (x
Wu^T): the gate goes through the non-linearity, and the up-projection is multiplied with it as it
is. Swapping the two matrices gives another function."""

def swiglu_mlp(x, w_gate, w_up, w_down):
    return SwiGLUFn.apply(x, w_up, w_gate, w_down)

# %% gate-and-up-swapped / in-forward
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (g * F.silu(u)) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% dx-one-path
# killed_by: [gradients, numeric, stacked]
"""Your dx follows one of the two projections. x feeds both the gate and the up-projection, and the
gradients of all paths add: dx = dg Wg + du Wu. A single block on fixed data does not show it,
because there x needs no gradient; the block below it in a stack does."""

def input_gradient(dg, du, w_gate, w_up):
    return dg @ w_gate

# %% dx-one-path / dx-up-path-only
def input_gradient(dg, du, w_gate, w_up):
    return du @ w_up

# %% silu-grad-is-sigmoid
# killed_by: [gradients, numeric, stacked]
"""The derivative of silu is taken to be sigmoid(g). silu(g) is the product g * sigmoid(g), so the
product rule gives a second term: sigmoid(g) + g * sigmoid(g) * (1 - sigmoid(g)). It enters dg, and
with it dw_gate and dx."""

def silu_slope(g):
    return torch.sigmoid(g)

# %% silu-grad-is-sig-1-sig
# killed_by: [gradients, numeric, stacked]
"""The derivative of silu is taken to be sigmoid(g) * (1 - sigmoid(g)), which is that of the
sigmoid. silu(g) is g * sigmoid(g), and its derivative is sigmoid(g) + g * sigmoid(g) * (1 -
sigmoid(g))."""

def silu_slope(g):
    return torch.sigmoid(g) * (1 - torch.sigmoid(g))

# %% silu-slope-sign
# killed_by: [gradients, numeric, stacked]
"""The second term of silu's derivative has the wrong sign. silu'(g) = sigmoid(g) + g * sigmoid(g) *
(1 - sigmoid(g)), which is sigmoid(g) * (1 + g * (1 - sigmoid(g))): at a large g the slope is 1, and
just above 1 before."""

def silu_slope(g):
    gate = torch.sigmoid(g)
    return gate * (1 - g * (1 - gate))

# %% other-factor-forgotten
# killed_by: [gradients, numeric, stacked]
"""One gradient lacks the factor u. h is the product silu(g) * u, so dg = dh * u * silu'(g), and
dw_down = dy^T h with all of h. Write the product rule out for each factor of h."""

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% other-factor-forgotten / in-dw-down
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ s

# %% hidden-gradient-overwritten
# killed_by: [gradients, numeric, stacked]
"""dg or du holds a factor of the other one as well. Both begin with dh = dy Wd: dg = dh * u *
silu'(g) and du = dh * silu(g). Usually one of them is written into dh (dh.mul_, dh *=), and the
other is computed from what stands there then. Work in place only on what is not read again."""

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg = dh.mul_(u).mul_(silu_slope(g))
        du = dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% hidden-gradient-overwritten / by-du
class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        du = dh.mul_(s)
        dg = dh * u * silu_slope(g)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% hidden-gradient-overwritten / by-u
class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg = dh.mul_(u) * silu_slope(g)
        du = dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% hidden-gradient-overwritten / at-the-end
class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg = dh.mul_(u).mul_(silu_slope(g))
        du = dh.mul_(s)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% weight-gradients-swapped
# killed_by: [gradients, numeric, stacked]
"""Your dw_gate is the gradient of w_up, and the reverse. Both are (F, D), so nothing complains.
backward returns one gradient for each argument of forward, in the same order: dx, dw_gate, dw_up,
dw_down."""

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, du.t() @ rows, dg.t() @ rows, dy.t() @ (s * u)

# %% weight-gradients-averaged
# killed_by: [gradients, numeric, stacked]
"""The gradients of the weights are divided by the number of rows. The chain rule adds up the rows
and divides by nothing; if the loss is a mean, its factor is in grad_y already."""

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        count = max(len(rows), 1)
        return dx, dg.t() @ rows / count, du.t() @ rows / count, dy.t() @ (s * u) / count

# %% gradient-missing
# killed_by: gradients
"""No gradient arrives at one or more of the inputs, although they require one. Either backward
returns None in that place, or y was computed from something that is not that tensor (detached,
converted outside the Function), or .grad was written by hand, which autograd does not know of.
backward returns one gradient for each argument of forward, in the same order."""

whole_backward = SwiGLUFn.backward

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        dx, *_ = whole_backward(ctx, grad_y)
        return dx, None, None, None

# %% gradient-missing / of-gate
whole_backward = SwiGLUFn.backward

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        dx, _, dw_up, dw_down = whole_backward(ctx, grad_y)
        return dx, None, dw_up, dw_down

# %% gradient-missing / of-up
whole_backward = SwiGLUFn.backward

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        dx, dw_gate, _, dw_down = whole_backward(ctx, grad_y)
        return dx, dw_gate, None, dw_down

# %% gradient-missing / of-down
whole_backward = SwiGLUFn.backward

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        dx, dw_gate, dw_up, _ = whole_backward(ctx, grad_y)
        return dx, dw_gate, dw_up, None

# %% gradient-missing / of-x
whole_backward = SwiGLUFn.backward

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        _, *of_weights = whole_backward(ctx, grad_y)
        return None, *of_weights

# %% output-buffer-reused
# killed_by: waiting
"""A later call overwrites an earlier y. Usually y is written into a buffer that is kept for the
next call of the same shape. Who holds the first y then reads the second. Return a new tensor from
every call."""

BUFFERS = {}

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        y = BUFFERS.setdefault((x.shape, x.dtype), x.new_empty(x.shape))
        return y.copy_((F.silu(g) * u) @ w_down.t()).detach()

# %% gradient-buffer-reused
# killed_by: forward
"""Your backward writes dx into the gradient it was handed. That tensor is not yours: in a residual
block it also flows along the skip connection, which then reads dx in its place. Usually this saves
an allocation. Treat grad_y as read-only."""

right = SwiGLUFn

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        return right.forward(ctx, x, w_gate, w_up, w_down)

    @staticmethod
    def backward(ctx, grad_y):
        dx, *weights = right.backward(ctx, grad_y)
        if dx is not None and grad_y.is_contiguous():
            dx = grad_y.copy_(dx)
        return dx, *weights

# %% inputs-in-a-global
# killed_by: stacked
"""Your backward uses the inputs of the latest forward, not those of its own call. In a stack
several calls wait for their backward. Usually a global or an attribute of the class holds them;
save_for_backward keeps them for each call."""

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        SwiGLUFn.latest = x, w_gate, w_up, w_down
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = SwiGLUFn.latest
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% plain-autograd
# killed_by: function
"""The backward is autograd's own. It keeps what each operation's gradient formula needs, which here
is x, g, silu(g), u and silu(g) * u (and the sigmoid as well, where silu is spelled out): 1 + 4 F /
D times the bytes of x, or more. Write a torch.autograd.Function that keeps the inputs and rebuilds
the rest in its backward."""

def swiglu_mlp(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()

# %% plain-autograd / sigmoid
def swiglu_mlp(x, w_gate, w_up, w_down):
    g, u = projections(x, w_gate, w_up)
    return (g * torch.sigmoid(g) * u) @ w_down.t()

# %% torch-checkpoint
# killed_by: function
"""y comes from torch's own operators, and little is kept, as with torch.utils.checkpoint. That is
what you might well ship; but this question asks for the Function itself, so that you say which
tensors are kept and which are rebuilt. Write the forward and the backward by hand."""

from torch.utils.checkpoint import checkpoint

def plain_block(x, w_gate, w_up, w_down):
    return (F.silu(x @ w_gate.t()) * (x @ w_up.t())) @ w_down.t()

def swiglu_mlp(x, w_gate, w_up, w_down):
    return checkpoint(plain_block, x, w_gate, w_up, w_down, use_reentrant=False)

# %% hidden-tensors-saved
# killed_by: saved
"""Tensors of the hidden width are saved. Each is F / D times as large as x. A Function keeps what
you hand to save_for_backward and saves nothing by itself; operations outside of it keep what
autograd wants. Rebuild g and u from x and the weights, which takes two products; the rest is
element-wise."""

def rows_of(t):
    return t.reshape(-1, t.shape[-1])

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        s = F.silu(g)
        h = s * u
        ctx.save_for_backward(x, g, u, s, h, w_gate, w_up, w_down)
        return h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, g, u, s, h, w_gate, w_up, w_down = ctx.saved_tensors
        dy = rows_of(grad_y)
        dw_down = dy.t() @ rows_of(h)
        dh = dy @ w_down
        dg = dh * rows_of(u) * silu_slope(rows_of(g))
        du = dh * rows_of(s)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows_of(x), du.t() @ rows_of(x), dw_down

# %% hidden-tensors-saved / all-and-sigmoid
def rows_of(t):
    return t.reshape(-1, t.shape[-1])

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        sig = torch.sigmoid(g)
        s = g * sig
        h = s * u
        ctx.save_for_backward(x, g, u, sig, s, h, w_gate, w_up, w_down)
        return h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, g, u, sig, s, h, w_gate, w_up, w_down = ctx.saved_tensors
        dy = rows_of(grad_y)
        dw_down = dy.t() @ rows_of(h)
        dh = dy @ w_down
        dg = dh * rows_of(u) * rows_of(sig * (1 + g * (1 - sig)))
        du = dh * rows_of(s)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows_of(x), du.t() @ rows_of(x), dw_down

# %% hidden-tensors-saved / g-and-u
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        ctx.save_for_backward(x, g, u, w_gate, w_up, w_down)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, g, u, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = g.reshape(-1, g.shape[-1]), u.reshape(-1, u.shape[-1])
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% hidden-tensors-saved / g-u-and-h
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        h = F.silu(g) * u
        ctx.save_for_backward(x, g, u, h, w_gate, w_up, w_down)
        return h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, g, u, h, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u, h = (t.reshape(-1, t.shape[-1]) for t in (g, u, h))
        dh = dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * F.silu(g)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ h

# %% hidden-tensors-saved / g
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        ctx.save_for_backward(x, g, w_gate, w_up, w_down)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, g, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = g.reshape(-1, g.shape[-1]), rows @ w_up.t()
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% hidden-tensors-saved / h
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        h = F.silu(g) * u
        ctx.save_for_backward(x, h, w_gate, w_up, w_down)
        return h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, h, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        dh = dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * F.silu(g)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ h.reshape(-1, h.shape[-1])

# %% saves-weight-copies
# killed_by: saved
"""Rearranged copies of the weights are saved (transposed and made contiguous, or concatenated), and
every copy is new memory for every block. Save the weights themselves. Their transpose is a free
view that backward can take again."""

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        a, b, c = (w.t().contiguous() for w in (w_gate, w_up, w_down))
        ctx.save_for_backward(x, a, b, c)
        return (F.silu(x @ a) * (x @ b)) @ c

    @staticmethod
    def backward(ctx, grad_y):
        x, a, b, c = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = rows @ a, rows @ b
        s, dh = F.silu(g), dy @ c.t()
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, a.t(), b.t()).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% saves-weight-copies / saves-fused-weights
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        fused = torch.cat([w_gate, w_up])
        ctx.save_for_backward(x, fused, w_down)
        g, u = (x @ fused.t()).chunk(2, dim=-1)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, fused, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = (rows @ fused.t()).chunk(2, dim=-1)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, *fused.chunk(2)).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% saves-the-output
# killed_by: saved
"""Something as large as x is saved beside the inputs; it is y. No gradient formula of the block
names y. As long as it is saved, it stays alive after everybody else has let it go."""

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        g, u = projections(x, w_gate, w_up)
        y = (F.silu(g) * u) @ w_down.t()
        ctx.save_for_backward(x, w_gate, w_up, w_down, y)
        return y

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down, _ = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% hidden-outside-the-report
# killed_by: live
"""Tensors of the hidden width stay alive after your forward that the saved-tensor report does not
list. Its hooks see what goes through save_for_backward; attributes of ctx, closures and containers
live as long as whatever holds them. Rebuild these tensors in backward."""

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        ctx.g, ctx.u = projections(x, w_gate, w_up)
        return (F.silu(ctx.g) * ctx.u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = (t.reshape(-1, t.shape[-1]) for t in (ctx.g, ctx.u))
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% hidden-outside-the-report / hidden-outside-on-ctx-all
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.x, ctx.weights = x, (w_gate, w_up, w_down)
        ctx.g, ctx.u = projections(x, w_gate, w_up)
        ctx.s = F.silu(ctx.g)
        ctx.h = ctx.s * ctx.u
        return ctx.h @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, (w_gate, w_up, w_down) = ctx.x, ctx.weights
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u, s, h = (t.reshape(-1, t.shape[-1]) for t in (ctx.g, ctx.u, ctx.s, ctx.h))
        dh = dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ h

# %% hidden-outside-the-report / hidden-outside-on-ctx-unsaved
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.x, ctx.weights = x, (w_gate, w_up, w_down)
        ctx.g, ctx.u = projections(x, w_gate, w_up)
        return (F.silu(ctx.g) * ctx.u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, (w_gate, w_up, w_down) = ctx.x, ctx.weights
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = (t.reshape(-1, t.shape[-1]) for t in (ctx.g, ctx.u))
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% hidden-outside-the-report / hidden-outside-in-a-closure
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        ctx.hidden_gradients = lambda dh: (
            dh * rows_of(u) * silu_slope(rows_of(g)),
            dh * F.silu(rows_of(g)),
            F.silu(rows_of(g)) * rows_of(u),
        )
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = rows_of(x), rows_of(grad_y)
        dg, du, h = ctx.hidden_gradients(dy @ w_down)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ h

def rows_of(t):
    return t.reshape(-1, t.shape[-1])

# %% hidden-outside-the-report / hidden-outside-in-a-dictionary
import itertools

STASH = {}
TICKETS = itertools.count()

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        ctx.ticket = next(TICKETS)
        g, u = STASH[ctx.ticket] = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = (t.reshape(-1, t.shape[-1]) for t in STASH[ctx.ticket])
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% saves-a-copy-of-x
# killed_by: live
"""A copy of x stays alive after the forward. x itself is alive in any case, so the copy is as much
memory again. Usually this is x.clone() or another conversion that always makes a new tensor. Save x
as it came."""

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x.clone(), w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

# %% matrices-only
# killed_by: leading
"""Your backward raises an exception unless x is a matrix. Usually the cause is t(), which is for
matrices, or a product of two transposed batches. The gradient of a weight sums over all rows: make
rows of x and of grad_y with reshape(-1, D), and give dx the shape of x at the end."""

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        g, u = projections(x, w_gate, w_up)
        s, dh = F.silu(g), grad_y @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up)
        return dx, dg.t() @ x, du.t() @ x, grad_y.t() @ (s * u)

# %% view-of-strided
# killed_by: strides
"""Your backward raises an exception where x or the incoming gradient has strides that cannot be
viewed as rows. The gradient of a sum, for one, is a single number expanded. Usually the cause is
view; reshape copies where it has to, for as long as backward takes."""

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.view(-1, x.shape[-1]), grad_y.view(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% frozen-x-stops-all
# killed_by: frozen
"""Where x is frozen the weights get no gradient either. Usually backward returns early when
ctx.needs_input_grad[0] is False. The first block of a model is in that situation, since its x is
data. Ask for each input on its own."""

whole_backward = SwiGLUFn.backward

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        if not ctx.needs_input_grad[0]:
            return None, None, None, None
        return whole_backward(ctx, grad_y)

# %% empty-batch-chunks
# killed_by: no-rows
"""Your code raises an exception when there are no rows. Usually it joins the pieces of a loop over
chunks, and torch.cat refuses an empty list. Without rows dx is empty, and the gradients of the
weights, sums over no rows, are 0."""

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, grad_y.shape[-1])
        dgs, dus, hs = [], [], []
        for start in range(0, len(rows), 128):
            g, u = projections(rows[start : start + 128], w_gate, w_up)
            s, dh = F.silu(g), dy[start : start + 128] @ w_down
            dgs.append(dh * u * silu_slope(g))
            dus.append(dh * s)
            hs.append(s * u)
        dg, du, h = torch.cat(dgs), torch.cat(dus), torch.cat(hs)
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ h

# %% wider-output
# killed_by: precision
"""In bfloat16 your y is float32. Computing in a wider dtype is fine; the result has the dtype of x,
or everything behind the block is computed and kept in the wider one."""

whole_backward = SwiGLUFn.backward

class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        if x.dtype == torch.bfloat16:
            x, w_gate, w_up, w_down = (t.float() for t in (x, w_gate, w_up, w_down))
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        return whole_backward(ctx, grad_y.to(ctx.saved_tensors[0].dtype))

# %% sigmoid-overflows
# killed_by: steepness
"""Your slope of silu is NaN for a large g. Usually the sigmoid is spelled out with exp(g) in its
numerator and denominator, and inf / inf is NaN. torch.sigmoid treats both signs apart."""

def silu_slope(g):
    gate = torch.exp(g) / (1 + torch.exp(g))
    return gate * (1 + g * (1 - gate))

# %% state-freed
# killed_by: second-backward
"""A second backward through the same graph raises an exception. Usually the first one deletes what
it needed. With retain_graph=True the graph is kept, and so must what it needs be; without it
save_for_backward lets go by itself."""

class Inputs:
    """Stands in for ctx."""

    def __init__(self, ctx, tensors):
        self.saved_tensors, self.needs_input_grad = tensors, ctx.needs_input_grad

whole_backward = SwiGLUFn.backward

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.inputs = x, w_gate, w_up, w_down
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        given = Inputs(ctx, ctx.inputs)
        del ctx.inputs
        return whole_backward(given, grad_y)

# %% assumes-training
# killed_by: inference
"""Under torch.no_grad the block raises a RuntimeError. Usually something is done to the output that
needs a graph, such as registering a hook. The same block serves inference, where y has no graph:
leave the output alone, or ask y.requires_grad first."""

def swiglu_mlp(x, w_gate, w_up, w_down):
    y = SwiGLUFn.apply(x, w_gate, w_up, w_down)
    y.register_hook(lambda grad: grad)
    return y

# %% kept-without-a-graph
# killed_by: released
"""Under torch.no_grad tensors stay alive after your forward, besides y. There is no graph that
could release them. Usually a global or an attribute of the class keeps those of the latest call."""

LATEST = {}

def swiglu_mlp(x, w_gate, w_up, w_down):
    if not torch.is_grad_enabled():
        LATEST["hidden"] = projections(x, w_gate, w_up)
    return SwiGLUFn.apply(x, w_gate, w_up, w_down)

# %% saves-fp32-copy
# killed_by: bf16-kept
"""In bfloat16 a float32 copy of an input is saved. The copy is new memory, twice the bytes of the
original. Save the input itself, which is alive in any case, and convert it again in backward if you
want more precision there."""

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        wide = x.float() if x.dtype == torch.bfloat16 else x
        ctx.save_for_backward(wide, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        x = x.to(w_gate.dtype)
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% saves-fp32-copy / saves-fp32-copies-of-all
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        inputs = x, w_gate, w_up, w_down
        wide = [t.float() for t in inputs] if x.dtype == torch.bfloat16 else inputs
        ctx.save_for_backward(*wide)
        g, u = projections(*wide[:3])
        return ((F.silu(g) * u) @ wide[3].t()).to(x.dtype)

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows = x.reshape(-1, x.shape[-1])
        dy = grad_y.reshape(-1, x.shape[-1]).to(x.dtype)
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        grads = dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)
        return tuple(grad.to(grad_y.dtype) for grad in grads)

# %% rows-copy-kept
# killed_by: strided-kept
"""For an x that cannot be viewed as rows you keep a copy: one whole x more. Usually x.reshape(-1,
D) or x.contiguous() is saved, which is a copy there and a view elsewhere. Save x itself, and
reshape in backward."""

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        rows = x.reshape(-1, x.shape[-1])
        ctx.shape = x.shape
        ctx.save_for_backward(rows, w_gate, w_up, w_down)
        g, u = projections(rows, w_gate, w_up)
        return ((F.silu(g) * u) @ w_down.t()).reshape(x.shape)

    @staticmethod
    def backward(ctx, grad_y):
        rows, w_gate, w_up, w_down = ctx.saved_tensors
        dy = grad_y.reshape(-1, grad_y.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s, dh = F.silu(g), dy @ w_down
        dg, du = dh * u * silu_slope(g), dh * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(ctx.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% recompute-whole-forward
# killed_by: flops
"""A step takes 12 products, 1.33 times the 9 of plain autograd, where 11 are enough. Usually the
twelfth is the down-projection, run again with the rest of the forward although no gradient needs y,
or dh = dy Wd, computed once for g and once for u."""

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        inputs = [t.detach().requires_grad_() for t in ctx.saved_tensors]
        x, w_gate, w_up, w_down = inputs
        with torch.enable_grad():
            g, u = projections(x, w_gate, w_up)
            y = (F.silu(g) * u) @ w_down.t()
        return torch.autograd.grad(y, inputs, grad_y)

# %% recompute-whole-forward / hidden-gradient-twice
class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        g, u = projections(rows, w_gate, w_up)
        s = F.silu(g)
        dg, du = (dy @ w_down) * u * silu_slope(g), (dy @ w_down) * s
        dx = input_gradient(dg, du, w_gate, w_up).reshape(x.shape)
        return dx, dg.t() @ rows, du.t() @ rows, dy.t() @ (s * u)

# %% recompute-twice
# killed_by: flops
"""A step takes 13 products, 1.44 times the 9 of plain autograd, where 11 are enough. That is what
it costs to rebuild g and u twice in one backward. Rebuild them once, and use the same two tensors
for dx and for all the weight gradients."""

class SwiGLUFn(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w_gate, w_up, w_down):
        ctx.save_for_backward(x, w_gate, w_up, w_down)
        g, u = projections(x, w_gate, w_up)
        return (F.silu(g) * u) @ w_down.t()

    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        dh = dy @ w_down
        g, u = projections(rows, w_gate, w_up)
        dx = input_gradient(dh * u * silu_slope(g), dh * F.silu(g), w_gate, w_up)
        g, u = projections(rows, w_gate, w_up)
        dw_gate, dw_up = (dh * u * silu_slope(g)).t() @ rows, (dh * F.silu(g)).t() @ rows
        return dx.reshape(x.shape), dw_gate, dw_up, dy.t() @ (F.silu(g) * u)

# %% recompute-twice / at-once
class SwiGLUFn(SwiGLUFn):
    @staticmethod
    def backward(ctx, grad_y):
        x, w_gate, w_up, w_down = ctx.saved_tensors
        rows, dy = x.reshape(-1, x.shape[-1]), grad_y.reshape(-1, x.shape[-1])
        dh = dy @ w_down
        g, u = projections(rows, w_gate, w_up)
        s, slope = F.silu(g), silu_slope(g)
        ds, du = dh * u, dh * s
        dg = ds * slope
        dx = input_gradient(dg, du, w_gate, w_up)
        g_again, u_again = projections(rows, w_gate, w_up)
        s_again, slope_again = F.silu(g_again), silu_slope(g_again)
        ds_again, du_again, h_again = dh * u_again, dh * s_again, s_again * u_again
        dg_again = ds_again * slope_again
        dw_gate, dw_up = dg_again.t() @ rows, du_again.t() @ rows
        return dx.reshape(x.shape), dw_gate, dw_up, dy.t() @ h_again

# %% rebuild-moves-nothing
# killed_by: cost
"""Your rebuilt step takes the FLOPs and moves the bytes of plain autograd. Two products and two
element-wise operations run again."""

every_operation = operations

def operations(rows, width, hidden, plan):
    return every_operation(rows, width, hidden, "autograd" if plan == "rebuild" else plan)

# %% rebuild-moves-nothing / fused
every_operation = operations

def operations(rows, width, hidden, plan):
    if plan != "rebuild_fused":
        return every_operation(rows, width, hidden, "autograd")
    step = every_operation(rows, width, hidden, plan)
    for _ in range(2):
        step.remove(product(rows, width, hidden))
    return step

# %% down-projection-again
# killed_by: cost
"""Your rebuilt steps have a twelfth product. Usually the whole forward is repeated, y included. No
gradient names y; what is repeated is g, u, s and h."""

every_operation = operations

def operations(rows, width, hidden, plan):
    step = every_operation(rows, width, hidden, plan)
    return step if plan == "autograd" else [*step, product(rows, hidden, width)]

# %% fusion-everywhere
# killed_by: cost
"""You count fused kernels in every plan. An eager framework starts one kernel per operation: s is
written and read again."""

every_operation = operations

def operations(rows, width, hidden, plan):
    step = every_operation(rows, width, hidden, "rebuild_fused")
    if plan == "autograd":
        for _ in range(2):
            step.remove(product(rows, width, hidden))
    return step

# %% fusion-stores-silu
# killed_by: cost
"""Your fused kernels move one or two tensors of the hidden width too many. Usually s = silu(g) is
written. Nothing outside the kernel reads s, and only what is needed outside is written."""

every_operation = operations

def operations(rows, width, hidden, plan):
    step = every_operation(rows, width, hidden, plan)
    if plan == "rebuild_fused":
        step.remove(elementwise(2, 1, rows * hidden))
        step.append(elementwise(2, 2, rows * hidden))
    return step

# %% fusion-stores-silu / twice
every_operation = operations

def operations(rows, width, hidden, plan):
    step = every_operation(rows, width, hidden, plan)
    if plan == "rebuild_fused":
        step.remove(elementwise(2, 1, rows * hidden))
        step.remove(elementwise(3, 3, rows * hidden))
        step += [elementwise(2, 2, rows * hidden), elementwise(3, 4, rows * hidden)]
    return step

# %% writes-forgotten
# killed_by: cost
"""You count what is read and not what is written, by the element-wise kernels or by all. What is
written takes the same way back to memory."""

def elementwise(read, written, elements):
    return Operation("elementwise", read * elements, 0, 0)

# %% writes-forgotten / everywhere
def elementwise(read, written, elements):
    return Operation("elementwise", read * elements, 0, 0)

def product(m, k, n):
    return Operation("matmul", m * k + k * n, 0, 2 * m * k * n)

# %% addition-forgotten
# killed_by: cost
"""Your element-wise bytes lack 3 N D elements. That is dx = a + b: the two paths into dx are added,
which reads two tensors like x and writes one."""

every_operation = operations

def operations(rows, width, hidden, plan):
    addition = elementwise(2, 1, rows * width)
    return [o for o in every_operation(rows, width, hidden, plan) if o != addition]

# %% four-d-assumed
# killed_by: cost
"""Your kept bytes are 17 times those of x, which is right for F = 4 D only. Autograd keeps x and
four tensors of N times F."""

def kept_elements(rows, width, hidden, plan):
    return (17 if plan == "autograd" else 1) * rows * width

# %% hidden-list-short
# killed_by: cost
"""One tensor of the hidden width is missing from what autograd keeps. Go through the backward
formulas: g, u, s and h are all named."""

def kept_elements(rows, width, hidden, plan):
    return rows * width + (3 * rows * hidden if plan == "autograd" else 0)

# %% output-counted-as-kept
# killed_by: cost
"""Your kept bytes include y. They are asked for besides y: the next block owns it."""

_without_y = kept_elements

def kept_elements(rows, width, hidden, plan):
    return _without_y(rows, width, hidden, plan) + rows * width

# %% multiply-adds-as-one
# killed_by: cost
"""Your FLOPs are half of what is asked for. Usually a multiplication and its addition are counted
as one operation; here a product is 2 m k n."""

def product(m, k, n):
    return Operation("matmul", m * k + k * n, m * n, m * k * n)

# %% flops-are-time
# killed_by: seconds
"""Your time is that of the arithmetic. Element-wise operations have almost none and still take
their bytes over the bandwidth."""

def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    return step_cost(rows, width, hidden, itemsize, plan)["flops"] / flops_per_second

# %% products-alone
# killed_by: seconds
"""Your time is that of the matrix products. The element-wise kernels run as well, each for its
bytes over the bandwidth."""

def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    return sum(
        max(operation.bytes(itemsize) / bytes_per_second, operation.flops / flops_per_second)
        for operation in operations(rows, width, hidden, plan)
        if operation.flops
    )

# %% bytes-plus-flops
# killed_by: seconds
"""You add the two times of each operation. A kernel moves and computes at once: the larger one
counts."""

def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    cost = step_cost(rows, width, hidden, itemsize, plan)
    moved = cost["matmul_bytes"] + cost["elementwise_bytes"]
    return cost["flops"] / flops_per_second + moved / bytes_per_second

# %% one-roof-for-all
# killed_by: seconds
"""You compare total bytes with total FLOPs once. Kernels run one after another: the slack of one
does not help the next."""

def step_seconds(rows, width, hidden, itemsize, plan, bytes_per_second, flops_per_second):
    cost = step_cost(rows, width, hidden, itemsize, plan)
    moved = cost["matmul_bytes"] + cost["elementwise_bytes"]
    return max(cost["flops"] / flops_per_second, moved / bytes_per_second)
