// Drives the context engine as OpenClaw does: the folder of the plugin is the argument, a session stands on standard
// input, and what the engine answered goes to standard output.
import { readFileSync } from "node:fs"

const { default: plugin } = await import(process.argv[2] + "/index.js")
const registered = {}
plugin.register({ registerContextEngine: (id, factory) => (registered[id] = factory) })
const start = () => registered.kagewasm({ config: {} })

const { sessionId, messages, tokenBudget } = JSON.parse(readFileSync(0, "utf8"))
const more = { role: "user", content: "And one more thing.", timestamp: 1 }
const engine = start()
const early = await engine.compact({ sessionId, force: true })
const asked = start() // before a turn OpenClaw asks an engine of its own, which sees no messages
const reasons = [early.reason, (await asked.compact({ sessionId: "asked", force: true })).reason]
const due = []
for (const engine of [start(), start()]) due.push(await engine.assemble({ sessionId: "asked", messages, tokenBudget: 2_000_000 }))
const unkept = start() // a session that has no file: its name is too long for one
const long = "long".repeat(100)
await unkept.compact({ sessionId: long, force: true })
const unsaved = await unkept.assemble({ sessionId: long, messages, tokenBudget: 2_000_000 })
const first = await engine.assemble({ sessionId, messages, tokenBudget })
const second = await engine.assemble({ sessionId, messages: [...messages, more], tokenBudget })
const restarted = await start().assemble({ sessionId, messages: [...messages, more], tokenBudget })
const forced = await engine.compact({ sessionId, force: true, tokenBudget })
const nothing = await engine.compact({ sessionId, force: true, tokenBudget })
if (!nothing.compacted) reasons.push(nothing.reason)
const after = await engine.assemble({ sessionId, messages: [...messages, more], tokenBudget })
const other = await engine.assemble({ sessionId: "another", messages: messages.slice(0, 3), tokenBudget })
await engine.assemble({ sessionId: "person", messages, tokenBudget: 2_000_000 })
await engine.compact({ sessionId: "person", force: true, compactionTarget: "threshold", customInstructions: "the ports" })
await engine.assemble({ sessionId: "overflow", messages, tokenBudget: 2_000_000 })
await engine.compact({ sessionId: "overflow", force: true, compactionTarget: "budget", tokenBudget: 30_000 })
const turns = []
for (const advancementKey of ["t1", "t1", "t2"]) turns.push((await engine.commitTurn({ sessionId, advancementKey, messages })).status)
turns.push((await start().commitTurn({ sessionId, advancementKey: "t2", messages })).status)
console.log(JSON.stringify({ info: engine.info, early, first, second, restarted, forced, after, other, turns, reasons, due, unsaved }))
