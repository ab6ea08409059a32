// Counts the texts of a JSON file {kind: [text]} with tokenizers of npm, and prints
// {tokenizer: {kind: {rate, count}}}, rates in MB a second of processor time.
import { readFileSync } from "node:fs";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { get_encoding } from "tiktoken";

const texts = JSON.parse(readFileSync(process.argv[2], "utf8"));
const spent = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1e6; };

// rate counts half of the texts until everything is compiled, and measures the other half, once: text
// that the tokenizer has not seen. (gpt-tokenizer remembers the words it has merged.)
function rate(list, count) {
  const half = list.length >> 1, seen = list.slice(0, half), fresh = list.slice(half);
  let total = 0, size = 0;
  for (let start = spent(); spent() - start < 1; ) for (const s of seen) count(s);
  for (const s of seen) total += count(s);
  const start = spent();
  for (const s of fresh) total += count(s);
  const took = spent() - start;
  for (const s of fresh) size += Buffer.byteLength(s);
  return { rate: size / took / 1e6, count: total };
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
