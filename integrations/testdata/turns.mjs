// Drives the context engine as OpenClaw does around turns: assemble has what was before a turn, commitTurn the turn alone.
import { readFileSync } from "node:fs"

const { default: plugin } = await import(process.argv[2] + "/index.js")
const registered = {}
plugin.register({ registerContextEngine: (id, factory) => (registered[id] = factory) })
const engine = registered.kagewasm({ config: {} })

const { sessionId, messages, turn, tokenBudget } = JSON.parse(readFileSync(0, "utf8"))
const before = await engine.assemble({ sessionId, messages, tokenBudget })
const started = performance.now()
const { status } = await engine.commitTurn({ sessionId, advancementKey: "t1", messages: turn })
const waited = performance.now() - started
await engine.dispose()
const after = await engine.assemble({ sessionId, messages: [...messages, ...turn], tokenBudget })
const timers = process.getActiveResourcesInfo().filter(name => name === "Timeout").length
console.log(JSON.stringify({ before, status, waited, after, timers }))
