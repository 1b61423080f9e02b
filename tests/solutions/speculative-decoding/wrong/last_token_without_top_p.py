"""Wrong: after k kept proposals the last token is drawn without top_p."""
# named: last-token-unfiltered

from serving import draw, probs

def verify(p, q, token, u):
    p, q = [float(x) for x in p], [float(x) for x in q]
    if u[0] * q[token] < p[token]:
        return token, True
    missing = [max(a - b, 0.0) for a, b in zip(p, q)]
    whole = sum(missing)
    if whole <= 0:
        missing, whole = p, sum(p)
    total = 0.0
    for found, share in enumerate(missing):
        total += share / whole
        if total > u[1]:
            return found, False
    return max(i for i, share in enumerate(missing) if share > 0), False

def step(target, draft, text, k, u, top_p=1.0):
    row = draft.extend(text[len(draft.tokens) :])[-1]
    proposals = []
    for i in range(k):
        q = probs(row, top_p)
        proposals.append((draw(q, u[i]), q))
        row = draft.extend([proposals[-1][0]])[-1]
    rows = target.extend(text[-1:] + [token for token, _ in proposals])
    new = []
    while len(new) < k:
        i = len(new)
        token, kept = verify(probs(rows[i], top_p), proposals[i][1], proposals[i][0], [u[k + i], u[-1]])
        new += [token]
        if not kept:
            break
    else:
        new += [draw(probs(rows[-1]), u[-1])]
    held = text + new[:-1]
    target.truncate(len(held))
    draft.truncate(len(held))
    return new

def plan(p, q, k, cost):
    alpha = sum(min(a, b) for a, b in zip(p, q))
    tokens = reached = 1.0
    for _ in range(k):
        reached *= alpha
        tokens += reached
    return dict(alpha=alpha, tokens=tokens, speedup=tokens / (1 + cost * k), break_even=(tokens - 1) / k)
