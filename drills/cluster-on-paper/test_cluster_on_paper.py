"""The estimates of `cluster-on-paper`: by modules, a schedule and a ring, and as rounded."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from grader import bank
from grader.explain.session import GradingSession
from grader.model.report import Report, Verdict
from tests.harness import ROOT, Program, load_text, named

RIGHT = {
    "params": "2.82e10", "block": "721 MB", "stage": "46.2 GB", "recomputed": "3.22 GB",
    "reversible": "805 MB", "bubble": "0.18", "reduce_time": "211 ms", "fsdp_bytes": "164 GB",
    "offload_time": "13.1 ms", "block_time": "8.08 ms", "mfu": "0.39", "hfu": "0.52",
}  # fmt: skip
WRONG: list[tuple[str, dict[str, str]]] = [
    ("keys-and-values-for-every-query-head",
     {"params": "32.2e9", "reduce_time": "242 ms", "fsdp_bytes": "187 GB", "block_time": "9.38 ms",
      "mfu": "0.445", "hfu": "0.593"}),
    ("mlp-of-two-matrices",
     {"params": "21.7e9", "reduce_time": "163 ms", "fsdp_bytes": "126 GB", "block_time": "6 ms",
      "mfu": "0.3", "hfu": "0.4"}),
    ("one-table",
     {"params": "26.6e9", "reduce_time": "199 ms", "fsdp_bytes": "154 GB", "mfu": "0.367",
      "hfu": "0.489"}),
    ("blocks-alone",
     {"params": "25e9", "reduce_time": "187 ms", "fsdp_bytes": "145 GB", "mfu": "0.345",
      "hfu": "0.46"}),
    ("every-micro-batch-under-way",
     {"stage": "185 GB", "recomputed": "12.9 GB", "reversible": "3.22 GB"}),
    ("one-micro-batch", {"stage": "5.77 GB", "recomputed": "403 MB", "reversible": "101 MB"}),
    ("blocks-of-all-stages", {"stage": "369 GB"}),
    ("one-wide-tensor", {"block": "453 MB", "stage": "29 GB", "offload_time": "8.24 ms"}),
    ("two-wide-tensors", {"block": "587 MB", "stage": "37.6 GB", "offload_time": "10.7 ms"}),
    ("unfused-activation", {"block": "856 MB", "stage": "54.8 GB", "offload_time": "15.6 ms"}),
    ("keys-as-wide-as-queries", {"block": "805 MB", "stage": "51.5 GB", "offload_time": "14.6 ms"}),
    ("input-kept-for-each-projection",
     {"block": "822 MB", "stage": "52.6 GB", "offload_time": "14.9 ms"}),
    ("input-of-the-block-alone", {"block": "50 MB", "stage": "3.22 GB", "offload_time": "915 us"}),
    ("float32-activations", {"block": "1.44 GB", "stage": "92.3 GB", "offload_time": "26.2 ms"}),
    ("gib-labelled-gb",
     {"block": "688 MB", "stage": "43 GB", "recomputed": "3 GB", "reversible": "768 MB",
      "fsdp_bytes": "152.6 GB"}),
    ("gib-labelled-gb",
     {"block": "0.672 GB", "stage": "43 GB", "recomputed": "3 GB", "reversible": "0.75 GB",
      "fsdp_bytes": "152.6 GB"}),
    ("input-of-the-stage-alone", {"recomputed": "403 MB"}),
    ("one-stream", {"reversible": "403 MB"}),
    ("reversible-by-the-block", {"reversible": "6.44 GB"}),
    ("block-at-work-added", {"recomputed": "3.94 GB", "reversible": "1.53 GB"}),
    ("block-at-work-added", {"recomputed": "3.94 GB"}),
    ("block-at-work-added", {"reversible": "1.53 GB"}),
    ("stages-for-micro-batches", {"bubble": "0.795"}),
    ("bubble-over-the-work", {"bubble": "7/32"}),
    ("one-wait-too-many", {"bubble": "1/4"}),
    ("fill-and-drain-both-in-full", {"bubble": "14/46"}),
    ("bits-for-bytes", {"reduce_time": "26.4 ms"}),
    ("ring-once", {"reduce_time": "141 ms"}),
    ("ring-once", {"reduce_time": "106 ms"}),
    ("to-everyone", {"reduce_time": "0.423 s"}),
    ("whole-model-reduced", {"reduce_time": "1.69 s"}),
    ("ring-of-all-cards", {"reduce_time": "0.273 s"}),
    ("ring-of-all-cards", {"reduce_time": "2.18 s"}),
    ("sharded-as-replicated", {"fsdp_bytes": "109 GB"}),
    ("own-share-sent", {"fsdp_bytes": "169 GB"}),
    ("own-share-sent", {"reduce_time": "282 ms", "fsdp_bytes": "169 GB"}),
    ("own-share-sent", {"reduce_time": "0.282 s"}),
    ("gathered-once", {"fsdp_bytes": "54.6 GB"}),
    ("both-directions", {"offload_time": "6.56 ms"}),
    ("one-flop-per-parameter", {"block_time": "4.04 ms", "mfu": "0.195", "hfu": "0.26"}),
    ("backward-counted-as-well", {"block_time": "24.2 ms"}),
    ("at-full-peak", {"block_time": "3.23 ms"}),
    ("repetition-in-mfu", {"mfu": "0.519"}),
    ("forward-alone", {"mfu": "0.13", "hfu": "0.26"}),
    ("tokens-of-one-replica", {"mfu": "0.0973", "hfu": "0.13"}),
    ("attention-counted", {"mfu": "0.434", "hfu": "0.578"}),
    ("input-table-left-out", {"mfu": "0.367", "hfu": "0.489"}),
    # No idea of the question: those have no name.
    ("", {"params": "28.2e6"}),
    ("", {"params": "29e9"}),  # rounded too far
    ("", {"block": "176 kB"}),  # of one token
    ("", {"stage": "46.2 MB"}),
    ("", {"recomputed": "0 B"}),
    ("", {"reversible": "0 B"}),
    ("", {"bubble": "17.9"}),  # percent
    ("", {"bubble": "0.2"}),
    ("", {"bubble": "8/39"}),
    ("", {"reduce_time": "0.2114 ms"}),
    ("", {"fsdp_bytes": "148 GB"}),  # over 8 cards
    ("", {"fsdp_bytes": "175.9 GB"}),  # GiB for GB
    ("", {"offload_time": "105 ms"}),  # bits
    ("", {"block_time": "20.2 ms"}),  # 40 % twice
    ("", {"mfu": "38.9", "hfu": "51.9"}),
    ("", {"mfu": "0.4", "hfu": "0.78"}),  # twice the model's
    ("", {"hfu": "0.389"}),
    ("", dict.fromkeys(RIGHT, "0")),
]  # fmt: skip


def graded(session: GradingSession, changed: dict[str, str]) -> Report:
    lines = [f"{name} = {text}" for name, text in (RIGHT | changed).items()]
    return session.grade("\n".join(lines).encode(), seed=8, filename="answers.txt")


def test_estimates_as_people_round_them_pass(session: GradingSession) -> None:
    assert graded(session, {}).verdict is Verdict.PASS
    assert graded(session, {"hfu": "0.504"}).verdict is Verdict.PASS  # tables done once


@pytest.mark.parametrize(("idea", "changed"), WRONG)
def test_wrong_estimates_have_their_names_and_no_others(
    idea: str, changed: dict[str, str], session: GradingSession
) -> None:
    report = graded(session, changed)
    assert report.verdict is Verdict.FAIL
    assert named(report) == ({idea} if idea else set())


SETS = range(len(bank.load_question([ROOT], "cluster-on-paper").spec.given))


def drawn(number: int) -> tuple[dict[str, Any], Program]:
    question = bank.load_question([ROOT], "cluster-on-paper", number)
    return dict(question.spec.given[number]), load_text(question.reference)


def asked(one: dict[str, Any], program: Program) -> dict[str, float]:
    """All twelve numbers of a set."""
    block = [one[name] for name in ("hidden", "heads", "kv_heads", "wide")]
    shape = [one["layers"], *block]
    way = [one[name] for name in ("stages", "micro", "tokens")]
    cards = [one["vocab"], one["stages"], one["replicas"]]
    found: dict[str, float] = program.model(*shape, one["vocab"])
    return {
        **found, **program.memory(*shape, *way), **program.cheaper(*shape, *way),
        **program.schedule(*way[:2]), **program.network(*shape, *cards, one["port"]),
        **program.offload(*block, one["tokens"], one["pcie"]),
        **program.use(*shape, *cards, *way[1:], one["step"]),
    }  # fmt: skip


def block(hidden: int, heads: int, kv_heads: int, wide: int) -> torch.nn.ModuleList:
    """The modules of a block on a device without memory."""
    pairs = [(hidden, 128 * heads), (hidden, 128 * kv_heads), (hidden, 128 * kv_heads)]
    pairs += [(128 * heads, hidden), (hidden, wide), (hidden, wide), (wide, hidden)]
    linear = [torch.nn.Linear(*pair, bias=False, device="meta") for pair in pairs]
    return torch.nn.ModuleList(
        [*linear, *(torch.nn.RMSNorm(hidden, device="meta") for _ in range(2))]
    )


def counted(*modules: torch.nn.Module) -> int:
    return sum(p.numel() for module in modules for p in module.parameters())


def played(stages: int, micro: int, first: bool) -> tuple[float, int]:
    """Share that a stage waits, and most micro-batches under way in the first; 1F1B or GPipe."""
    orders = []
    for stage in range(stages):
        early = min(micro, stages - stage) if first else micro
        order = [("forward", m) for m in range(early)]
        for m in range(micro):
            order.append(("backward", m))
            order += [("forward", early + m)] if early + m < micro else []
        orders.append(order)
    ends: dict[tuple[str, int, int], float] = {}
    free, place = [0.0] * stages, [0] * stages
    while any(at < 2 * micro for at in place):
        for stage in range(stages):
            if place[stage] == 2 * micro:
                continue
            what, m = orders[stage][place[stage]]
            before = stage - 1 if what == "forward" else stage + 1
            edge = not 0 <= before < stages
            if not edge and (what, m, before) not in ends:
                continue
            begins = max(free[stage], 0.0 if edge else ends[what, m, before])
            free[stage] = ends[what, m, stage] = begins + (1 if what == "forward" else 2)
            place[stage] += 1
    steps = [1 if what == "forward" else -1 for what, _ in orders[0]]
    return 1 - 3 * micro / max(free), max(sum(steps[: i + 1]) for i in range(len(steps)))


def sent(ranks: int) -> tuple[float, float]:
    """Shares of the bytes that a card sends in a ring: for an all-reduce, for a pass of FSDP."""
    held = [[{rank} for _ in range(ranks)] for rank in range(ranks)]  # whose sums each chunk has
    messages = 0
    for begins in (0, 1):  # added up, then handed out
        for turn in range(ranks - 1):
            chunks = [(rank, (rank - turn + begins) % ranks) for rank in range(ranks)]
            copies = [(rank, chunk, set(held[rank][chunk])) for rank, chunk in chunks]
            for rank, chunk, what in copies:
                held[(rank + 1) % ranks][chunk] |= what
            messages += 1
        if not begins:
            once = messages
            assert all(any(len(h[c]) == ranks for h in held) for c in range(ranks))
    assert all(len(chunk) == ranks for one in held for chunk in one)
    return messages / ranks, once / ranks


@pytest.mark.parametrize("number", SETS)
def test_every_number_of_every_set(number: int) -> None:
    one, program = drawn(number)
    found = asked(one, program)
    h, tokens, stages, micro = (one[n] for n in ("hidden", "tokens", "stages", "micro"))
    module = block(h, one["heads"], one["kv_heads"], one["wide"])
    tables = [torch.nn.Embedding(one["vocab"], h, device="meta") for _ in range(2)]
    last = torch.nn.RMSNorm(h, device="meta")
    params = one["layers"] * counted(module) + counted(*tables, last)
    assert found["params"] == params
    # One number for each entry of what enters a norm or a matrix, once where two share it, and of
    # what queries, keys, values, gate and up are.
    q, k, v, out, gate, up, down = (m for m in module if isinstance(m, torch.nn.Linear))
    kept = 2 * h + q.in_features + out.in_features + gate.in_features + down.in_features
    kept += sum(m.out_features for m in (q, k, v, gate, up))
    assert found["block"] == 2 * tokens * kept
    waits, under_way = played(stages, micro, first=True)
    as_long, kept_by_gpipe = played(stages, micro, first=False)
    assert as_long == pytest.approx(waits)
    assert kept_by_gpipe == micro
    assert found["bubble"] == pytest.approx(waits)
    blocks = one["layers"] // stages
    assert blocks * stages == one["layers"]
    assert found["stage"] == sum([2 * tokens * kept] * blocks * under_way)
    assert found["recomputed"] == sum([2 * tokens * h] * blocks * under_way)
    assert found["reversible"] == sum([2 * 2 * tokens * h] * under_way)
    rate, cards = one["port"] * 125e6, stages * one["replicas"]
    of_all, _ = sent(one["replicas"])
    assert found["reduce_time"] == pytest.approx(of_all * 2 * params / stages / rate)
    assert found["fsdp_bytes"] == pytest.approx(3 * sent(cards)[1] * 2 * params)
    assert found["offload_time"] == pytest.approx(found["block"] / (one["pcie"] * 1e9))
    assert found["block_time"] == pytest.approx(2 * counted(module) * tokens / 395.6e12)
    work = params * tokens * micro * one["replicas"] / (one["step"] * cards * 989e12)
    assert (found["mfu"], found["hfu"]) == pytest.approx((6 * work, 8 * work))


@pytest.mark.parametrize("number", SETS)
def test_what_the_texts_say_of_every_set(number: int) -> None:
    one, program = drawn(number)
    found = asked(one, program)
    assert one["heads"] * 128 == one["hidden"]
    assert one["micro"] > one["stages"]
    # Who leaves out (n - 1) / n is off by more than the 2 % that an estimate may be.
    assert 1 / (one["stages"] * one["replicas"] - 1) > 0.02
    # A stage and 8 bytes for each of its parameters, in bf16 with two moments, are on a card.
    assert found["stage"] + 8 * found["params"] / one["stages"] < 80e9
    assert one["vocab"] * one["hidden"] > 0.05 * found["params"]
    assert found["offload_time"] > found["block_time"]
    hidden_bytes = found["block_time"] * one["pcie"] * 1e9
    without = found["block"] - 3 * 2 * one["tokens"] * one["wide"]
    assert without < hidden_bytes < found["block"]
    texts = [
        follow.answer
        for follow in bank.load_question([ROOT], "cluster-on-paper", number).spec.follow_ups
    ]
    assert f"{hidden_bytes / 1e6:.0f} MB, of {found['block'] / 1e6:.0f}." in texts[0]
    assert f"{without / 1e6:.0f} MB are left" in texts[0]
    assert f"{found['recomputed'] / 1e9:.3g} GB, and makes" in texts[1]
    assert f"keeps {found['reversible'] / 1e9:.3g} GB however" in texts[1]
    waits, under_way = played(one["stages"], 4 * one["micro"], first=True)
    assert texts[2].startswith(f"{waits:.3g}. ")
    assert f"more than {under_way} micro-batches" in texts[2]
    share = found["fsdp_bytes"] / (one["port"] * 125e6) / one["step"]
    assert texts[3].startswith(f"{share:.3g}, ")
    assert share < 1
