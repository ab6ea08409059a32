// The loop of an agent in TypeScript, without a library. The types are all inferred, so
// node, deno and bun run it as it is. It marks each call of the model: that is for hosts
// that stream, or whose provider may find a request too long.
import { readFileSync } from "node:fs";
import { homedir } from "node:os";

const url = (process.env.KAGEWASM_URL ?? "http://127.0.0.1:7433") + "/api/v1";
const state = (process.env.XDG_STATE_HOME || homedir() + "/.local/state") + "/kagewasm";
const tokenFile = process.env.KAGEWASM_TOKEN_FILE ?? state + "/serve-token";
const token = readFileSync(tokenFile, "utf8").trim();

async function api(method = "GET", path = "/", body = {}) {
  const response = await fetch(url + path, {
    method,
    headers: { Authorization: "Bearer " + token, "Content-Type": "application/json" },
    body: method === "POST" ? JSON.stringify(body) : undefined,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(text); // a problem: branch on its code
  return text === "" ? null : JSON.parse(text);
}

// model stands for the call of yours. This one refuses the first request as too long.
let calls = 0;
async function model(messages = [{}]) {
  if (calls++ === 0) throw new Error("prompt is too long: 210000 tokens > 200000 maximum");
  return { messages: [{ role: "assistant", content: `I have read ${messages.length} messages.` }],
    usage: { input_tokens: 20, output_tokens: 6 } };
}

const session = await api("POST", "/sessions", { model: "gpt-4o", source: "loop.ts" });
const path = "/sessions/" + encodeURIComponent(session.key);
const said = [];
for (let i = 0; i < 40; i++) said.push({ role: i % 2 ? "assistant" : "user", content: `Part ${i} of the parser. `.repeat(40) });
await api("POST", path + "/messages", { messages: said });

let look = await api("POST", path + "/calls");
for (;;) {
  try {
    const answer = await model(look.messages);
    await api("POST", `${path}/calls/${look.call}/answer`, answer);
    console.log(answer.messages[0].content);
    break;
  } catch (error) { // too long: what to send instead, once
    look = await api("POST", `${path}/calls/${look.call}/refused`, { error: String(error) });
  }
}
console.log((await api("GET", path + "/compactions")).compactions.length, "compactions");
