// The built plugin over the fixture, in the sandbox that hosts run it in.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const call = (hook, input) =>
  JSON.parse(execFileSync("kagewasm", ["run", "my-plugin.wasm", hook, "-i", input, "--json"], { encoding: "utf8" }));

test("the answer to the fixture is the one beside it", () => {
  const { output } = call("pre_compact", "fixtures/input.json");
  assert.deepEqual(output, JSON.parse(readFileSync("fixtures/output.json", "utf8")));
});
