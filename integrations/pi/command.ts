// How this extension calls kagewasm. kagewasm install writes the user's own way here: the program, the flags of every
// call, and those of a compaction.
export const program = "kagewasm"
export const state: string[] = []
export const policy: string[] = []
