// Has the mod of Claude Code compact one conversation again and again, as Claude Code calls it: each time as another
// session, and writes and reads the same messages as JSON each time. Says what each took by the clock, and what this
// program's processor spent on all of either, in milliseconds.
import { readFileSync } from "node:fs"
import { request } from "node:http"

const { register } = await import(process.argv[2] + "/hooks/register.js")
const handlers = {}
const on = (event, ...rest) => {
  handlers[event] ??= rest[rest.length - 1]
  return { catch: () => {} }
}
register(on, {})

const fetch = (url, { method, socketPath, headers, body }) =>
  new Promise((resolve, reject) => {
    const asked = request({ socketPath, path: new URL(url).pathname, method, headers }, answer => {
      let text = ""
      answer.setEncoding("utf8").on("data", part => (text += part))
      answer.on("end", () => resolve({ ok: answer.statusCode === 200, text }))
    })
    asked.on("error", reject)
    asked.end(body)
  })

const { lines, runs, window } = JSON.parse(readFileSync(0, "utf8"))
// rowOf is a line as a row, with a text that no other run has: what the server counted before it counts for less.
const rowOf = (line, n) => {
  const row = { role: line.role, text: "", toolUses: [], handle: line.id }
  const said = typeof line.content === "string" ? line.content : line.content.map(p => p.text ?? "").join("\n")
  const text = said === "" ? "" : `${said} ${n}`
  if (line.role === "tool") {
    return { ...row, role: "user", toolResults: [{ tool_use_id: line.tool_call_id, text, isError: line.is_error === true }] }
  }
  const uses = line.tool_calls ?? []
  return { ...row, text, toolUses: uses.map(c => ({ tool_use_id: c.id, tool: c.name, input: JSON.parse(c.arguments) })) }
}
const rowsOf = n => lines.filter(line => line.role !== "system").map(line => rowOf(line, n))

const took = []
const tookPlain = []
let left = 0
let cpu = 0
let plain = 0
const spent = before => {
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
for (let n = 0; n < runs; n++) {
  const messages = rowsOf(n)
  const $ = {
    session: { id: async () => `run-${n}`, usage: async () => ({ context: { window } }) },
    env: { get: async () => undefined },
    http: { fetch },
    process: { run: () => Promise.reject(new Error("the command was asked")) },
    ui: { log: text => console.error(text) },
  }
  const before = process.cpuUsage()
  const start = performance.now()
  const made = await handlers["session.compact"]($, { trigger: "auto", messages }, () => ({ messages: [] }))
  took.push(performance.now() - start)
  cpu += spent(before)
  left = made.messages.length
  const again = process.cpuUsage()
  const next = performance.now()
  JSON.parse(JSON.stringify(messages))
  tookPlain.push(performance.now() - next)
  plain += spent(again)
}
console.log(JSON.stringify({ took, tookPlain, cpu, plain, rows: rowsOf(0).length, left }))
