// Compaction of opencode by kagewasm. What fails here leaves the work to opencode, which compacts where this did not.
import { mkdir, readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import { compact as ask, turnEnded } from "./kagewasm/ask.js"
import { folder, shrinkResultsOver } from "./kagewasm/command.js"
import { apply, fits, keyOf, noteMessage, planOf, shown } from "./kagewasm/plan.ts"
import { summaryIn, summaryOf, textOf, toLines, type Message, type Plan } from "./kagewasm/plan.ts"

// share is how much of what opencode lets a session grow to may be full. opencode itself compacts at all of it.
const share = 0.85

// most is how many tokens opencode lets a session grow to.
const most = ({ context, input, output }: { context: number; input?: number; output: number }) => {
  const answer = Math.min(output, 32_000)
  return input ? input - Math.min(answer, 20_000) : context - answer
}

// unread is about how many tokens came after an answer: the results of its calls, and what follows.
const unread = ([answer, ...later]: Message[]) => {
  const results = toLines([answer]).filter(line => line.role === "tool")
  return [...results, ...toLines(later)].reduce((sum, line) => sum + textOf(line.content).length / 4, 0)
}

// cut leaves out the middle of a text that is too long.
const cut = (text: string) => {
  if (text.length <= shrinkResultsOver) return text
  const half = Math.max(1, Math.floor(shrinkResultsOver / 2))
  return `${text.slice(0, half)}\n[kagewasm: ${text.length - 2 * half} characters left out]\n${text.slice(-half)}`
}

export const Kagewasm = async ({ client }: any) => {
  const plans = new Map<string, Plan[]>() // the latest first
  const tried = new Map<string, number>() // tokens at which a session was compacted last
  const limits = new Map<string, number>()
  // summaries are those that opencode is having written: the messages that may go, and what stands for them once it is
  // known.
  const summaries = new Map<string, { goes: Set<string>; text?: string; earlier?: Message }>()

  // Plans are kept under the message that a session begins with, which a fork of it has too.
  const fileOf = (messages: Message[]) => join(folder, keyOf(messages[0]) + ".json")

  const load = async (messages: Message[]) => {
    const file = fileOf(messages)
    if (!plans.has(file)) plans.set(file, await readFile(file, "utf8").then(JSON.parse, () => []))
    return plans.get(file)!.find(plan => fits(plan, messages))
  }

  const save = async (messages: Message[], plan: Plan) => {
    const file = fileOf(messages)
    const all = [plan, ...(plans.get(file) ?? [])].slice(0, 8)
    plans.set(file, all)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    await writeFile(file + ".new", JSON.stringify(all), { mode: 0o600 })
    await rename(file + ".new", file)
  }

  // limit is how many tokens opencode lets a session of the model grow to.
  const limit = async (provider: string, model: string) => {
    if (limits.size === 0) {
      const { data } = await client.config.providers()
      for (const p of data.providers) {
        for (const { id, limit } of Object.values<any>(p.models)) limits.set(`${p.id}/${id}`, most(limit))
      }
    }
    return limits.get(`${provider}/${model}`) ?? 0
  }

  // plan has kagewasm compact a session, and keeps the plan that comes of it.
  const plan = async (messages: Message[], settings: object) => {
    const was = await load(messages)
    const before = toLines(apply(was, messages))
    const after = await ask("opencode", before.map(line => JSON.stringify(line)).join("\n"), settings)
    const made = planOf(was, before, after)
    if (made !== undefined) await save(messages, made)
  }

  const compact = async (messages: Message[]) => {
    const at = messages.findLastIndex(m => m.info.role === "assistant" && m.info.tokens?.input > 0)
    const last = messages[at]?.info
    if (last === undefined || last.summary) return
    const { input, output, cache } = last.tokens
    const used = input + output + cache.read + cache.write + unread(messages.slice(at))
    const full = await limit(last.providerID, last.modelID)
    if (full <= 0 || used < share * full || used < 1.05 * (tried.get(last.sessionID) ?? 0)) return
    tried.set(last.sessionID, used)
    await plan(messages, { session: last.sessionID, model: last.modelID, window: full, reason: "threshold" })
  }

  // summarize makes what stands for messages that opencode has summarized, and for the summary before them. opencode's
  // model is asked all the same, and is given that to read: so little is lost where its answer is not replaced.
  const summarize = async (messages: Message[]) => {
    const { sessionID } = messages[0].info
    const summary = summaries.get(sessionID)!
    const { providerID, modelID } = messages.findLast(m => m.info.role === "assistant")?.info ?? {}
    const all = [...(summary.earlier ? [summary.earlier] : []), ...apply(await load(messages), messages)]
    const lines = toLines(all).map(line => JSON.stringify(line)).join("\n")
    const settings = { session: sessionID, model: modelID, window: await limit(providerID, modelID), target: 0 }
    const text = summaryOf(await ask("opencode", lines, settings))
    if (text === undefined) return
    summary.text = text
    messages.splice(0, messages.length, noteMessage(text, messages))
  }

  // turnOver tells plugins that a session waits for a person, and makes the plan that one of them wants.
  const turnOver = async (id: string) => {
    const { data } = await client.session.messages({ path: { id } })
    const messages = shown(data)
    const last = messages.findLast(m => m.info.role === "assistant")?.info
    if (last === undefined || last.error || last.summary) return
    const window = (await limit(last.providerID, last.modelID)) || undefined
    const settings = { session: id, model: last.modelID, window }
    const was = await load(messages)
    const text = () => toLines(apply(was, messages)).map(line => JSON.stringify(line)).join("\n")
    const wanted = await turnEnded("opencode", text, settings)
    if (wanted !== undefined) await plan(messages, { ...settings, ...wanted })
  }
  const telling = new Set<Promise<void>>() // of turns; nobody waits for them but who leaves

  return {
    event: async ({ event }: { event: { type: string; properties: any } }) => {
      if (event.type !== "session.idle") return
      const told = turnOver(event.properties.sessionID).catch(() => {}).finally(() => telling.delete(told))
      telling.add(told)
    },
    dispose: async () => {
      await Promise.all(telling)
    },
    "experimental.chat.messages.transform": async (_: unknown, output: { messages: Message[] }) => {
      try {
        if (output.messages.length === 0) return
        const goes = summaries.get(output.messages[0].info.sessionID)?.goes
        if (goes && output.messages.every(m => goes.has(m.info.id))) return await summarize(output.messages)
        await compact(output.messages).catch(() => {})
        output.messages.splice(0, output.messages.length, ...apply(await load(output.messages), output.messages))
      } catch {} // the messages are as they were
    },
    // A giant result is shortened before it is stored, so that no prompt cache ever holds it.
    "tool.execute.after": async (_: unknown, output: any) => {
      if (shrinkResultsOver <= 0) return
      if (typeof output.output === "string") output.output = cut(output.output)
      for (const part of Array.isArray(output.content) ? output.content : []) {
        if (part.type === "text") part.text = cut(part.text) // of an MCP server
      }
    },
    // opencode has a summary written: the next messages that it asks about are those that go.
    "experimental.session.compacting": async ({ sessionID }: { sessionID: string }) => {
      try {
        const { data } = await client.session.messages({ path: { id: sessionID } })
        const earlier = summaryIn(data)
        // The last message asks for the summary. A call that has it, or a later one, is about something else: what was
        // to be summarized may have failed.
        summaries.set(sessionID, { goes: new Set(data.slice(0, -1).map((m: Message) => m.info.id)), earlier })
      } catch {} // opencode's own summary
    },
    "experimental.text.complete": async (at: { sessionID: string; messageID: string }, output: { text: string }) => {
      const summary = summaries.get(at.sessionID)
      if (summary === undefined) return
      try {
        const { data } = await client.session.message({ path: { id: at.sessionID, messageID: at.messageID } })
        summaries.delete(at.sessionID)
        if (data.info.summary) output.text = summary.text ?? output.text
      } catch {} // opencode's own summary
    },
  }
}
