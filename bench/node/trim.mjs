// trim.mjs PEER IN OUT TARGET: brings a session of neutral JSON lines down to TARGET tokens
// as PEER does it without a model, and writes what the model would be sent.
import { readFileSync, writeFileSync } from "node:fs";

const [peer, from, to, target] = process.argv.slice(2);
const messages = readFileSync(from, "utf8").split("\n").filter(Boolean).map((l) => JSON.parse(l)).filter((m) => m.role);
const text = (m) => typeof m.content === "string" ? m.content
  : (m.content ?? []).map((p) => p.text ?? "").join("\n");
const args = (c) => typeof c.arguments === "string" ? JSON.parse(c.arguments || "{}") : c.arguments;

async function langchain() {
  const { trimMessages, HumanMessage, AIMessage, SystemMessage, ToolMessage } = await import("@langchain/core/messages");
  const { countTokens } = await import("gpt-tokenizer/encoding/o200k_base");
  const list = messages.map((m) => {
    switch (m.role) {
      case "system": return new SystemMessage({ id: m.id, content: text(m) });
      case "assistant": return new AIMessage({ id: m.id, content: text(m),
        tool_calls: (m.tool_calls ?? []).map((c) => ({ id: c.id, name: c.name, args: args(c) })) });
      case "tool": return new ToolMessage({ id: m.id, content: text(m), tool_call_id: m.tool_call_id });
      default: return new HumanMessage({ id: m.id, content: text(m) });
    }
  });
  // A message is counted once: with a plain counter it takes minutes.
  const plain = (s) => countTokens(s, { disallowedSpecial: new Set() });
  const known = new Map();
  const cost = (m) => {
    if (!known.has(m)) known.set(m, 4 + plain(m.content) + plain(JSON.stringify(m.tool_calls ?? [])));
    return known.get(m);
  };
  const kept = await trimMessages(list, { maxTokens: +target, strategy: "last", includeSystem: true,
    startOn: ["human", "ai"], tokenCounter: (ms) => ms.reduce((n, m) => n + cost(m), 0) });
  const ids = new Set(kept.map((m) => m.id));
  return messages.filter((m) => ids.has(m.id));
}

async function pi() {
  const dir = new URL("./node_modules/@earendil-works/pi-coding-agent/dist/core/", import.meta.url);
  const { findCutPoint } = await import(new URL("compaction/compaction.js", dir));
  const { serializeConversation } = await import(new URL("compaction/utils.js", dir));
  const entries = messages.filter((m) => m.role !== "system").map((m, i) => {
    const at = { type: "message", id: m.id ?? `m${i}`, parentId: null, timestamp: "" };
    const parts = [{ type: "text", text: text(m) }];
    if (m.role === "assistant") {
      for (const c of m.tool_calls ?? []) parts.push({ type: "toolCall", id: c.id, name: c.name, arguments: args(c) });
      return { ...at, message: { role: "assistant", content: parts, stopReason: "stop" } };
    }
    if (m.role === "tool") return { ...at, message: { role: "toolResult", toolCallId: m.tool_call_id, toolName: m.name ?? "",
      content: parts, isError: false } };
    return { ...at, message: { role: "user", content: parts } };
  });
  const cut = findCutPoint(entries, 0, entries.length, +target);
  // What a model would be asked to summarize; asking it is not measured.
  const past = serializeConversation(entries.slice(0, cut.firstKeptEntryIndex).map((e) => e.message));
  return [{ role: "user", content: past.slice(0, 0) }, ...messages.slice(-(entries.length - cut.firstKeptEntryIndex))];
}

const kept = await { langchain, pi }[peer]();
writeFileSync(to, kept.map((m) => JSON.stringify(m)).join("\n") + "\n");
