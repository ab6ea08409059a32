// Compaction of OpenClaw by kagewasm, as its context engine. OpenClaw keeps all messages: the engine says what its
// model sees, by the same plan until the next compaction.
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { compact as ask, turnEnded } from "./ask.js"
import { folder } from "./command.js"
import { apply, joined, planOf, toLine } from "./plan.js"

// tokensOf is an estimate, for a budget that is one too.
const tokensOf = messages => Math.ceil(JSON.stringify(messages).length / 4)

export const engine = () => {
  const sessions = new Map() // what each session is known to be: {plan, turns, messages}

  const fileOf = id => join(folder, encodeURIComponent(id) + ".json")
  const load = async id => {
    if (!sessions.has(id)) {
      sessions.set(id, await readFile(fileOf(id), "utf8").then(JSON.parse, () => ({ turns: [] })))
    }
    return sessions.get(id)
  }
  const save = async (id, { plan, turns, due }) => {
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(fileOf(id) + ".new", JSON.stringify({ plan, turns: turns.slice(-64), due }), { mode: 0o600 })
    await rename(fileOf(id) + ".new", fileOf(id))
  }

  const settingsOf = (id, budget) => ({ session: id, window: budget > 0 ? budget : undefined, prune: false })
  const textOf = shown => shown.map(toLine).map(line => JSON.stringify(line)).join("\n")

  const compact = async (id, messages, budget, wanted = {}) => {
    const session = await load(id)
    const shown = apply(session.plan, messages)
    const plan = planOf(messages, shown, await ask("openclaw", textOf(shown), { ...settingsOf(id, budget), ...wanted }))
    if (plan === undefined || plan.note === session.plan?.note) return undefined
    await save(id, Object.assign(session, { plan }))
    return { before: tokensOf(shown), after: tokensOf(apply(plan, messages)) }
  }

  const telling = new Set() // what goes on behind turns

  // turnOver tells plugins that a turn is over, and compacts where one of them wants it. Nobody waits for it but dispose.
  const turnOver = (id, session) => {
    const { messages, budget } = session
    const text = () => textOf(apply(session.plan, messages))
    const told = turnEnded("openclaw", text, settingsOf(id, budget))
      .then(wanted => wanted && compact(id, messages, budget, wanted))
      .catch(() => {})
      .finally(() => telling.delete(told))
    telling.add(told)
  }

  return {
    info: {
      id: "kagewasm",
      name: "kagewasm",
      version: "1.0.0",
      ownsCompaction: true,
      acceptedHostParams: ["sessionKey", "runtimeContext"],
      transcriptSemantics: {
        currentTurnFence: "before-current-turn-entry-v1",
        turnAdvancementIdempotency: "atomic-idempotent-v1",
      },
    },
    ingest: async () => ({ ingested: true }), // OpenClaw hands all messages to assemble
    assemble: async ({ sessionId, messages, tokenBudget }) => {
      const session = await load(sessionId)
      session.messages = messages
      session.budget = tokenBudget
      let shown = apply(session.plan, messages)
      const due = session.due
      if (due) await save(sessionId, Object.assign(session, { due: undefined })).catch(() => {}) // as where it was set
      if (due || (tokenBudget > 0 && tokensOf(shown) > tokenBudget * 0.85)) {
        await compact(sessionId, messages, tokenBudget, { reason: "threshold" }).catch(() => {}) // OpenClaw says what is too long
        shown = apply(session.plan, messages)
      }
      return { messages: shown, estimatedTokens: tokensOf(shown) }
    },
    // ok stands for a compaction that was made: ok without one has left sessions that nothing compacted any more. OpenClaw
    // asks before a turn too, and of an engine that has seen nothing yet: where it is told neither of the two reasons that
    // it knows for leaving a session as it is, "below threshold" and "already compacted", the turn fails.
    compact: async ({ sessionId, tokenBudget, compactionTarget, customInstructions }) => {
      const session = await load(sessionId)
      const left = reason => ({ ok: false, compacted: false, reason })
      if (session.messages === undefined) {
        await save(sessionId, Object.assign(session, { due: true })).catch(() => {})
        return left("below threshold as far as is known: kagewasm compacts when the session is assembled next")
      }
      try {
        const person = compactionTarget === "threshold" || customInstructions // OpenClaw has "budget" where nobody asked
        const asked = person ? { instructions: customInstructions } : { reason: "threshold" }
        const made = await compact(sessionId, session.messages, tokenBudget, asked)
        if (made === undefined) return left("already compacted: there is nothing to supersede yet")
        return { ok: true, compacted: true, result: { tokensBefore: made.before, tokensAfter: made.after } }
      } catch (error) {
        return left(`kagewasm could not compact: ${error} (OpenClaw goes on where it reads "already compacted")`)
      }
    },
    // A turn is committed once, whatever happens between the answer and the next try.
    commitTurn: async ({ sessionId, advancementKey, messages }) => {
      const session = await load(sessionId ?? "")
      if (session.turns.includes(advancementKey)) return { status: "duplicate" }
      session.turns.push(advancementKey)
      if (messages !== undefined) session.messages = joined(session.messages ?? [], messages)
      await save(sessionId ?? "", session)
      if (session.messages !== undefined) turnOver(sessionId ?? "", session)
      return { status: "committed" }
    },
    dispose: async () => {
      await Promise.all(telling)
      sessions.clear()
    },
  }
}

export default { id: "kagewasm", name: "kagewasm", register: api => api.registerContextEngine("kagewasm", engine) }
