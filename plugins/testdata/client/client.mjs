// Does one thing with the official client of a Hindsight server, and prints
// what came of it as JSON:
//
//	node client.mjs URL TOKEN version
//	node client.mjs URL TOKEN mission|retain|recall BANK TEXT
import { HindsightClient } from "@vectorize-io/hindsight-client";

const [baseUrl, apiKey, what, bank, text] = process.argv.slice(2);
const client = new HindsightClient({ baseUrl, apiKey });
const does = {
	version: () => client.getVersion(),
	mission: () => client.createBank(bank, { reflectMission: text }),
	retain: () => client.retain(bank, text, { async: true, documentId: "by-hand", updateMode: "replace" }),
	recall: () => client.recall(bank, text, { budget: "low", maxTokens: 500, includeEntities: false }),
};
console.log(JSON.stringify(await does[what]()));
