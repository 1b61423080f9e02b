# %% as-it-came
# killed_by: [adapter, context, head, units, mix]
"""Your net gets the gradients that it got in the script that you were given, and starts and steps
as it did there. More than one thing is wrong with it, and a larger rate moves none of what has a
gradient of 0, or none."""

def _room(net, c):
    with torch.no_grad():
        return net.context(c)

def _learns(name):
    return not name.startswith("trunk")

def _begin(net):
    with torch.no_grad():
        net.gate.bias.copy_(torch.tensor([200.0, 0.0, 0.0]))
        for expert in net.experts:
            expert[0].bias.fill_(-6.0)

def _optimizer(net):
    opt = torch.optim.SGD(net.parameters(), lr=RATE)
    net.head = nn.Linear(16, CLASSES)
    return opt

def causes():
    return []

# %% frozen-by-prefix
# killed_by: adapter
"""Your trunk_adapter gets no gradient: its .grad is None. Either it requires none, because names that
begin with "trunk" are those of the trunk and those of its adapter, and "trunk." has only the first;
or what it computes is not in the graph, because no_grad was meant for the trunk alone."""

def _learns(name):
    return not name.startswith("trunk")

# %% frozen-by-prefix / cut
class Net(Net):
    def forward(self, x, c):
        with torch.no_grad():
            h = torch.tanh(self.trunk(x))
            h = h + self.trunk_adapter(h)
        h = h + _room(self, c)
        outputs = torch.stack([expert(h) for expert in self.experts], dim=1)
        return self.head((_mix(self, h)[:, :, None] * outputs).sum(dim=1))

# %% out-of-the-graph
# killed_by: context
"""Your context takes part in forward and gets no gradient: what is computed under no_grad, or
detached, has no path back to what it was computed from, and .grad stays None. The loss changes with
the context all the same, so that nothing else shows it."""

def _room(net, c):
    with torch.no_grad():
        return net.context(c)

# %% out-of-the-graph / detached
def _room(net, c):
    return net.context(c).detach()

# %% optimizer-before-the-head
# killed_by: head
"""Your head gets the right gradient, and no step moves it: the optimizer was made with the
parameters of another head. It does not look again. Make it when the net is complete."""

def _optimizer(net):
    opt = torch.optim.SGD(net.parameters(), lr=RATE)
    net.head = nn.Linear(16, CLASSES)
    return opt

# %% closed-units
# killed_by: units
"""At the start the hidden units of your experts are 0 in every row. Their slopes are 0 as well, so
that their weights get gradients of exactly 0, and no step opens them. Let their biases be near 0.
"""

def _begin(net):
    for expert in net.experts:
        nn.init.constant_(expert[0].bias, -6.0)

# %% closed-units / less
def _begin(net):
    for expert in net.experts:
        nn.init.constant_(expert[0].bias, -3.0)

# %% sure-from-the-start
# killed_by: mix
"""At the start your gate gives one expert all the weight. Where a softmax is that sure its slope is
0 or nearly so, and the others have gradients as small as their weights: none of them learns. Let the
scores be of one size."""

def _begin(net):
    with torch.no_grad():
        net.gate.bias.copy_(torch.tensor([200.0, 0.0, 0.0]))

# %% sure-from-the-start / less
def _begin(net):
    with torch.no_grad():
        net.gate.bias.copy_(torch.tensor([20.0, 0.0, 0.0]))

# %% trains-the-trunk
# killed_by: trunk
"""Your trunk learns with the rest. It is pretrained, and is to stay as it is: leave just its own two
parameters without a gradient, or out of the optimizer."""

def _learns(name):
    return True

# %% leaky-experts
# killed_by: formula
"""The units of your experts let something through below 0. That keeps them alive, and makes another
net: what it computes was to stay. The units were dead because of where their biases began."""

class Net(Net):
    def __init__(self):
        super().__init__()
        for expert in self.experts:
            expert[1] = nn.LeakyReLU(0.01)

