// A plan says what a session is without what was superseded. opencode keeps its messages as they are and asks before
// each call of the model what that shall see: the same plan gives the same beginning, so that prompt caches hold.
import { createHash } from "node:crypto"

export type Part = { id: string; type: string; [key: string]: any }
export type Message = { info: { id: string; sessionID: string; role: string; [key: string]: any }; parts: Part[] }
export type Line = { id: string; role: string; content: any; kind?: string; tool_calls?: any[]; tool_call_id?: string }

// Plan names messages by what they say: a fork has copies of them under other ids.
export type Plan = { gone: string[]; note: string; before: string; results: Record<string, string> }

const noteID = "kagewasm-note"

const called = (part: Part) => part.type === "tool" && ["completed", "error"].includes(part.state.status)

export const keyOf = ({ info, parts }: Message): string => {
  const says = parts.map(p => p.text ?? (called(p) ? p.callID : p.filename ?? p.url ?? ""))
  return createHash("sha256").update(JSON.stringify([info.role, info.time?.created, says])).digest("hex").slice(0, 24)
}

// fits reports whether a plan is about these messages: a fork and a session that went back have plans of their own.
export const fits = (plan: Plan, messages: Message[]): boolean => {
  const has = new Set(messages.map(keyOf))
  return has.has(plan.before) && plan.gone.every(key => has.has(key))
}

// apply leaves out what is gone, puts the note in its place, and shortens results.
export const apply = (plan: Plan | undefined, messages: Message[]): Message[] => {
  if (plan === undefined) return messages
  const keys = messages.map(keyOf)
  const gone = new Set(plan.gone)
  const out: Message[] = []
  messages.forEach((m, i) => {
    if (keys[i] === plan.before) out.push(noteMessage(plan.note, messages))
    if (gone.has(keys[i])) return
    const shortened = (p: Part) => called(p) && plan.results[p.callID] !== undefined
    const result = (p: Part) => (shortened(p) ? { ...p, state: { ...p.state, output: plan.results[p.callID] } } : p)
    out.push(m.parts.some(shortened) ? { ...m, parts: m.parts.map(result) } : m)
  })
  return out
}

const noteMessage = (text: string, messages: Message[]): Message => {
  const user = messages.find(m => m.info.role === "user") ?? messages[0]
  const at = { sessionID: user.info.sessionID, messageID: noteID }
  return { info: { ...user.info, id: noteID, role: "user" }, parts: [{ ...at, id: noteID, type: "text", text }] }
}

// toLines are messages in kagewasm's neutral format. The content of a result is what opencode sends of it.
export const toLines = (messages: Message[]): Line[] =>
  messages.flatMap((m): Line[] => {
    const id = m.info.id === noteID ? noteID : keyOf(m)
    const text = m.parts.filter(p => p.type === "text" && !p.ignored).map(p => p.text).join("\n\n")
    if (m.info.role === "user") {
      return [{ id, role: "user", content: text, kind: id === noteID ? "compaction_summary" : undefined }]
    }
    const tools = m.parts.filter(called)
    const calls = tools.map(p => ({ id: p.callID, name: p.tool, arguments: p.state.input ?? {} }))
    const results = tools.map(({ callID, state }): Line => {
      return { id: `${id}/${callID}`, role: "tool", tool_call_id: callID, content: state.output ?? state.error ?? "" }
    })
    return [{ id, role: "assistant", content: text, tool_calls: calls.length > 0 ? calls : undefined }, ...results]
  })

// planOf is what a compaction comes to: the earlier plan, and what went now.
export const planOf = (was: Plan | undefined, before: Line[], after: Line[]): Plan | undefined => {
  const kept = new Set(after.map(line => line.id))
  const known = new Map(before.map(line => [line.id, line]))
  const results = { ...was?.results }
  for (const line of after) {
    const old = known.get(line.id)?.content ?? line.content
    if (line.role === "tool" && old !== line.content) results[line.tool_call_id!] = line.content
  }
  const note = after.findLastIndex(line => line.kind === "compaction_summary")
  const next = after.slice(note + 1).find(line => line.role !== "tool" && known.has(line.id))
  if (note < 0 || next === undefined) return undefined
  const gone = before.filter(line => line.role !== "tool" && line.id !== noteID && !kept.has(line.id))
  const all = [...(was?.gone ?? []), ...gone.map(line => line.id)]
  return { gone: all, note: after[note].content, before: next.id, results }
}
