# How this plugin calls kagewasm. kagewasm install writes the user's own way here: the program, the flags of every call,
# and those of a compaction.
program = "kagewasm"
state = []
policy = []
