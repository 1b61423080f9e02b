def train_step(params, batch, loss_and_grads, opt, max_norm):
    loss, grads = loss_and_grads(params, batch)
    usable = is_usable(loss, grads)
    norm = clip(grads, max_norm) if usable else math.nan
    if usable:
        opt.step(params, grads)
    elif hasattr(opt, "t"):
        opt.t += 1
    return {"loss": loss, "grad_norm": norm, "skipped": not usable}
