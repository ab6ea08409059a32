// How this plugin calls kagewasm. kagewasm install writes the user's own way here: the program, the flags of every call,
// those of a compaction, where its server listens, and the version that wrote this; and the folder for its plans.
export const program = "kagewasm"
export const state = []
export const policy = []
export const socket = ""
export const version = ""
export const folder = ""
