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

// mediaOf is a file that opencode sends as it is, by its reference and its data. Files of text it sends as text.
const mediaOf = ({ type, mime, url, filename }: Part) => {
  if (type !== "file" || ["text/plain", "application/x-directory"].includes(mime)) return []
  const kind = ["image", "audio", "video"].find(kind => mime.startsWith(kind + "/")) ?? "document"
  const [head, data] = url.split(";base64,")
  const source = head.startsWith("data:") && data ? { type: "base64", media_type: mime, data } : { type: "url", url }
  return [{ type: kind, source, filename }]
}

// contentOf is a text, and what is shown with it.
const contentOf = (text: string, files: Part[] = []) => {
  const media = files.flatMap(mediaOf)
  return media.length > 0 ? [...(text === "" ? [] : [{ type: "text", text }]), ...media] : text
}

const reference = ({ type, filename }: any) => `[${[type, filename].filter(Boolean).join(" ")}: no longer shown]`

// textOf is a content as text alone.
export const textOf = (content: any): string =>
  typeof content === "string" ? content : content.map((p: any) => p.text ?? reference(p)).join("\n")

export const keyOf = ({ info, parts }: Message): string => {
  const says = parts.map(p => p.text ?? (called(p) ? p.callID : p.filename ?? p.url ?? ""))
  return createHash("sha256").update(JSON.stringify([info.role, info.time?.created, says])).digest("hex").slice(0, 24)
}

// fits reports whether a plan is about these messages: a fork and a session that went back have plans of their own.
export const fits = (plan: Plan, messages: Message[]): boolean => {
  const has = new Set(messages.map(keyOf))
  return has.has(plan.before) && plan.gone.every(key => has.has(key))
}

// summaryIn is the last summary of opencode's own. One that answers a message of a person stands for nothing: opencode
// makes such a one where the summary before it failed.
export const summaryIn = (messages: Message[]): Message | undefined => {
  const asked = new Set(messages.filter(m => m.parts.some(p => p.type === "compaction")).map(m => m.info.id))
  const done = ({ info }: Message) => info.summary === true && info.finish && !info.error && asked.has(info.parentID)
  return messages.findLast(done)
}

// shown are the messages of a session that opencode's model sees: those from its last own compaction on.
export const shown = (messages: Message[]): Message[] => {
  const done = summaryIn(messages)
  const from = messages.findIndex(m => m.info.id === done?.info.parentID)
  return from < 0 ? messages : messages.slice(from)
}

// apply leaves out what is gone, puts the note in its place, and shortens results. One that is shortened names its
// media, and shows them no more.
export const apply = (plan: Plan | undefined, messages: Message[]): Message[] => {
  if (plan === undefined) return messages
  const keys = messages.map(keyOf)
  const gone = new Set(plan.gone)
  const out: Message[] = []
  messages.forEach((m, i) => {
    if (keys[i] === plan.before) out.push(noteMessage(plan.note, messages))
    if (gone.has(keys[i])) return
    const shortened = (p: Part) => called(p) && plan.results[p.callID] !== undefined
    const short = ({ state, callID }: Part) => ({ ...state, output: plan.results[callID], attachments: [] })
    const result = (p: Part) => (shortened(p) ? { ...p, state: short(p) } : p)
    out.push(m.parts.some(shortened) ? { ...m, parts: m.parts.map(result) } : m)
  })
  return out
}

// noteMessage is a note as a message of the session that the messages are of.
export const noteMessage = (text: string, messages: Message[]): Message => {
  const user = messages.find(m => m.info.role === "user") ?? messages[0]
  const at = { sessionID: user.info.sessionID, messageID: noteID }
  return { info: { ...user.info, id: noteID, role: "user" }, parts: [{ ...at, id: noteID, type: "text", text }] }
}

const holds = "The user said, and it still holds:\n"

// stand is what stands for messages: words of a person that stay, such as the task, and the note.
const stand = (lines: Line[]) => lines.map(({ kind, content }) => (kind ? "" : holds) + textOf(content)).join("\n\n")

// standing are the lines of what stands for messages.
const standing = (id: string, text: string): Line[] => {
  const note = text.match(/<compaction_summary-([0-9a-f]{16}) [^]*<\/compaction_summary-\1>/)?.[0] ?? text
  const words = text.slice(0, text.indexOf(note)).split(holds).map(said => said.trim()).filter(said => said !== "")
  const stay = words.map((content, i): Line => ({ id: `${id}/${i}`, role: "user", content }))
  return [...stay, { id, role: "user", content: note, kind: "compaction_summary" }]
}

// resultOf is what opencode sends of what a call returned.
const resultOf = ({ output, error, attachments, time }: Part["state"]) =>
  time?.compacted ? "[Old tool result content cleared]" : contentOf(output ?? error ?? "", attachments)

// toLines are messages in kagewasm's neutral format.
export const toLines = (messages: Message[]): Line[] =>
  messages.flatMap((m): Line[] => {
    const id = m.info.id === noteID ? noteID : keyOf(m)
    const text = m.parts.filter(p => p.type === "text" && !p.ignored).map(p => p.text).join("\n\n")
    if (id === noteID || m.info.summary === true) return standing(id, text)
    if (m.info.role === "user") return [{ id, role: "user", content: contentOf(text, m.parts) }]
    const tools = m.parts.filter(called)
    const calls = tools.map(p => ({ id: p.callID, name: p.tool, arguments: p.state.input ?? {} }))
    const results = tools.map(({ callID, state }): Line => {
      return { id: `${id}/${callID}`, role: "tool", tool_call_id: callID, content: resultOf(state) }
    })
    return [{ id, role: "assistant", content: text, tool_calls: calls.length > 0 ? calls : undefined }, ...results]
  })

// summaryOf is what stands for a session of which no more is left than what a person said, and the note.
export const summaryOf = (after: Line[]): string | undefined => {
  const short = after.every(line => line.role === "user") && after.some(line => line.kind === "compaction_summary")
  return short ? stand(after) : undefined
}

// planOf is what a compaction comes to: the earlier plan, and what went now.
export const planOf = (was: Plan | undefined, before: Line[], after: Line[]): Plan | undefined => {
  const kept = new Set(after.map(line => line.id))
  const known = new Map(before.map(line => [line.id, line]))
  const results = { ...was?.results }
  for (const line of after) {
    const old = known.get(line.id)?.content ?? line.content
    const shortened = line.role === "tool" && typeof line.content === "string" && old !== line.content
    if (shortened) results[line.tool_call_id!] = line.content
  }
  const note = after.findLastIndex(line => line.kind === "compaction_summary" && !known.has(line.id))
  const message = (line: Line) => line.role !== "tool" && known.has(line.id) && !line.id.includes("/")
  const next = after.slice(note + 1).find(message)
  if (note < 0 || next === undefined) return undefined
  const gone = before.filter(line => message(line) && line.id !== noteID && !kept.has(line.id))
  const all = [...(was?.gone ?? []), ...gone.map(line => line.id)]
  const words = after.slice(0, note).filter(line => line.role === "user" && line.id.includes("/"))
  return { gone: all, note: stand([...words, after[note]]), before: next.id, results }
}
