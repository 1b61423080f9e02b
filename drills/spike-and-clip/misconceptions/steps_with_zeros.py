def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    if not usable:
        grads = [np.zeros_like(g) for g in grads]
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}
