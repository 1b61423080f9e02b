"""Wrong: the new block is given the rows of the old one, not a copy of them."""
# named: copies-a-reference

import numpy as np

class PagedCache:
    def __init__(self, blocks, size, width):
        pool = [np.zeros((size, width)) for _ in range(blocks)]
        waiting, holders, sequences, known = list(range(blocks)), {}, {}, {}
        made = []

        def begin(table, text):
            made.append(None)
            sequences[len(made)] = [table, text]
            return len(made)

        def take():
            block = waiting.pop(0)
            for key in [key for key, where in known.items() if block in where]:
                known[key].remove(block)
            holders[block] = 1
            return block

        def append(seq, tokens, rows):
            table, text = sequences[seq]
            n, more = len(text), len(rows)
            shares = more and n % size and holders[table[-1]] > 1
            wants = sum(1 for i in range(n, n + more) if i % size == 0) + (1 if shares else 0)
            if wants > len(waiting):
                raise MemoryError(wants)
            if shares:
                block = take()
                pool[block] = pool[table[-1]]
                holders[table[-1]] -= 1
                table[-1] = block
            for i, (token, row) in enumerate(zip(tokens, rows), n):
                if i % size == 0:
                    table.append(take())
                pool[table[i // size]][i % size] = row
                text += (int(token),)
                if i % size == size - 1:
                    known.setdefault(text, []).append(table[-1])
            sequences[seq][1] = text

        def fork(seq):
            table, text = sequences[seq]
            for block in table:
                holders[block] += 1
            return begin(list(table), text)

        def read(seq):
            table, text = sequences[seq]
            flat = [pool[block][i] for block in table for i in range(size)]
            return np.stack(flat[: len(text)]) if text else np.zeros((0, width))

        def free(seq):
            table, _ = sequences.pop(seq)
            for block in table[::-1]:
                holders[block] -= 1
                if holders[block] == 0:
                    waiting.append(block)

        def start(tokens):
            tokens, table = tuple(int(t) for t in tokens), []
            while (len(table) + 1) * size < len(tokens):
                places = known.get(tokens[: (len(table) + 1) * size])
                if not places:
                    break
                table.append(places[-1])
            for block in table:
                if not holders[block]:
                    waiting.remove(block)
                holders[block] += 1
            return begin(table, tokens[: len(table) * size]), len(table) * size

        self.new = lambda: begin([], ())
        self.append, self.fork, self.read, self.free, self.start = append, fork, read, free, start
        self.in_use = lambda: blocks - len(waiting)
