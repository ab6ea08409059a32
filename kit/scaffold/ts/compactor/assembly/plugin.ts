// my-plugin is a compactor that needs no model: its summary is the first line of
// what was asked and answered in the messages that go. The host makes the cut.
import { Input, Output } from "./kagewasm";

const heading = "What was asked and answered, oldest first:";
const asked = "- asked: ";
const answered = "- answered: ";

// A careful guess: most text has more bytes in a token.
const bytesPerToken = 3;

// As many lines as the budget has room for, the newest, in the order they were
// said.
export function pre_compact(): i32 {
  const input = new Input();
  const lines = linesOf(input);
  let room = input.summaryTokens * bytesPerToken - heading.length;
  let from = lines.length;
  while (from > 0 && room > String.UTF8.byteLength(lines[from - 1])) {
    room -= String.UTF8.byteLength(lines[--from]) + 1;
  }
  // Nothing to say: the host's own strategy follows.
  if (from == lines.length) return 0;
  const output = new Output();
  output.summary = heading + "\n" + lines.slice(from).join("\n");
  return output.send();
}

// The lines of an earlier summary, which would be lost otherwise, and one for
// each request and each answer, up to where the newest messages fit the target
// and stay.
function linesOf(input: Input): string[] {
  const answers = input.knob("answers").bool(true);
  const lines = input.previousSummary.split("\n").filter((line) => line.startsWith(asked) || line.startsWith(answered));
  const stays = input.targetTokens - input.summaryTokens;
  let rest = input.messages.reduce<i32>((sum, message) => sum + message.tokens, 0);
  for (let i = 0; i < input.messages.length && rest > stays; i++) {
    const message = input.messages[i];
    rest -= message.tokens;
    const isAnswer = message.role == "assistant" && !message.callsTools;
    // What is pinned stays.
    if (message.pinned || (!message.isPerson && !(isAnswer && answers))) continue;
    const text = message.text.split("\n")[0];
    if (text != "") lines.push((isAnswer ? answered : asked) + text);
  }
  return lines;
}
