import { spawn } from "node:child_process"
import { program, state } from "./command.ts"

// run runs kagewasm and returns what it printed.
export const run = (args: string[], stdin: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(program, [...args, ...state], { timeout: 10_000 })
    let stdout = ""
    let stderr = ""
    child.stdout.setEncoding("utf8").on("data", text => (stdout += text))
    child.stderr.setEncoding("utf8").on("data", text => (stderr += text))
    child.stdin.on("error", () => {}) // it ended before it read everything; its exit code says why
    child.on("error", reject)
    child.on("close", code => (code === 0 ? resolve(stdout) : reject(new Error(stderr || `exit code ${code}`))))
    child.stdin.end(stdin)
  })
