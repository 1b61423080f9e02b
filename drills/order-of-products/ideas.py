# %% gradient-without-graph
# killed_by: product
"""Your product is damping times v, and the Hessian is not in it. The first gradient has been taken
without a graph, so to autograd it is a constant, whose derivative is 0. Usually autograd refuses to
differentiate a number without a graph; here the damping has one, and nothing is said. Take the
first gradient with create_graph=True."""

def hessian_product(loss_of, params, vectors, damping):
    torch.autograd.grad(loss_of(params), params, allow_unused=True)
    return [damping * v for v in vectors]

# %% blocks-on-the-diagonal
# killed_by: between
"""Your product has the second derivatives within each array of parameters, and none between two of
them. A change of w1 changes the gradient of w2 as well. Add up g . v over all arrays, and
differentiate that one number with respect to all of them."""

def hessian_product(loss_of, params, vectors, damping):
    grads = _gradients(loss_of(params), params, create_graph=True)
    found = []
    for g, p, v in zip(grads, params, vectors, strict=True):
        found += _gradients((g * v).sum(), [p], retain_graph=True)
    return _damped(found, vectors, damping)

# %% sum-of-the-gradient
# killed_by: product
"""You differentiate the sum of the gradient, which is the Hessian times a vector of ones, whatever
v is. Multiply the gradient by v before you add it up."""

def hessian_product(loss_of, params, vectors, damping):
    grads = _gradients(loss_of(params), params, create_graph=True)
    return _damped(_gradients(sum(g.sum() for g in grads), params), vectors, damping)

# %% outer-product-of-the-gradient
# killed_by: product
"""Your product is the gradient times g . v: that of g g^T, which has first derivatives only. Where the
gradient is 0, as in a minimum, nothing is left of it, and there the curvature matters most. The
Hessian is the derivative of g."""

def hessian_product(loss_of, params, vectors, damping):
    found = _gradients(loss_of(params), params)
    return _damped([g * _dot(found, vectors) for g in found], vectors, damping)

# %% damping-left-out
# killed_by: product
"""Your product is that of the Hessian alone. The contract asks for H + damping I, so damping times v
is added."""

def _damped(found, vectors, damping):
    return found

# %% damping-times-parameters
# killed_by: product
"""You add damping times the parameters, as weight decay adds to a gradient. The matrix is
H + damping I, and its product with v has damping times v."""

def hessian_product(loss_of, params, vectors, damping):
    grads = _gradients(loss_of(params), params, create_graph=True)
    found = _gradients(_dot(grads, vectors), params)
    return _damped(found, [p.detach() for p in params], damping)

# %% direction-normalized
# killed_by: product
"""You divide v by its norm and do not multiply the product by it. What comes out is the product with
another, shorter vector; conjugate gradients go on from v itself."""

right_product = hessian_product

def hessian_product(loss_of, params, vectors, damping):
    norm = sum((v * v).sum() for v in vectors) ** 0.5
    return right_product(loss_of, params, [v / norm for v in vectors], damping)

# %% differences-of-gradients
# killed_by: between
# parameters: {STEP: [1.0e-2, 1.0e-3, 1.0e-4]}
"""Your product is the difference of the gradients at p + {STEP} v and at p, divided by {STEP}. It has an
error of about that size, and in float32 there is no step that is small enough and large enough.
Differentiate the gradient."""
STEP = 1e-4

def hessian_product(loss_of, params, vectors, damping):
    moved = [(p + STEP * v).detach().requires_grad_() for p, v in zip(params, vectors, strict=True)]
    here, there = (_gradients(loss_of(at), at) for at in (params, moved))
    found = [(b - a) / STEP for a, b in zip(here, there, strict=True)]
    return _damped(found, vectors, damping)

# %% trainers-gradients-changed
# killed_by: untouched
"""Your products are right, and the .grad of the parameters is not what it was: backward() adds to it.
The gradient of the trainer's own step is in there. torch.autograd.grad returns gradients and leaves
.grad alone."""

right_product = hessian_product

def hessian_product(loss_of, params, vectors, damping):
    loss_of(params).backward()
    return right_product(loss_of, params, vectors, damping)

# %% trainers-gradients-changed / cleared
right_product = hessian_product

def hessian_product(loss_of, params, vectors, damping):
    found = right_product(loss_of, params, vectors, damping)
    for p in params:
        p.grad = None
    return found

# %% unused-parameters-undamped
# killed_by: unused
"""A parameter that has no gradient gets 0 from you. Its rows of the Hessian, or of J^T J, are 0, and
the damping is there all the same: damping times v."""

