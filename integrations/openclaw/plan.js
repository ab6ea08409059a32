// A plan says what a session is without what was superseded: the messages that are gone, by what they say, and the note
// that stands before one that stays.
import { createHash } from "node:crypto"

export const keyOf = ({ role, content, toolCallId }) =>
  createHash("sha256").update(JSON.stringify([role, content, toolCallId])).digest("hex").slice(0, 24)

const partsOf = m => (typeof m.content === "string" ? [{ type: "text", text: m.content }] : m.content ?? [])
const textOf = m => partsOf(m).filter(p => p.type === "text").map(p => p.text).join("\n")
const isNote = text => /^<compaction_summary-[0-9a-f]{16} /.test(text)

// toLine is a message in kagewasm's neutral format.
export const toLine = (m, index) => {
  const id = `${index}-${keyOf(m)}`
  const content = textOf(m)
  if (m.role === "toolResult") {
    return { id, role: "tool", tool_call_id: m.toolCallId, content, is_error: m.isError === true }
  }
  if (m.role !== "assistant") {
    const kind = isNote(content) ? "compaction_summary" : undefined
    return { id, role: m.role === "system" ? "system" : "user", content, kind }
  }
  const called = partsOf(m).filter(p => p.type === "toolCall")
  const calls = called.map(p => ({ id: p.id, name: p.name, arguments: p.arguments ?? {} }))
  return { id, role: "assistant", content, tool_calls: calls.length > 0 ? calls : undefined }
}

// joined is a conversation and a turn of it. The last messages of the one may be the first of the other.
export const joined = (messages, turn) => {
  const known = messages.map(keyOf)
  const next = turn.map(keyOf)
  let at = Math.max(0, known.length - next.length)
  while (at < known.length && !known.slice(at).every((key, i) => key === next[i])) at++
  return [...messages.slice(0, at), ...turn]
}

// apply replays a plan. Where it is not about these messages, they stay as they are.
export const apply = (plan, messages) => {
  if (plan === undefined) return messages
  const keys = messages.map(keyOf)
  const left = [...plan.gone]
  const gone = new Set()
  keys.forEach((key, i) => key === left[0] && (left.shift(), gone.add(i)))
  const before = keys.findIndex((key, i) => key === plan.before && !gone.has(i))
  if (left.length > 0 || before < 0) return messages
  const note = { role: "user", content: [{ type: "text", text: plan.note }], timestamp: messages[before].timestamp }
  return messages.flatMap((m, i) => (gone.has(i) ? [] : i === before ? [note, m] : [m]))
}

// planOf is what a compaction comes to for messages that a plan was not yet applied to.
export const planOf = (messages, shown, kept) => {
  const stays = new Set(kept.map(line => line.id))
  const note = kept.findLastIndex(line => line.kind === "compaction_summary")
  const next = shown.findIndex((m, i) => kept.slice(note + 1).some(line => line.id === toLine(m, i).id))
  if (note < 0 || next < 0) return undefined
  const visible = new Set(shown.filter((m, i) => stays.has(toLine(m, i).id)))
  const gone = messages.filter(m => !visible.has(m)).map(keyOf)
  return { gone, note: kept[note].content, before: keyOf(shown[next]) }
}
