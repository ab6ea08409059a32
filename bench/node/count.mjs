// Counts the texts of a JSON file {kind: [text]} with tokenizers of npm, and prints
// {tokenizer: {kind: {rate, count}}}, rates in MB a second of processor time.
import { readFileSync } from "node:fs";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { get_encoding } from "tiktoken";

const texts = JSON.parse(readFileSync(process.argv[2], "utf8"));
const spent = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1e6; };

function rate(list, count) {
  let total = 0, size = 0;
  for (const s of list) { total += count(s); size += Buffer.byteLength(s); }
  const start = spent();
  let done = 0;
  while (spent() - start < 1) { for (const s of list) count(s); done += size; }
  return { rate: done / (spent() - start) / 1e6, count: total };
}

const wasm = get_encoding("o200k_base");
const counters = {
  "gpt-tokenizer": (s) => countTokens(s, { disallowedSpecial: new Set() }),
  "tiktoken": (s) => wasm.encode_ordinary(s).length,
};
const out = {};
for (const [name, count] of Object.entries(counters)) {
  out[name] = {};
  for (const [kind, list] of Object.entries(texts)) out[name][kind] = rate(list, count);
}
process.stdout.write(JSON.stringify(out));
