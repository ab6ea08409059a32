// What programs do with the official SDKs, through the proxy at the address given. Prints what came of each as JSON, a
// line each: the test compares it with what comes of the same without the proxy.
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import path from "node:path"

const [base, modules] = process.argv.slice(2)
const require = createRequire(path.join(modules, "x.js"))
const load = (name) => import(pathToFileURL(require.resolve(name)).href)
const { default: OpenAI } = await load("openai")
const { default: Anthropic } = await load("@anthropic-ai/sdk")
const { GoogleGenAI } = await load("@google/genai")

const openai = new OpenAI({ apiKey: "sk-test", baseURL: base + "/v1" })
const anthropic = new Anthropic({ apiKey: "sk-ant-test", baseURL: base })
const google = new GoogleGenAI({ apiKey: "g-test", httpOptions: { baseUrl: base } })

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
const long = (make) => Array.from({ length: 60 }, (_, k) => make(k, `undefined: handler${k} in src/pkg${k}/file.go\n`.repeat(40))).flat()

const show = (name, value) => console.log(JSON.stringify({ name, value }))
const tried = async (name, what) => {
  try {
    show(name, await what())
  } catch (e) {
    show(name, { error: e.constructor.name, status: e.status, message: e.message })
  }
}

// Chat completions
const chat = (more) => ({ model: "gpt-4.1", messages: [{ role: "user", content: "hello" }], ...more })
await tried("chat", async () => (await openai.chat.completions.create(chat())).choices[0].message)
await tried("chat stream", async () => {
  let text = "", usage
  for await (const c of await openai.chat.completions.create(chat({ stream: true, stream_options: { include_usage: true } }))) {
    text += c.choices[0]?.delta?.content ?? ""
    usage = c.usage ?? usage
  }
  return { text, usage: !!usage }
})
await tried("chat image", async () => (await openai.chat.completions.create(chat({
  messages: [{ role: "user", content: [{ type: "text", text: "what is it?" }, { type: "image_url", image_url: { url: "data:image/png;base64," + png } }] }],
}))).choices[0].message.content)
await tried("chat tools", async () => (await openai.chat.completions.create(chat({ messages: [{ role: "user", content: "use a tool" }],
  tools: [{ type: "function", function: { name: "run", parameters: { type: "object", properties: {} } } }] }))).choices[0].message.tool_calls)
await tried("chat error", async () => openai.chat.completions.create(chat({ messages: [{ role: "user", content: "fail" }] })))
await tried("chat retry", async () => (await openai.chat.completions.create(chat({ messages: [{ role: "user", content: "busy chat" }] }))).choices[0].message.content)
await tried("chat abort", async () => {
  const stream = await openai.chat.completions.create(chat({ messages: [{ role: "user", content: "slow" }], stream: true }))
  for await (const _ of stream) { stream.controller.abort(); break }
  return "left"
})
await tried("chat long", async () => (await openai.chat.completions.create(chat({ messages: [{ role: "system", content: "be brief" },
  { role: "user", content: "fix it" }, ...long((k, out) => [
    { role: "assistant", content: null, tool_calls: [{ id: "call_" + k, type: "function", function: { name: "run", arguments: "{}" } }] },
    { role: "tool", tool_call_id: "call_" + k, content: out }])] }))).choices[0].message.content)

// Responses
const input = (k, out) => [{ type: "function_call", call_id: "call_" + k, name: "run", arguments: "{}" },
  { type: "function_call_output", call_id: "call_" + k, output: out }]
const items = (what) => [{ role: "user", content: "fix " + what }, ...long(input)]
await tried("responses", async () => (await openai.responses.create({ model: "gpt-5", input: [{ role: "user", content: "hello" }] })).output_text)
await tried("responses text", async () => (await openai.responses.create({ model: "gpt-5", input: "hello" })).output_text)
await tried("responses stream", async () => {
  const types = []
  for await (const e of await openai.responses.create({ model: "gpt-5", input: [{ role: "user", content: "hello" }], stream: true })) types.push(e.type)
  return types
})
await tried("responses helper", async () => (await openai.responses.stream({ model: "gpt-5", input: [{ role: "user", content: "hello" }] }).finalResponse()).output_text)
await tried("responses error", async () => openai.responses.create({ model: "gpt-5", input: [{ role: "user", content: "fail" }] }))
await tried("responses image", async () => (await openai.responses.create({ model: "gpt-5", input: [{ role: "user", content: [
  { type: "input_text", text: "what is it?" }, { type: "input_image", image_url: "data:image/png;base64," + png, detail: "auto" }] }] })).output_text)
await tried("responses tools", async () => (await openai.responses.create({ model: "gpt-5", input: [{ role: "user", content: "use a tool" }],
  tools: [{ type: "function", name: "run", parameters: { type: "object", properties: {} } }] })).output)
await tried("responses retry", async () => (await openai.responses.create({ model: "gpt-5", input: [{ role: "user", content: "busy responses" }] })).output_text)
await tried("responses abort", async () => {
  const stream = await openai.responses.create({ model: "gpt-5", input: [{ role: "user", content: "slow" }], stream: true })
  for await (const _ of stream) { stream.controller.abort(); break }
  return "left"
})
await tried("responses long", async () => (await openai.responses.create({ model: "gpt-5", input: items("it") })).output_text)

