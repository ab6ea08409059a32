// What every plugin needs: the documents of the hooks, and the way in and out.
// Add what you need beside what is here: every document is read with Json.
import { Host } from "@extism/as-pdk";
import { Json, quote } from "./json";

@external("kagewasm:host/env", "host_call")
declare function host_call(op: usize, opLength: i32, request: usize, requestLength: i32): i32;
@external("kagewasm:host/env", "response_read")
declare function response_read(to: usize, offset: i32, length: i32): i32;

// hostCall makes a host call, "kv.get" for example, with a request in JSON, and
// returns its result. A call that the host refuses ends the hook.
export function hostCall(op: string, request: string): Json {
  const response = tryHostCall(op, request);
  const error = response.get("error");
  if (error.exists) throw new Error(`${op}: ${error.get("message").text}`);
  return response.get("result");
}

// tryHostCall makes a host call and returns the response, which is
// {"result": ...} or {"error": {"code": ..., "message": ...}}.
export function tryHostCall(op: string, request: string): Json {
  const name = String.UTF8.encode(op);
  const body = String.UTF8.encode(request);
  const length = host_call(changetype<usize>(name), name.byteLength, changetype<usize>(body), body.byteLength);
  const response = new ArrayBuffer(length);
  response_read(changetype<usize>(response), 0, length);
  return Json.parse(String.UTF8.decode(response));
}

// search finds what has to do with a query among the messages that compactions
// superseded, best first, at most limit results (0 is 5). It needs the capability
// messages.search. Each has "pieces" with "message", "role", "compaction" and "text".
export function search(query: string, limit: i32 = 0): Json[] {
  return hostCall("messages.search", `{"query":${quote(query)},"limit":${limit}}`).get("found").items();
}

// Input is what a hook is given.
export class Input {
  readonly json: Json = Json.parse(Host.inputString());
  readonly messages: Message[] = this.json.get("messages").items().map<Message>((json) => new Message(json));
  readonly dryRun: bool = this.json.get("trigger").get("dry_run").bool(false);
  readonly previousSummary: string = this.json.get("previous_summary").text;
  readonly targetTokens: i32 = this.json.get("budget").get("target_tokens").int(0);
  readonly summaryTokens: i32 = this.json.get("budget").get("summary_tokens").int(0);

  // knob is the value of a knob, as an operator set it.
  knob(name: string): Json {
    return this.json.get("config").get(name);
  }
}

export class Message {
  constructor(readonly json: Json) {}

  get id(): string {
    return this.json.get("id").text;
  }

  get role(): string {
    return this.json.get("role").text;
  }

  // What it costs in the model's context.
  get tokens(): i32 {
    return this.json.get("tokens").int(0);
  }

  get pinned(): bool {
    return this.json.get("pinned").bool(false);
  }

  // A person typed it: other user messages are the harness's, and have a kind.
  get isPerson(): bool {
    return this.json.get("role").is("user") && !this.json.get("kind").exists;
  }

  // What the harness made it for: "instructions" or "compaction_summary" for example.
  get kind(): string {
    return this.json.get("kind").text;
  }

  // Messages of one unit stay or go together: a call and its result for example.
  get unit(): i32 {
    return this.json.get("unit").int(0);
  }

  get callsTools(): bool {
    return this.json.get("tool_calls").exists;
  }

  // Of role tool: the call that it answers, and whether that failed.
  get toolCallId(): string {
    return this.json.get("tool_call_id").text;
  }

  get isError(): bool {
    return this.json.get("is_error").bool(false);
  }

  // What it says: its content, or the texts of its parts, a line each.
  get text(): string {
    const content = this.json.get("content");
    const parts = content.items();
    if (parts.length == 0) return content.text;
    return parts
      .map<string>((part) => part.get("text").text)
      .filter((text) => text != "")
      .join("\n");
  }
}

// OutputMessage is an entry of a compactor's list, made by one of its functions.
export class OutputMessage {
  private constructor(readonly json: string) {}

  // keep leaves a message as it is.
  static keep(id: string): OutputMessage {
    return new OutputMessage(`{"ref":${quote(id)}}`);
  }

  // shorten puts a shorter text in place of what a tool said.
  static shorten(message: Message, content: string): OutputMessage {
    const call = message.json.get("tool_call_id").exists ? `,"tool_call_id":${quote(message.toolCallId)}` : "";
    const kind = message.kind != "" ? `,"kind":${quote(message.kind)}` : "";
    const head = `"id":${quote(message.id)},"role":${quote(message.role)}${kind}${call}`;
    return new OutputMessage(`{${head},"content":${quote(content)}}`);
  }

  // summary is a new message, which stands for what is not in the list, behind the
  // entry before it. Summaries next to each other are one.
  static summary(content: string): OutputMessage {
    return new OutputMessage(`{"role":"user","kind":"compaction_summary","content":${quote(content)}}`);
  }

  // inject is a new message with other text for the model, behind the entry before it.
  static inject(content: string): OutputMessage {
    return new OutputMessage(`{"role":"user","kind":"injected","content":${quote(content)}}`);
  }
}

// Output is what a hook answers; empty fields are left out. docs/authors.md says
// what each is for.
export class Output {
  always_keep: string[] = [];
  release: string[] = [];
  retain: string[] = [];
  unstored: string = "";
  inject: string = "";
  summary: string = "";
  covers: string = "";
  messages: OutputMessage[] = [];
  superseded: string[] = [];
  cancel: bool = false;
  reason: string = "";

  // send hands the answer over and returns what the hook returns.
  send(): i32 {
    const fields: string[] = [];
    if (this.always_keep.length) fields.push('"always_keep":' + list(this.always_keep));
    if (this.release.length) fields.push('"release":' + list(this.release));
    if (this.retain.length) fields.push('"retain":' + list(this.retain));
    if (this.inject != "") fields.push('"inject":' + quote(this.inject));
    if (this.unstored != "") fields.push('"unstored":' + quote(this.unstored));
    if (this.summary != "") fields.push('"summary":' + quote(this.summary));
    if (this.covers != "") fields.push('"covers":' + quote(this.covers));
    if (this.messages.length) fields.push('"messages":[' + this.messages.map<string>((m) => m.json).join(",") + "]");
    if (this.superseded.length) fields.push('"superseded":' + list(this.superseded));
    if (this.cancel) fields.push('"cancel":true');
    if (this.reason != "") fields.push('"reason":' + quote(this.reason));
    // Not Host.outputString, which counts characters where it needs bytes.
    Host.output(Uint8Array.wrap(String.UTF8.encode("{" + fields.join(",") + "}")));
    return 0;
  }
}

function list(texts: string[]): string {
  return "[" + texts.map<string>((text) => quote(text)).join(",") + "]";
}