# %% softer-gate
# killed_by: formula
"""Your gate divides its scores before the softmax. That makes it less sure, and makes another net:
what it computes was to stay. It was too sure because of the bias that it began with."""

def _mix(net, h):
    return torch.softmax(net.gate(h) / 100, dim=1)

# %% larger-rate
# killed_by: steps
"""Your step takes the right gradients, ten times as large a step as was asked for. A rate changes
nothing about a gradient of 0, or none; the contract has it at 0.1."""

def _optimizer(net):
    return torch.optim.SGD(net.parameters(), lr=1.0)

# %% with-momentum
# killed_by: steps
"""Your optimizer keeps a momentum of 0.9. Its first step is the right one, and those after it go
further; the contract asks for plain SGD."""

def _optimizer(net):
    return torch.optim.SGD(net.parameters(), lr=RATE, momentum=0.9)

# %% adds-gradients-up
# killed_by: steps
"""Your step clears no gradients, so that each step takes the sum of all that came before. The first
one is right. backward adds to what .grad holds; clear it before."""

def step(net, opt, x, c, y):
    loss = F.cross_entropy(net(x, c), y)
    loss.backward()
    opt.step()
    return loss.item()

# %% none-is-zero
# killed_by: words
"""Your report says "zero" where there is no gradient at all. The two have different causes: None
means that no path leads there, and a zero has a path with a factor of 0 on it. An optimizer leaves
out the first, and decays the second."""

right_word = _word

def _word(grad):
    return "zero" if grad is None else right_word(grad)

# %% zero-is-none
# killed_by: words
"""Your report says "none" where the gradient is there, and all its elements are 0. Ask whether it is
None before you look at what is in it."""

def _word(grad):
    if grad is None or not grad.count_nonzero():
        return "none"
    return "ok" if grad.isfinite().all() else "nan"

# %% frozen-is-none
# killed_by: words
"""Your report says "none" where a parameter requires no gradient. It says so of its own accord, in
requires_grad, before any loss is looked at."""

right_report = report

def report(net, loss):
    return {n: "none" if w == "frozen" else w for n, w in right_report(net, loss).items()}

# %% any-zero-is-zero
# killed_by: sizes
"""Your report says "zero" as soon as one element of a gradient is 0. A row of an embedding that was
not looked up has zeros, and its neighbors learn; zero means all of them."""

def _word(grad):
    if grad is None:
        return "none"
    if not grad.isfinite().all():
        return "nan"
    return "ok" if grad.all() else "zero"

# %% reads-what-was-there
# killed_by: earlier
"""Your report adds the gradients of this loss to what .grad held, and reads the sum. A layer that this
loss does not reach then looks alive from an earlier step. Ask for the gradients of this loss alone,
with autograd.grad."""

def _gradients(loss, parameters):
    held = [None if p.grad is None else p.grad.clone() for p in parameters]
    loss.backward(retain_graph=True)
    found = [p.grad for p in parameters]
    for p, grad in zip(parameters, held):
        p.grad = grad
    return found

# %% judges-by-norm
# killed_by: sizes
"""Your report judges by the norm. In float32 the squares of 1e-30 are 0, so that a gradient which is
there is called zero; and where squares of 1e30 overflow a norm is infinite, and no element is. Look at
the elements."""

def _word(grad):
    if grad is None:
        return "none"
    norm = float(grad.norm())
    if norm != norm or norm == float("inf"):
        return "nan"
    return "ok" if norm else "zero"

# %% judges-by-norm / finite-apart
def _word(grad):
    if grad is None:
        return "none"
    if not grad.isfinite().all():
        return "nan"
    return "ok" if grad.norm() > 0 else "zero"

# %% small-is-zero
# killed_by: sizes
"""Your report says "zero" for gradients that are small. Small ones move weights, and an optimizer like
Adam hardly cares how small they are; zero is exactly 0."""

def _word(grad):
    if grad is None:
        return "none"
    if not grad.isfinite().all():
        return "nan"
    return "ok" if grad.abs().max() > 1e-12 else "zero"

