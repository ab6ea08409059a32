// Compaction of pi by kagewasm. What fails here leaves the work to pi.
import { compact, run } from "./ask.js"

type Entry = { type: string; id: string; firstKeptEntryId?: string; details?: any }
type Line = { id: string; role: string; content: string | { type: string; text?: string }[]; kind?: string }

const textOf = ({ content }: Line) =>
  typeof content === "string" ? content : content.map(p => p.text ?? `[${p.type}]`).join("\n")

// summarized makes pi's compaction of what kagewasm kept. pi keeps one piece of a session, all entries from one on:
// what stays before that piece, such as the task, goes into the summary in its own words.
export const summarized = (kept: Line[], entries: Entry[]) => {
  const at = new Map(entries.map((entry, index) => [entry.id, index]))
  const note = kept.findLastIndex(line => line.kind === "compaction_summary" && !at.has(line.id))
  const first = kept[note + 1]
  if (note < 0 || first === undefined || !at.has(first.id) || first.role === "tool") return undefined
  const pinned = kept.slice(0, note)
  const still = (line: Line) => (line.kind ? "" : `The ${line.role} said, and it still holds:\n`) + textOf(line)
  return {
    summary: [...pinned.map(still), textOf(kept[note])].join("\n\n"),
    firstKeptEntryId: first.id,
    details: { kagewasm: { pinned: pinned.map(line => line.id), note: textOf(kept[note]) } },
  }
}

// live are the entries as kagewasm left them: what stayed before the piece, the note, and the piece.
export const live = (entries: Entry[]): Entry[] => {
  const last = entries.findLast(entry => entry.type === "compaction")
  const ours = last?.details?.kagewasm
  if (ours === undefined) return entries
  const pinned = entries.filter(entry => ours.pinned.includes(entry.id))
  const note = { ...last!, type: "message", message: { role: "user", content: [{ type: "text", text: ours.note }] } }
  const from = entries.findIndex(entry => entry.id === last!.firstKeptEntryId)
  const piece = entries.slice(from).filter(entry => entry.type !== "compaction")
  const kept = [...pinned, note, ...piece]
  return kept.map((entry, i) => ({ ...entry, parentId: kept[i - 1]?.id ?? null }))
}

export default function (pi: any) {
  pi.on("session_before_compact", async (event: any, ctx: any) => {
    try {
      const header = { ...ctx.sessionManager.getHeader(), type: "session", id: ctx.sessionManager.getSessionId() }
      const stdin = [header, ...live(event.branchEntries)].map(entry => JSON.stringify(entry)).join("\n")
      const window = ctx.model?.contextWindow
      const settings = { format: "pi", to: "neutral", prune: false, window, instructions: event.customInstructions }
      const kept: Line[] = await compact("pi", stdin, settings, event.signal)
      const cut = summarized(kept, event.branchEntries)
      if (cut === undefined) return
      return { compaction: { ...cut, tokensBefore: event.preparation.tokensBefore } }
    } catch (error) {
      if (ctx.hasUI) ctx.ui.notify(`kagewasm did not compact, so pi does: ${error}`, "warning")
    }
  })

  pi.registerCommand("kagewasm", {
    description: "Show what kagewasm compacted: status, or lost PATTERN",
    handler: async (args: string, ctx: any) => {
      const session = ctx.sessionManager.getSessionId()
      const [verb, ...rest] = args.trim().split(/\s+/)
      const show = verb === "lost" ? ["lost", session, "--grep", rest.join(" ")] : ["sessions", "show", session]
      ctx.ui.notify(await run(show).catch(String), "info")
    },
  })
}
