// Writes golden.json: the tokens of some texts by OpenAI's own code, as the npm package tiktoken has it.
//
//	npm install tiktoken@1.0.22 && node golden.mjs > golden.json
import { readFileSync } from "node:fs";
import { get_encoding } from "tiktoken";

const here = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const texts = [
  "", " ", "  ", "\n", " \n ", "\r\n\r\n", "\t\tx", "a  b", "a   b  ", "a \n\n  b", "x\u00a0y", "x\u2028 y", "\u0085\u0085a",
  "hello world", "Hello, World!", "HTTPServer", "fooBarBAZqux", "McDonald's", "DON'T", "don't", "we'LL", "it's'd", "'sabc", "a'ſ", "'",
  "1", "12", "123", "1234", "1234567890", "3.14159", "½ⅧⅣ٣٤", "a1b22c333", "0x1F", "2026-11-22T21:32:32.123Z",
  "<|endoftext|>", "<|im_start|>user<|im_sep|>", "http://example.com/a//b?c=d&e=%20", "// comment\n/* x */\n", "./\n/", "!!!???", "a--b---c",
  "----", "-".repeat(79), "=".repeat(150) + "\n", "*".repeat(257), "_".repeat(1000), "-".repeat(3000), "a".repeat(1234), " ".repeat(1500) + "x",
  "\n".repeat(777), " \n".repeat(500), "\t".repeat(1111), "\r\n".repeat(600), "AbC".repeat(700), "0".repeat(1000), "ab".repeat(900) + "é",
  "antidisestablishmentarianism", "Donaudampfschifffahrtsgesellschaftskapitän", "naïve café", "e\u0301e\u0301\u0301", "\u0301", " \u0301a", ".\u0301x",
  "ǅabc ǄABC", "ʰxʰX", "漢ABC", "漢字かなABCdef", "ÀÉÎõü", "Привет, мир! КАК дела?", "γειά ΣΟΥ", "مرحبا بالعالم", "שלום", "नमस्ते दुनिया", "สวัสดีชาวโลก", "한국어 문장",
  "😀", "👩‍👩‍👧‍👦", "🏳️‍🌈🇩🇪", "😀😀😀 a😀b", "👍🏽".repeat(300), "漢".repeat(500), "กำ".repeat(300), "\ufffd", "\ufffd\ufffd\ufffd", "\ufffd".repeat(999), "a\ufffdb",
  "\u0000", "\u0000\u0001\u0002\u007f", "\u200b\u200d\ufeff", "\u{e0100}\u{e0101}", "\u{10ffff}", "𝒜𝒷 𝟘𝟙𝟚𝟛", "aGVsbG8gd29ybGQK".repeat(40), "deadBEEF0123".repeat(50),
  "func main() {\n\tfmt.Println(\"hi\")\n}\n\n\n  // it's\r\n", '{"id":"call_01","arguments":{"path":"/srv/app/config.yaml","offset":1200}}',
  "def f(x):\n    return x ** 2  # squared\n\n\nclass A:\n    pass\n", "SELECT * FROM t WHERE a >= 10 AND b <> 'it''s';", "diff --git a/x b/x\n@@ -1,2 +1,3 @@\n-old\n+new\n",
  ...here("cjk.txt").split("\n"), here("session.jsonl"),
];
const encodings = ["o200k_base", "cl100k_base"].map((name) => [name, get_encoding(name)]);
const row = (text) => ({ text, ...Object.fromEntries(encodings.map(([name, e]) => [name, Array.from(e.encode_ordinary(text))])) });
console.log("[\n" + texts.map((t) => JSON.stringify(row(t))).join(",\n") + "\n]");
