// How plugs in Node ask kagewasm: its server over a socket, which is started where none runs, else the command.
import { spawn } from "node:child_process"
import { request } from "node:http"
import { policy, program, socket, state, version } from "./command.js"

const patience = 10_000 // milliseconds

// run runs kagewasm and returns what it printed.
export const run = (args, stdin = "", signal = undefined) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [...args, ...state], { signal })
    // A timer of spawn's own would outlive a program that cannot be started, and keep the agent from ending.
    const timer = setTimeout(() => child.kill(), patience)
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", text => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", text => (stderr += text))
    child.stdin.on("error", () => {}) // it ended before it read everything; its exit code says why
    child.on("error", error => {
      clearTimeout(timer)
      reject(error)
    })
    child.on("close", code => {
      clearTimeout(timer)
      code === 0 ? resolve(stdout) : reject(new Error(stderr || `exit code ${code}`))
    })
    child.stdin.end(stdin)
  })

// post asks the server, and returns what it answered.
const post = (operation, body, signal) =>
  new Promise((resolve, reject) => {
    const headers = { host: "localhost", "content-type": "application/json", "content-length": Buffer.byteLength(body) }
    const path = "/api/v1/" + operation
    const asked = request({ socketPath: socket, path, method: "POST", headers, signal, timeout: patience }, answer => {
      let text = ""
      answer.setEncoding("utf8").on("data", part => (text += part))
      answer.on("error", reject)
      answer.on("end", () => {
        try {
          const made = JSON.parse(text)
          if (answer.statusCode === 200) resolve(made)
          else reject(new Error(`${made.detail}. ${made.hint ?? ""}`))
        } catch (error) {
          reject(error)
        }
      })
    })
    asked.on("timeout", () => asked.destroy(new Error("it does not answer")))
    asked.on("error", reject)
    asked.end(body)
  })

const missing = error => ["ENOENT", "ECONNREFUSED", "FailedToOpenSocket", "ConnectionRefused"].includes(error.code)
const startServer = signal => run(["serve", "--background"], "", signal)

const bodyOf = (plug, text, asked, more) => {
  const { session, window, format, to, model, instructions, reason, prune, target, piece } = asked
  const settings = { plug, plug_version: version, format, to, record: true, no_prune: prune === false, ...more }
  const of = { id: session, context_window: window, model, instructions, reason }
  return JSON.stringify({ ...settings, ...of, target_tokens: target, one_piece: piece, messages: text })
}

const served = async (plug, text, settings, signal) => {
  const body = bodyOf(plug, text, settings, { force: true })
  const ask = () => post("compact", body, signal)
  const made = await ask().catch(async error => {
    if (!missing(error)) throw error
    await startServer(signal)
    return ask()
  })
  return made.messages
}

const flagsOf = ({ session, window, format, to, model, instructions, reason, prune, target, piece }) => {
  const flags = ["--format", format]
  const more = { to, session, model, window, instructions, reason }
  for (const [flag, value] of Object.entries(more)) if (value) flags.push("--" + flag, String(value))
  if (prune === false) flags.push("--no-prune")
  if (piece) flags.push("--one-piece")
  if (target !== undefined) flags.push("--target", String(target))
  return [...flags, ...policy]
}

const commanded = (text, settings, signal) =>
  run(["compact", "-", "--force", "--quiet", ...flagsOf(settings)], text, signal)

const linesOf = text => text.split("\n").filter(line => line !== "").map(line => JSON.parse(line))

// compact has kagewasm compact the text of a session, and returns what stays, in the neutral format.
export const compact = async (plug, text, settings, signal = undefined) => {
  const asked = { format: "neutral", ...settings }
  const byCommand = () => commanded(text, asked, signal)
  const stays = socket === "" ? await byCommand() : await served(plug, text, asked, signal).catch(byCommand)
  return linesOf(stays)
}

// prune has kagewasm shorten old tool output of a session and record nothing, and returns it in the neutral format.
export const prune = async (text, settings) => {
  const flags = flagsOf({ ...settings, to: "neutral" })
  return linesOf(await run(["compact", "-", "--upper", "1", "--no-record", "--quiet", ...flags], text))
}

const silence = 300_000 // milliseconds in which nobody is asked again who listens
let silentUntil = 0

const endedBy = async (plug, text, asked) => {
  const command = async () => JSON.parse(await run(["turn-end", "-", ...flagsOf(asked)], text))
  if (socket === "") return command()
  return post("turn-end", bodyOf(plug, text, asked)).catch(async error => {
    const ended = await command()
    if (missing(error) && ended.listening) await startServer().catch(() => {}) // for the next turn
    return ended
  })
}

// turnEnded tells plugins that a turn of a session has ended, and returns what a compaction is asked for that one of them
// or the agent wants: the reason and instructions. It is undefined where none wants one, and where nobody could be told: that is no
// concern of a turn. text makes the session's text, where anybody listens.
export const turnEnded = async (plug, text, settings) => {
  if (Date.now() < silentUntil) return undefined
  try {
    const ended = await endedBy(plug, text(), { format: "neutral", ...settings })
    if (!ended.listening) silentUntil = Date.now() + silence
    return ["plugin", "agent"].includes(ended.wanted?.reason) ? ended.wanted : undefined
  } catch {
    silentUntil = Date.now() + silence
    return undefined
  }
}
