"""Who is adjacent to whom, as far as an oracle can tell: candidates, symmetric neighbours, blankets."""
