// Compaction of pi by kagewasm. What fails here leaves the work to pi.
import { compact, run, turnEnded } from "./ask.js"

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
      const window = ctx.model?.contextWindow
      const asked = wanted ?? { instructions: event.customInstructions }
      const settings = { format: "pi", to: "neutral", prune: false, window, ...asked }
      const kept: Line[] = await compact("pi", sessionOf(ctx, event.branchEntries), settings, event.signal)
      const cut = summarized(kept, event.branchEntries)
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