right_damped = _damped

def _damped(found, vectors, damping):
    return [g if not g.any() else d for g, d in zip(found, right_damped(found, vectors, damping))]

# %% full-hessian-of-the-squares
# killed_by: squares
"""Your Gauss-Newton product is that of the Hessian of half the sum of squares. It has a second term,
the residuals times their second derivatives, which makes it indefinite. Gauss-Newton leaves that
out: J^T J alone."""

def gauss_newton_product(residuals_of, params, vectors, damping):
    return hessian_product(lambda p: (residuals_of(p) ** 2).sum() / 2, params, vectors, damping)

# %% gradient-of-the-squares
# killed_by: squares
"""You multiply J^T with the residuals, which is the gradient of half the sum of squares. What J^T is
to be multiplied with is J v: how the residuals change along v."""

def gauss_newton_product(residuals_of, params, vectors, damping):
    residuals = residuals_of(params)
    found = _gradients((residuals * residuals.detach()).sum(), params)
    return _damped(found, vectors, damping)

# %% mean-over-residuals
# killed_by: squares
"""You divide J^T J by the number of residuals. The contract has the matrix J^T J; who takes a mean
of squares has that factor in the residuals."""

def gauss_newton_product(residuals_of, params, vectors, damping):
    residuals = residuals_of(params)
    along = _along(residuals, params, vectors) / residuals.numel()
    found = _gradients((residuals * along).sum(), params)
    return _damped(found, vectors, damping)

# %% squares-change-the-trainers-gradients
# killed_by: squares-untouched
"""Your Gauss-Newton product is right, and the .grad of the parameters is not what it was: backward()
adds to it. torch.autograd.grad returns gradients and leaves .grad alone."""

right_gauss_newton = gauss_newton_product

def gauss_newton_product(residuals_of, params, vectors, damping):
    residuals_of(params).sum().backward()
    return right_gauss_newton(residuals_of, params, vectors, damping)

# %% linear-losses-refused
# killed_by: linear
"""Your product raises an exception where the loss is linear in all parameters: no gradient has a graph
then, and there is nothing to differentiate. H is 0 there, and the product is damping times v."""

def hessian_product(loss_of, params, vectors, damping):
    grads = _gradients(loss_of(params), params, create_graph=True)
    found = torch.autograd.grad(_dot(grads, vectors), params, allow_unused=True)
    found = [torch.zeros_like(p) if g is None else g for g, p in zip(found, params, strict=True)]
    return _damped(found, vectors, damping)

# %% constant-losses-refused
# killed_by: unused
"""Your product raises an exception where nothing depends on any parameter: there is no graph at all then,
and torch refuses to differentiate. The matrix is 0 there, and the product is damping times v."""

def hessian_product(loss_of, params, vectors, damping):
    grads = torch.autograd.grad(loss_of(params), params, create_graph=True, allow_unused=True)
    pairs = zip(grads, vectors, strict=True)
    number = sum((g * v).sum() for g, v in pairs if g is not None)
    return _damped(_gradients(number, params), vectors, damping)

# %% constant-losses-refused / residuals
def gauss_newton_product(residuals_of, params, vectors, damping):
    residuals = residuals_of(params)
    along = _along(residuals, params, vectors)
    found = torch.autograd.grad((residuals * along).sum(), params, allow_unused=True)
    found = [torch.zeros_like(p) if g is None else g for g, p in zip(found, params, strict=True)]
    return _damped(found, vectors, damping)

# %% always-float64
# killed_by: single
"""Your products are float64 where the parameters are float32. Who goes on with them pays twice the
memory, or gets an error. Give back the dtype that came in."""

right_damped = _damped

def _damped(found, vectors, damping):
    return [one.double() for one in right_damped(found, vectors, damping)]

# %% jacobian-row-by-row
# killed_by: squares-flops
"""Your product is right, and you have made J for it, with a gradient for each residual. J v is a
vector, and can be had by itself: a JVP, or two VJPs. Then J^T times that is one more gradient."""

def gauss_newton_product(residuals_of, params, vectors, damping):
    residuals = residuals_of(params)
    found = [torch.zeros_like(p) for p in params]
    for one in residuals.unbind():
        row = _gradients(one, params, retain_graph=True)
        along = _dot(row, vectors)
        found = [f + along * g for f, g in zip(found, row, strict=True)]
    return _damped(found, vectors, damping)

# %% hessian-row-by-row
# killed_by: flops
"""Your product is right, and you have made the Hessian for it, row by row: as many gradients as there
are parameters. Multiply the gradient by v first, and differentiate one number."""