# %% signs-cancel
# killed_by: sizes
"""Your report judges by the sum, or the mean, of a gradient. Elements of both signs cancel, and what is
far from zero is called zero. Ask whether any element differs from 0."""

def _word(grad):
    if grad is None:
        return "none"
    if not grad.isfinite().all():
        return "nan"
    return "ok" if grad.sum() else "zero"

# %% largest-without-sign
# killed_by: sizes
"""Your report calls a gradient zero whose largest element is not above 0. One with nothing but negative
elements is as alive as any; take magnitudes."""

def _word(grad):
    if grad is None:
        return "none"
    if not grad.isfinite().all():
        return "nan"
    return "ok" if grad.max() > 0 else "zero"

# %% nan-when-all-are
# killed_by: spoiled
"""Your report says "nan" only where no element is finite. One is enough to spoil a step, by way of the
norm that gradients are clipped to for all of them."""

def _word(grad):
    if grad is None:
        return "none"
    if not grad.isfinite().any():
        return "nan"
    return "ok" if grad.count_nonzero() else "zero"

# %% nan-only
# killed_by: spoiled
"""Your report says "ok" of a gradient with an infinite element. A step with it makes an infinite weight;
isnan is not enough, isfinite is."""

def _word(grad):
    if grad is None:
        return "none"
    if grad.isnan().any():
        return "nan"
    return "ok" if grad.count_nonzero() else "zero"

# %% raises-without-a-graph
# killed_by: nothing
"""Your report raises an exception where the loss depends on no parameter: autograd has nothing to walk.
It is then that somebody calls a report. Every parameter that requires a gradient has none."""

def report(net, loss):
    asked = [p for p in net.parameters() if p.requires_grad]
    found = _gradients(loss, asked)
    words = {id(p): _word(g) for p, g in zip(asked, found, strict=True)}
    return {name: words.get(id(p), "frozen") for name, p in net.named_parameters()}

# %% zero-without-a-graph
# killed_by: nothing
"""Your report says "zero" for all parameters where the loss depends on none of them. No path leads to
them, and "none" is the word for that."""

right_report = report

def report(net, loss):
    if loss.requires_grad:
        return right_report(net, loss)
    return {n: "zero" if p.requires_grad else "frozen" for n, p in net.named_parameters()}

# %% leaves-gradients
# killed_by: left
"""Your report leaves the gradients of this loss in .grad. The backward of the training step adds to
them, and the step is twice as long. Whatever was there has to be there afterwards."""

def _gradients(loss, parameters):
    for p in parameters:
        p.grad = None
    loss.backward(retain_graph=True)
    return [p.grad for p in parameters]

# %% idle-by-row
# killed_by: rows
"""Your share is that of all outputs that are 0. With pre-activations around 0 that is one half in a
net that is well: a unit which is 0 for some rows learns from the others. Idle is 0 in every row."""

right_idle_units = idle_units

def _busy(output):
    return (output > 0).flatten(end_dim=-2)

def idle_units(net, batches):
    seen = {}

    def watch(name):
        def hook(module, inputs, output):
            seen.setdefault(name, []).append(output.flatten(end_dim=-2) <= 0)
        return hook

    hooks = [m.register_forward_hook(watch(n)) for n, m in net.named_modules() if isinstance(m, nn.ReLU)]
    with torch.no_grad():
        for batch in batches:
            net(*batch)
    for hook in hooks:
        hook.remove()
    return {n: torch.cat(found).double().mean().item() for n, found in seen.items()}

# %% idle-in-a-row
# killed_by: rows
"""You count a unit as idle that is 0 in at least one row. That is nearly every one of a net that is
well; idle is 0 in every row."""

def _busy(output):
    return (output > 0).flatten(end_dim=-2).all(dim=0)

# %% last-call-only
# killed_by: batches
"""Your share is that of the last call: each one overwrites what was seen before. A unit is busy if it
was so in any of them, with every batch, and wherever the ReLU is used."""

