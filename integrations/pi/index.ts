// Compaction of pi by kagewasm. What fails here leaves the work to pi.
import { compact, prune, run, turnEnded } from "./ask.js"
import { due, edits, textOf, type Entry, type Line } from "./prune.ts"

// summarized makes pi's compaction of what kagewasm kept of entries. pi keeps one piece of a session, all entries from
// one on: what stays before that piece, such as the task and the newest request, is told in the summary word for word.
export const summarized = (kept: Line[], entries: Entry[]) => {
  const known = new Set(entries.map(entry => entry.id))
  const stays = new Set(kept.map(line => line.id))
  const gone = entries.findLastIndex(entry => speaks(entry) && !stays.has(entry.id))
  const piece = new Set(entries.slice(gone + 1).map(entry => entry.id))
  const first = kept.find(line => piece.has(line.id) && line.role !== "system")
  if (first === undefined || first.role === "tool") return undefined
  const before = kept.slice(0, kept.indexOf(first))
  const lines = before.filter(line => line.role !== "system") // those pi carries on
  const notes = lines.filter(line => line.kind === "compaction_summary")
  if (notes.length !== 1 || known.has(notes[0].id) || lines.some(line => line.role !== "user")) return undefined
  const still = (line: Line) => (line.kind ? "" : `The ${line.role} said, and it still holds:\n`) + textOf(line.content)
  const ids = before.map(line => line.id)
  const at = before.indexOf(notes[0])
  const details = { pinned: ids.slice(0, at), note: textOf(notes[0].content), then: ids.slice(at + 1) }
  return { summary: lines.map(still).join("\n\n"), firstKeptEntryId: first.id, details: { kagewasm: details } }
}

const speaks = ({ type, message }: Entry) =>
  ["message", "custom_message", "branch_summary"].includes(type) && message?.role !== "system"

// live are the entries as kagewasm left them: what stayed before the piece, with the note among it, and the piece.
export const live = (entries: Entry[]): Entry[] => {
  const last = entries.findLast(entry => entry.type === "compaction")
  const ours = last?.details?.kagewasm
  if (ours === undefined) return entries
  const those = (ids: string[]) => entries.filter(entry => ids.includes(entry.id))
  const note = { ...last!, type: "message", message: { role: "user", content: [{ type: "text", text: ours.note }] } }
  const from = entries.findIndex(entry => entry.id === last!.firstKeptEntryId)
  const piece = entries.slice(from).filter(entry => entry.type !== "compaction")
  const kept = [...those(ours.pinned), note, ...those(ours.then ?? []), ...piece]
  return kept.map((entry, i) => ({ ...entry, parentId: kept[i - 1]?.id ?? null }))
}

// sessionOf is the text of a session as pi's model sees it.
const sessionOf = (ctx: any, entries: Entry[]) => {
  const header = { ...ctx.sessionManager.getHeader(), type: "session", id: ctx.sessionManager.getSessionId() }
  return [header, ...live(entries)].map(entry => JSON.stringify(entry)).join("\n")
}

type Wish = { reason: string; instructions?: string }

export default function (pi: any) {
  let wish: Wish | undefined // what a plugin wants, until pi compacts
  let compacting: Wish | undefined // the one that pi compacts for now
  let told = Promise.resolve() // settled when plugins have heard of the last turn

  pi.on("session_before_compact", async (event: any, ctx: any) => {
    const wanted = compacting
    wish = compacting = undefined
    try {
      const entries = live(event.branchEntries)
      const window = ctx.model?.contextWindow
      const automatic = ["threshold", "overflow"].includes(event.reason) // which a pi before 0.87 does not tell
      const asked = wanted ?? { instructions: event.customInstructions, reason: automatic ? "threshold" : undefined }
      const settings = { format: "pi", to: "neutral", prune: false, piece: true, window, ...asked }
      const kept: Line[] = await compact("pi", sessionOf(ctx, entries), settings, event.signal)
      const cut = summarized(kept, entries)
      if (cut !== undefined) return { compaction: { ...cut, tokensBefore: event.preparation.tokensBefore } }
    } catch (error) {
      if (ctx.hasUI && wanted === undefined) ctx.ui.notify(`kagewasm did not compact, so pi does: ${error}`, "warning")
    }
    if (wanted !== undefined) return { cancel: true } // a plugin's wish is not worth a call of the model
  })

  // compactFor has pi compact for a plugin, unless the next turn has begun meanwhile: the wish waits for its end then.
  const compactFor = (wanted: Wish, ctx: any) =>
    new Promise<void>(done => {
      wish = wanted
      if (!ctx.isIdle()) return done()
      compacting = wanted
      ctx.compact({ customInstructions: wanted.instructions, onComplete: () => done(), onError: () => done() })
    })

  pi.on("agent_end", (event: any, ctx: any) => {
    const last = event.messages.findLast((m: any) => m.role === "assistant")
    if (last === undefined || ["aborted", "error"].includes(last.stopReason)) return
    const tell = async () => {
      const settings = { format: "pi", prune: false, window: ctx.model?.contextWindow,
        session: ctx.sessionManager.getSessionId() }
      const wanted = (await turnEnded("pi", () => sessionOf(ctx, ctx.sessionManager.getBranch()), settings)) ?? wish
      if (wanted !== undefined) await compactFor(wanted, ctx)
    }
    told = tell().catch(() => {}) // nobody waits for it but who leaves
  })

  pi.on("session_shutdown", () => told)

  const worth = due()
  pi.on("turn_end", async (event: any, ctx: any) => {
    const used = ctx.getContextUsage?.()
    if (!Array.isArray(event.entries) || !used || !worth(used)) return // a pi before 0.87, or too early
    try {
      const entries = live(ctx.sessionManager.getBranch())
      const pruned = await prune(sessionOf(ctx, entries), { format: "pi", window: used.contextWindow })
      const made = edits(entries, pruned)
      if (made.length > 0) return { entries: [...event.entries, ...made] }
    } catch {} // results stay as they are
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
