# How this plugin calls kagewasm. kagewasm install writes the user's own way here: the program, where its server listens,
# the version that wrote this, the flags of every call, and those of a compaction.
program = "kagewasm"
socket = ""
version = ""
state = []
policy = []
