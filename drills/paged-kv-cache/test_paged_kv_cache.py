"""The reference and every right solution of paged-kv-cache, against blocks that are objects.

In the oracle nobody counts anything: a sequence is a list of blocks, a block is in use if a list
reaches it, and whole beginnings are compared. Scripts are drawn at random.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.harness import Program, each, variants

variant = variants(__file__)


class Oracle:
    """What a pool has to say, with a list of free blocks in the order in which they are taken."""

    def __init__(self, blocks: int, size: int) -> None:
        self.size, self.ended = size, 0
        self.free: list[dict[str, Any]] = [{"text": None} for _ in range(blocks)]
        self.lists: dict[str, tuple[list[int], list[Any]]] = {}

    def in_use(self) -> int:
        return len({id(block) for _, table in self.lists.values() for block in table})

    def others(self, name: str, block: Any) -> bool:
        return any(
            one is block for other, (_, t) in self.lists.items() if other != name for one in t
        )

    def append(self, name: str, tokens: list[int]) -> bool:
        text, table = self.lists[name]
        whole = text + tokens
        kept = list(table)
        if tokens and len(text) % self.size and self.others(name, table[-1]):
            kept.pop()
        wanted = -(-len(whole) // self.size) - len(kept)
        if wanted > len(self.free):
            return False
        taken, self.free = self.free[:wanted], self.free[wanted:]
        for block in taken:
            block["text"] = None
        self.lists[name] = whole, kept + taken
        for end in range(self.size, len(whole) + 1, self.size):
            self.lists[name][1][end // self.size - 1]["text"] = whole[:end]
        return True

    def end(self, name: str) -> None:
        _, table = self.lists.pop(name)
        self.free += [block for block in table[::-1] if not self.others("", block)]

    def start(self, name: str, tokens: list[int]) -> int:
        held = [block for _, table in self.lists.values() for block in table]
        table: list[Any] = []
        for end in range(self.size, len(tokens), self.size):
            same = [b for b in [*self.free, *held] if b["text"] == tokens[:end]]
            if not same:
                break
            table.append(same[0])
        self.free = [b for b in self.free if not any(b is one for one in table)]
        self.lists[name] = tokens[: len(table) * self.size], table
        return len(table) * self.size

    def has_equal_blocks(self) -> bool:
        """Whether two blocks hold the same, so that the contract leaves open which is found."""
        held = [block for _, table in self.lists.values() for block in table]
        every = {id(b): b["text"] for b in [*self.free, *held] if b["text"]}
        texts = [tuple(text) for text in every.values()]
        return len(texts) != len(set(texts))


def followed(program: Program, driver: Program, seed: int, steps: int, *, starts: bool) -> int:
    """Play a random script on a program and on the oracle; return how many blocks were found."""
    rng = np.random.default_rng(seed)
    blocks, size = int(rng.integers(3, 12)), int(rng.integers(2, 5))
    cache, oracle = program.PagedCache(blocks, size, 2), Oracle(blocks, size)
    numbers: dict[str, int] = {}
    gone: list[tuple[str, list[int]]] = []
    found = 0
    for step in range(steps):
        names, fresh = sorted(oracle.lists), f"s{step}"
        what = rng.choice(["new", "append", "append", "append", "fork", "free", "start"])
        if not names or what == "new":
            numbers[fresh], oracle.lists[fresh] = cache.new(), ([], [])
        elif what == "fork":
            name = rng.choice(names)
            numbers[fresh] = cache.fork(numbers[name])
            text, table = oracle.lists[name]
            oracle.lists[fresh] = list(text), list(table)
        elif what == "free":
            name = rng.choice(names)
            gone.append((name, oracle.lists[name][0]))
            cache.free(numbers[name])
            oracle.end(name)
            with pytest.raises(KeyError):
                cache.read(numbers[name])
        elif what == "start" and starts and gone and gone[-1][1]:
            tokens = [*gone[int(rng.integers(len(gone)))][1], 7]
            numbers[fresh], n = cache.start(tokens)
            assert n == oracle.start(fresh, tokens)
            found += n
        else:
            name, n = rng.choice(names), int(rng.integers(0, 7))
            more = [int(t) for t in rng.integers(0, 1000, n)]
            whole = [*oracle.lists[name][0], *more]
            rows = driver.rows_of(whole, 2)[len(whole) - n :]
            if oracle.append(name, more):
                cache.append(numbers[name], more, rows)
            else:
                with pytest.raises(MemoryError):
                    cache.append(numbers[name], more, rows)
        assert cache.in_use() == oracle.in_use()
        for name, (text, _) in oracle.lists.items():
            np.testing.assert_array_equal(cache.read(numbers[name]), driver.rows_of(text, 2))
        if starts and oracle.has_equal_blocks():
            break
    return found


@each("seed", range(12))
def test_random_scripts_end_as_with_blocks_that_are_objects(
    program: Program, driver: Program, seed: int
) -> None:
    followed(program, driver, seed, 60, starts=False)


def test_what_is_found_again_is_the_longest_beginning_that_is_left(
    program: Program, driver: Program
) -> None:
    assert sum(followed(program, driver, seed, 80, starts=True) for seed in range(40)) > 50


def test_thousands_of_blocks_of_one_text_are_found_again(
    reference: Program, driver: Program
) -> None:
    cache, tokens = reference.PagedCache(2000, 1, 1), list(range(2000))
    seq = cache.new()
    cache.append(seq, tokens, driver.rows_of(tokens, 1))
    cache.free(seq)
    assert cache.start(tokens)[1] == 1999


# What the text says.


def samples(program: Program, prompt: int, size: int, count: int = 4) -> tuple[Any, list[int]]:
    """A prompt, and what is in use after each of its samples has gone on."""
    cache = program.PagedCache(400, size, 1)
    seqs = [cache.new()]
    cache.append(seqs[0], list(range(prompt)), np.zeros((prompt, 1)))
    seqs += [cache.fork(seqs[0]) for _ in range(count - 1)]
    used = [cache.in_use()]
    for at, seq in enumerate(seqs):
        cache.append(seq, [at], np.full((1, 1), at + 1.0))
        used.append(cache.in_use())
    return [cache.read(seq)[-1, 0] for seq in seqs], used


def test_four_samples_share_a_prompt(reference: Program) -> None:
    assert samples(reference, 1000, 16)[1] == [63, 64, 65, 66, 66]
    assert 4 * -(-1000 // 16) == 252
    assert samples(variant("old-block-not-released"), 1000, 16)[1][-1] == 67
    assert samples(variant("shares-the-half-full-block"), 1000, 16)[1][-1] == 63


@each("prompt", [64, 512])
def test_the_starter_is_right_for_the_prompts_of_the_tests(starter: Program, prompt: int) -> None:
    assert samples(starter, prompt, 16)[0] == [1, 2, 3, 4]


def test_the_starter_is_right_where_one_sample_goes_on(starter: Program, driver: Program) -> None:
    cache = starter.PagedCache(9, 4, 1)
    a = cache.new()
    cache.append(a, [1] * 6, driver.rows_of([1] * 6, 1))
    b = cache.fork(a)
    cache.append(b, [2] * 3, driver.rows_of([1] * 6 + [2] * 3, 1)[6:])
    np.testing.assert_array_equal(cache.read(a), driver.rows_of([1] * 6, 1))
    np.testing.assert_array_equal(cache.read(b), driver.rows_of([1] * 6 + [2] * 3, 1))


def test_one_sample_goes_on_with_words_of_another_in_the_starter(starter: Program) -> None:
    assert samples(starter, 1000, 16)[0] == [4, 4, 4, 4]


def test_a_sequence_leaves_seven_and_a_half_rows_of_sixteen_unused() -> None:
    assert np.mean([-n % 16 for n in range(1, 1601)]) == 7.5


def test_two_short_texts_have_one_hash_in_python() -> None:
    assert hash((-1,)) == hash((-2,))