def hessian_product(loss_of, params, vectors, damping):
    grads = _gradients(loss_of(params), params, create_graph=True)
    found = []
    for g in grads:
        ones = g.reshape(-1).unbind()
        rows = [_dot(_gradients(one, params, retain_graph=True), vectors) for one in ones]
        found.append(torch.stack(rows).reshape(g.shape))
    return _damped(found, vectors, damping)

# %% one-direction-for-every-input
# killed_by: costs
"""You count a JVP once for every input. One direction takes one product with each matrix,
2 n_i n_(i-1) FLOPs each; it is the whole Jacobian by JVPs that takes n_0 of them."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    return found | {"jvp": dims[0] * found["jvp"], "vjp": dims[-1] * found["vjp"]}

# %% additions-not-counted
# killed_by: costs
"""Your FLOPs are half of what is meant: a multiplication and an addition count as 2."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    half = {name: found[name] // 2 for name in ("jvp", "vjp", "jacobian", "multiplied")}
    return found | half

# %% jacobian-always-by-rows
# killed_by: costs
"""You take the Jacobian by VJPs, one for each output, whatever the sizes are. With fewer inputs than
outputs JVPs are cheaper, one for each input."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    return found | {"jacobian": dims[-1] * found["vjp"]}

# %% jacobian-always-by-columns
# killed_by: costs
"""You take the Jacobian by JVPs, one for each input, whatever the sizes are. With fewer outputs than
inputs VJPs are cheaper, one for each output; a gradient of one number is the case that counts."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    return found | {"jacobian": dims[0] * found["jvp"]}

# %% jacobian-by-the-longer-side
# killed_by: costs
"""You take as many products for the Jacobian as the larger of the numbers of inputs and outputs. A
JVP gives a column, a VJP a row: choose the one of which fewer are needed."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    return found | {"jacobian": max(dims[0], dims[-1]) * found["vjp"]}

# %% multiplied-from-the-input-end
# killed_by: costs
"""You multiply the matrices from the input end, W_2 with W_1 first. The contract begins at the output
end, with W_k and W_(k-1)."""

right_costs = costs

def costs(dims, itemsize):
    sizes = [m * n for m, n in itertools.pairwise(dims)]
    multiplied = 2 * dims[0] * (sum(sizes[1:]) + dims[-1])
    return right_costs(dims, itemsize) | {"multiplied": multiplied}

# %% product-without-the-vector
# killed_by: costs
"""Your count of the matrices that are multiplied out ends with J. J u is asked for, which is one more
product, 2 n_k n_0 FLOPs."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    return found | {"multiplied": found["multiplied"] - 2 * dims[0] * dims[-1]}

# %% jvp-keeps-activations
# killed_by: costs
"""You have a JVP keep what a VJP keeps. A tangent goes in the direction of the forward pass and is
computed along with it, so each slope is used when its h_i is made, and nothing waits for later."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    return found | {"kept_jvp": found["kept_vjp"]}

# %% y-kept-by-the-jvp
# killed_by: costs
"""You have J u keep y. Its last slope is computed along with y, as those before it were, and when y is
there J u is, too: nothing is needed any more."""

right_costs = costs

def costs(dims, itemsize):
    return right_costs(dims, itemsize) | {"kept_jvp": itemsize * dims[-1]}

# %% input-and-output-kept
# killed_by: costs
"""You have a VJP keep two arrays for each layer, what goes into tanh and what comes out. The slope
1 - h^2 needs what comes out, and J^T v with respect to x needs nothing else."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    return found | {"kept_vjp": 2 * found["kept_vjp"]}

# %% y-not-kept
# killed_by: costs
"""Your VJP keeps h_1 to h_(k-1). The first thing that it needs is the slope of the last tanh, which is
1 - y^2: h_k is kept as well."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    return found | {"kept_vjp": found["kept_vjp"] - itemsize * dims[-1]}

# %% x-kept
# killed_by: costs
"""Your VJP keeps x as well. It would be needed for the gradients of W_1; J^T v with respect to x needs
the slopes of each tanh, which begin with h_1."""

right_costs = costs

def costs(dims, itemsize):
    found = right_costs(dims, itemsize)
    return found | {"kept_vjp": found["kept_vjp"] + itemsize * dims[0]}

# %% numbers-for-bytes
# killed_by: costs
"""You count the numbers that are kept. Bytes are asked for: times itemsize."""

right_costs = costs

def costs(dims, itemsize):
    return right_costs(dims, 1)
