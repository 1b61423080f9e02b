"""The audit of questions: right programs must pass, wrong ones must fail and be named."""
