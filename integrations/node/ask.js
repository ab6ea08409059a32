// How plugs in Node ask kagewasm: its server over a socket, which is started where none runs, else the command.
import { spawn } from "node:child_process"
import { request } from "node:http"
import { policy, program, socket, state, version } from "./command.js"

const patience = 10_000 // milliseconds

// run runs kagewasm and returns what it printed.
export const run = (args, stdin = "", signal = undefined) =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [...args, ...state], { signal, timeout: patience })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", text => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", text => (stderr += text))
    child.stdin.on("error", () => {}) // it ended before it read everything; its exit code says why
    child.on("error", reject)
    child.on("close", code => (code === 0 ? resolve(stdout) : reject(new Error(stderr || `exit code ${code}`))))
    child.stdin.end(stdin)
  })

// post asks the server, and returns what it made.
const post = (body, signal) =>
  new Promise((resolve, reject) => {
    const headers = { host: "localhost", "content-type": "application/json", "content-length": Buffer.byteLength(body) }
    const how = { socketPath: socket, path: "/api/v1/compact", method: "POST", headers, signal, timeout: patience }
    const asked = request(how, answer => {
      let text = ""
      answer.setEncoding("utf8").on("data", part => (text += part))
      answer.on("error", reject)
      answer.on("end", () => {
        try {
          const made = JSON.parse(text)
          if (answer.statusCode === 200) resolve(made.messages)
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

const served = async (plug, text, { session, window, format, to, model, instructions, prune, target }, signal) => {
  const settings = { plug, plug_version: version, format, to, force: true, record: true, no_prune: prune === false }
  const of = { id: session, context_window: window, model, instructions, target_tokens: target }
  const body = JSON.stringify({ ...settings, ...of, messages: text })
  return post(body, signal).catch(async error => {
    if (!missing(error)) throw error
    await run(["serve", "--background"], "", signal)
    return post(body, signal)
  })
}

const commanded = (text, { session, window, format, to, model, instructions, prune, target }, signal) => {
  const flags = ["--format", format, "--force", "--quiet"]
  const more = { "--to": to, "--session": session, "--model": model, "--window": window, "--instructions": instructions }
  for (const [flag, value] of Object.entries(more)) if (value) flags.push(flag, String(value))
  if (prune === false) flags.push("--no-prune")
  if (target !== undefined) flags.push("--target", String(target))
  return run(["compact", "-", ...flags, ...policy], text, signal)
}

// compact has kagewasm compact the text of a session, and returns what stays, in the neutral format.
export const compact = async (plug, text, settings, signal = undefined) => {
  const asked = { format: "neutral", ...settings }
  const byCommand = () => commanded(text, asked, signal)
  const stays = socket === "" ? await byCommand() : await served(plug, text, asked, signal).catch(byCommand)
  return stays.split("\n").filter(line => line !== "").map(line => JSON.parse(line))
}