def idle_units(net, batches):
    shares = {}

    def watch(name):
        def hook(module, inputs, output):
            shares[name] = _share(_busy(output))
        return hook

    hooks = [m.register_forward_hook(watch(n)) for n, m in net.named_modules() if isinstance(m, nn.ReLU)]
    with torch.no_grad():
        for batch in batches:
            net(*batch)
    for hook in hooks:
        hook.remove()
    return shares

# %% mean-over-calls
# killed_by: batches
"""Your share is the mean of the shares of the calls. A unit that is busy with one batch and not with
another is not idle, and counts by half here. Remember for each unit whether it was ever busy."""

def idle_units(net, batches):
    seen = {}

    def watch(name):
        def hook(module, inputs, output):
            seen.setdefault(name, []).append(_share(_busy(output)))
        return hook

    hooks = [m.register_forward_hook(watch(n)) for n, m in net.named_modules() if isinstance(m, nn.ReLU)]
    with torch.no_grad():
        for batch in batches:
            net(*batch)
    for hook in hooks:
        hook.remove()
    return {name: sum(found) / len(found) for name, found in seen.items()}

# %% other-activations-listed
# killed_by: rows
"""You list other activations as well. A GELU or a leaky ReLU lets a gradient through where its input is
negative, so its units are not idle because an output is 0. The contract asks for each nn.ReLU."""

def idle_units(net, batches):
    busy, hooks = {}, []

    def watch(name):
        def hook(module, inputs, output):
            busy[name] = busy.get(name, False) | _busy(output)
        return hook

    listed = (nn.ReLU, nn.GELU, nn.LeakyReLU)
    hooks = [m.register_forward_hook(watch(n)) for n, m in net.named_modules() if isinstance(m, listed)]
    with torch.no_grad():
        for batch in batches:
            net(*batch)
    for hook in hooks:
        hook.remove()
    return {name: _share(found) for name, found in busy.items()}

# %% uncalled-is-idle
# killed_by: rows
"""You list a ReLU that no batch reaches. Nothing is known about its units, and the contract leaves it
out."""

right_idle_units = idle_units

def idle_units(net, batches):
    relus = {name: 1.0 for name, module in net.named_modules() if isinstance(module, nn.ReLU)}
    return relus | right_idle_units(net, batches)

# %% second-axis
# killed_by: axes
"""Your units are along the second axis. With (rows, units) that is the last one, and with sequences it
is time: a position is idle for you when all its units are."""

def _busy(output):
    return (output > 0).transpose(0, 1).flatten(start_dim=1).any(dim=1)

# %% positions-apart
# killed_by: axes
"""You call each position of a sequence a unit of its own. They share their weights, and a unit that is
busy at any position learns; rows are along all axes but the last."""

def _busy(output):
    return (output > 0).any(dim=0).flatten()

# %% hooks-left
# killed_by: afterwards
"""Your hooks stay on the net. They run with every forward that follows, cost time, and keep what they
refer to; each register_forward_hook returns what removes it."""

def idle_units(net, batches):
    busy = {}

    def watch(name):
        def hook(module, inputs, output):
            found = _busy(output.detach())
            busy[name] = busy.get(name, False) | found
        return hook

    for name, module in net.named_modules():
        if isinstance(module, nn.ReLU):
            module.register_forward_hook(watch(name))
    with torch.no_grad():
        for batch in batches:
            net(*batch)
    return {name: _share(found) for name, found in busy.items()}

# %% mode-changed
# killed_by: afterwards
"""Your net is in evaluation mode after the call, and a net that was trained goes on without dropout.
Put the mode back, or leave it as it is."""

right_idle_units = idle_units

def idle_units(net, batches):
    net.eval()
    return right_idle_units(net, batches)

# %% graph-used-up
# killed_by: left
"""Your report frees the graph of the loss, so that the loss.backward() of the training step raises a
RuntimeError. autograd.grad and backward free what they have passed, unless they are called with
retain_graph=True."""

def _gradients(loss, parameters):
    return torch.autograd.grad(loss, parameters, allow_unused=True)
