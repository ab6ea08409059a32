// How this plugin calls kagewasm. kagewasm install writes the user's own way here: the program, the flags of every call,
// those of a compaction, where its server listens, the version that wrote this, the folder for its plans, and the
// characters over which a result is shortened, 0 for none.
export const program = "kagewasm"
export const state = []
export const policy = []
export const socket = ""
export const version = ""
export const folder = ""
export const shrinkResultsOver = 0
