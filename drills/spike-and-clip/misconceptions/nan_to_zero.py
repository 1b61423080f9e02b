def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    for g in grads:
        np.nan_to_num(g, copy=False, nan=0.0, posinf=0.0, neginf=0.0)
    norm = clip(grads, max_norm)
    opt.step(params, grads)
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}
