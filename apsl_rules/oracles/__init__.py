"""Independence questions: the protocol of an oracle, and the asker that stands before every one."""
