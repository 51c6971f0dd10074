"""Learning where common causes may be hidden: parts of PAGs, from answers alone or from a table."""
