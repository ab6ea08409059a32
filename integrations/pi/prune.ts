// Pruning in pi by kagewasm. Since 0.87 an extension may say at the end of a turn what the model sees of an earlier entry
// from then on. The entry stays as it is, and the edit is an entry of its own: /tree goes back before it.
export type Entry = { type: string; id: string; [key: string]: any }
export type Line = { id: string; role: string; content: string | { type: string; text?: string }[]; kind?: string }

export const textOf = (content: any): string =>
  typeof content === "string" ? content : (content ?? []).map((p: any) => p.text ?? `[${p.type}]`).join("\n")

// edits say what the model is to see of tool results that were shortened.
export const edits = (entries: Entry[], pruned: Line[]) => {
  const seen = new Map<string, string>()
  for (const { type, id, message, targetId, replacement } of entries) {
    if (message?.role === "toolResult") seen.set(id, textOf(message.content))
    if (type === "context_edit" && seen.has(targetId)) seen.set(targetId, textOf(replacement?.content))
  }
  const shortened = ({ id, role, content }: Line) => role === "tool" && seen.has(id) && seen.get(id) !== textOf(content)
  return pruned.filter(shortened).map(({ id, content }) => {
    return { type: "context_edit", targetId: id, replacement: { content: textOf(content) } }
  })
}

// from is how much of a window has to be full for results to be shortened: before that the provider's cache is worth
// more.
const from = 60 // percent

// due says when pruning may be worth it: the window fills, and the session has grown by a twentieth since it was tried.
export const due = () => {
  let last = 0
  return ({ tokens, percent }: { tokens: number | null; percent: number | null }) => {
    if (tokens === null || percent === null || percent < from || tokens < last * 1.05) return false
    last = tokens
    return true
  }
}
