"""A net all of whose new parameters learn, and two reports that would have shown it earlier."""

import torch
import torch.nn.functional as F
from torch import nn

CLASSES = 5
RATE = 0.1


class Net(nn.Module):
    """Three experts on a pretrained trunk, weighed by a gate, and a head."""

    def __init__(self):
        """Draw the weights from torch's generator."""
        super().__init__()
        self.trunk = nn.Linear(12, 16)
        self.trunk_adapter = nn.Linear(16, 16)
        self.context = nn.Linear(4, 16)
        self.gate = nn.Linear(16, 3)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(16, 24), nn.ReLU(), nn.Linear(24, 16)) for _ in range(3)
        )
        self.head = nn.Linear(16, CLASSES)

    def forward(self, x, c):
        """Return the logits (rows, 5) of readings x (rows, 12) in rooms c (rows, 4)."""
        h = torch.tanh(self.trunk(x))
        h = h + self.trunk_adapter(h) + _room(self, c)
        outputs = torch.stack([expert(h) for expert in self.experts], dim=1)
        return self.head((_mix(self, h)[:, :, None] * outputs).sum(dim=1))


def _room(net, c):
    return net.context(c)


def _mix(net, h):
    """The weight of each expert, (rows, 3)."""
    return torch.softmax(net.gate(h), dim=1)


def _learns(name):
    """Whether a parameter is to learn: all but those of the module `trunk`."""
    return not name.startswith("trunk.")


def _begin(net):
    """Set first values other than those that torch draws; none are needed."""


def _optimizer(net):
    """Made once the net is complete, because it keeps the parameters that it is given."""
    return torch.optim.SGD(net.parameters(), lr=RATE)


def build(seed=0):
    """Return a net and its optimizer."""
    torch.manual_seed(seed)
    net = Net()
    for name, p in net.named_parameters():
        p.requires_grad_(_learns(name))
    _begin(net)
    return net, _optimizer(net)


def step(net, opt, x, c, y):
    """Make one step on a batch, and return its loss before that."""
    opt.zero_grad()
    loss = F.cross_entropy(net(x, c), y)
    loss.backward()
    opt.step()
    return loss.item()


def causes():
    """What was wrong with the script."""
    return ["cut", "dead", "frozen", "saturated", "stale"]


def report(net, loss):
    """Return a word for each parameter of net, by name: what this loss has it learn.

    The gradients are asked for and not added to `.grad`, and the graph of loss stays.
    """
    asked = [p for p in net.parameters() if p.requires_grad]
    found = _gradients(loss, asked) if asked and loss.requires_grad else [None] * len(asked)
    words = {id(p): _word(g) for p, g in zip(asked, found, strict=True)}
    return {name: words.get(id(p), "frozen") for name, p in net.named_parameters()}


def _gradients(loss, parameters):
    return torch.autograd.grad(loss, parameters, retain_graph=True, allow_unused=True)


def _word(grad):
    """Judge by the elements: the squares in a norm underflow and overflow."""
    if grad is None:
        return "none"
    if not grad.isfinite().all():
        return "nan"
    return "ok" if grad.count_nonzero() else "zero"


def idle_units(net, batches):
    """Return for each nn.ReLU that is called the share of units that are 0 in every row."""
    busy = {}

    def note(name):
        def hook(module, inputs, output):  # noqa: ARG001
            found = _busy(output.detach())
            busy[name] = busy.get(name, False) | found

        return hook

    hooks = [
        module.register_forward_hook(note(name))
        for name, module in net.named_modules()
        if isinstance(module, nn.ReLU)
    ]
    try:
        with torch.no_grad():
            for batch in batches:
                net(*batch)
    finally:
        for hook in hooks:
            hook.remove()
    return {name: _share(found) for name, found in busy.items()}


def _busy(output):
    """Which units, along the last axis, are above 0 in some row."""
    return (output > 0).flatten(end_dim=-2).any(dim=0)


def _share(busy):
    return 1 - busy.double().mean().item()
