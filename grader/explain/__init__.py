"""Why a submission is wrong, as far as it can be said truthfully: names, and what else it shows."""
