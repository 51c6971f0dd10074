"""How a run goes: from a request and a source to a part."""