// Messages
const message = (text, more) => ({ model: "claude-sonnet-4-5", max_tokens: 100, messages: [{ role: "user", content: text }], ...more })
await tried("messages", async () => (await anthropic.messages.create(message("hello"))).content)
await tried("messages stream", async () => (await anthropic.messages.stream(message("hello")).finalMessage()).content)
await tried("messages tools", async () => (await anthropic.messages.create(message("use a tool",
  { tools: [{ name: "run", input_schema: { type: "object" } }] }))).content)
await tried("messages image", async () => (await anthropic.messages.create(message([{ type: "image", source: { type: "base64", media_type: "image/png", data: png } },
  { type: "text", text: "what is it?" }]))).content)
await tried("messages error", async () => anthropic.messages.create(message("fail")))
await tried("messages retry", async () => (await anthropic.messages.create(message("busy messages"))).content)
await tried("messages abort", async () => {
  const stream = anthropic.messages.stream(message("slow"))
  for await (const _ of stream) { stream.abort(); break }
  return "left"
})
const turns = [{ role: "user", content: "fix it" }, ...long((k, out) => [
  { role: "assistant", content: [{ type: "tool_use", id: "toolu_" + k, name: "run", input: {} }] },
  { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_" + k, content: out }] }])]
await tried("messages long", async () => (await anthropic.messages.create(message("", { messages: turns }))).content)

// generateContent
const gen = (text, more) => ({ model: "gemini-2.5-pro", contents: text, ...more })
await tried("gemini", async () => (await google.models.generateContent(gen("hello"))).text)
await tried("gemini stream", async () => {
  let text = ""
  for await (const c of await google.models.generateContentStream(gen("hello"))) text += c.text ?? ""
  return text
})
await tried("gemini error", async () => google.models.generateContent(gen("fail")))
await tried("gemini image", async () => (await google.models.generateContent(gen([{ role: "user", parts: [
  { inlineData: { mimeType: "image/png", data: png } }, { text: "what is it?" }] }]))).text)
await tried("gemini tools", async () => (await google.models.generateContent(gen("use a tool",
  { config: { tools: [{ functionDeclarations: [{ name: "run" }] }] } }))).functionCalls)
await tried("gemini abort", async () => {
  const left = new AbortController()
  try {
    for await (const _ of await google.models.generateContentStream(gen("slow", { config: { abortSignal: left.signal } }))) { left.abort(); break }
  } catch {} // that it was broken off
  return "left"
})
await tried("gemini long", async () => (await google.models.generateContent(gen([{ role: "user", parts: [{ text: "fix it" }] }, ...long((k, out) => [
  { role: "model", parts: [{ functionCall: { name: "run", args: {} } }] },
  { role: "user", parts: [{ functionResponse: { name: "run", response: { output: out } } }] }])]))).text)

// The compaction APIs, which the provider here does not have.
await tried("endpoint compact", async () => {
  const c = await openai.responses.compact({ model: "gpt-5", input: items("this") })
  const r = await openai.responses.create({ model: "gpt-5", input: [...c.output, { role: "user", content: "and now?" }] })
  return { object: c.object, types: c.output.map((o) => o.type), usage: typeof c.usage.total_tokens, text: r.output_text }
})
const managed = { context_management: [{ type: "compaction", compact_threshold: 5000 }] }
await tried("endpoint managed", async () => {
  const r = await openai.responses.create({ model: "gpt-5", input: items("that"), ...managed })
  const again = await openai.responses.create({ model: "gpt-5", input: [...items("that"), ...r.output, { role: "user", content: "and now?" }], ...managed })
  return { types: r.output.map((o) => o.type), text: again.output_text }
})
await tried("endpoint managed stream", async () => {
  const r = await openai.responses.stream({ model: "gpt-5", input: items("all"), ...managed }).finalResponse()
  return { types: r.output.map((o) => o.type), text: r.output_text }
})
const edits = { betas: ["compact-2026-01-12"], context_management: { edits: [{ type: "compact_20260112", trigger: { type: "input_tokens", value: 50000 } }] } }
const large = (what) => [{ role: "user", content: "fix " + what }, ...turns.slice(1), ...Array.from({ length: 5 }, (_, i) => turns.slice(1).map((t) => JSON.parse(JSON.stringify(t).replaceAll("toolu_", `toolu_${i}_`)))).flat()]
await tried("endpoint edit", async () => {
  const r = await anthropic.beta.messages.create(message("", { messages: large("this"), ...edits }))
  const again = await anthropic.beta.messages.create(message("", { ...edits,
    messages: [...large("this"), { role: "assistant", content: r.content }, { role: "user", content: "and now?" }] }))
  return { types: r.content.map((b) => b.type), note: r.content[0].content?.includes("Exact names"), again: again.content }
})
await tried("endpoint edit stream", async () => {
  const r = await anthropic.beta.messages.stream(message("", { messages: large("that"), ...edits })).finalMessage()
  return { types: r.content.map((b) => b.type), note: r.content[0].content?.includes("Exact names") }
})
await tried("endpoint pause", async () => {
  const paused = structuredClone(edits)
  paused.context_management.edits[0].pause_after_compaction = true
  const r = await anthropic.beta.messages.create(message("", { messages: large("all"), ...paused }))
  const s = await anthropic.beta.messages.stream(message("", { messages: large("more"), ...paused })).finalMessage()
  return [r, s].map((m) => ({ stop: m.stop_reason, types: m.content.map((b) => b.type) }))
})
