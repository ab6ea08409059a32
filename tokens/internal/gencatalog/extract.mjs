// Reads the bundled module of @pydantic/genai-prices on standard input and
// writes its provider list as JSON. The list is the first array literal of the
// module; nothing else of the module runs.
import { readFileSync } from "node:fs";

const source = readFileSync(0, "utf8");
const start = source.search(/^const \w+ = \[$/m);
if (start < 0) throw new Error("no provider list: the package's layout has changed");
const literal = source.slice(source.indexOf("[", start), source.indexOf("\n]", start) + 2);
process.stdout.write(JSON.stringify(new Function(`"use strict"; return ${literal}`)()));
