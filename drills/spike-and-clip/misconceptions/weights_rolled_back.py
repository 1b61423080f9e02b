def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    before = [p.copy() for p in params]
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    if not usable:
        for p, old in zip(params, before):
            p[...] = old
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}
