def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    norm = norm_of(grads) if usable else math.nan
    if usable:
        before = [p.copy() for p in params]
        opt.step(params, grads)
        moves = [p - old for p, old in zip(params, before)]
        clip(moves, max_norm)
        for p, old, move in zip(params, before, moves):
            p[...] = old + move
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}
