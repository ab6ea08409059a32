// my-plugin keeps what a person laid down as a rule: such messages stay word for
// word, and their text is remembered for later sessions.
import { Input, Message, Output } from "./kagewasm";

// What makes a message a rule.
const words = ["always", "never", "must", "do not", "remember"];

// How many tokens a rule may have: a pasted file is none.
const longestRule = 200;

// The newest rules, oldest first.
export function pre_compact(): i32 {
  const input = new Input();
  const output = new Output();
  const most = input.knob("most").int(20);
  for (let i = input.messages.length - 1; i >= 0 && output.always_keep.length < most; i--) {
    const message = input.messages[i];
    if (isRule(message)) {
      output.always_keep.unshift(message.id);
      output.retain.unshift(message.text);
    }
  }
  return output.send();
}

// A person typed it, and it says how things have to be.
function isRule(message: Message): bool {
  if (!message.isPerson || message.tokens > longestRule) return false;
  const text = message.text.toLowerCase();
  for (let i = 0; i < words.length; i++) {
    if (text.includes(words[i])) return true;
  }
  return false;
}
