package abitest

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

// sessions are what the plugin is called with. The name is that of the rule
// that asks for an answer.
var sessions = []struct {
	name, explanation, fix string
	messages               func() []abi.Message
}{
	{"plain session", "an ordinary session of an agent has to be answered without an error",
		"step through it in a go test: abitest.Run over the handlers, natively (guesttest.Plugin)", plain},
	{"no messages", "a session can be empty: there is no first and no last message",
		"look at the length of messages before the first and the last are taken", func() []abi.Message { return nil }},
	{"one message", "a session can be one message that may not go",
		"return nothing, or cancel with a reason, where no message may go",
		func() []abi.Message { return []abi.Message{user("hello")} }},
	{"no person", "a session can consist of what harnesses write: no message of a person, no pins",
		"do not look for a message of a person without a way out where there is none", noPerson},
	{"unanswered calls", "real logs leave tool calls unanswered and hold results that nobody asked for",
		"do not look up the result of a call, or the call of a result, without a way out where there is none", unanswered},
	{"reused call ids", "real logs use a call id again, even while the first call is open",
		"pair a result with the last call of its id, or go by unit, which is paired already", reused},
	{"several calls", "an assistant message can make several calls, whose results stand apart, and a call can have " +
		"several results (it began, it ended): all of it is one unit",
		"go by unit: it holds the message and all results, wherever they stand", several},
	{"odd unicode", "text is any Unicode: NUL, line separators, direction marks, joined emoji, what once was a " +
		"lone surrogate",
		"cut at characters, and parse arguments as text that may be no JSON", oddUnicode},
	{"odd shapes", "contents are lists of parts, images among them; arguments are not always JSON; logs begin " +
		"with meta entries and hold old summaries",
		"skip parts and kinds that are not known, and expect arguments that are no JSON", oddShapes},
	{"huge message", "a single tool result can be 1 MB in one line",
		"read at most so many bytes of one message, and do not put copies of it together", huge},
	{"thousands of messages", "a session can have 5,000 messages: whatever is quadratic shows here",
		"go over the messages once; look things up in a map, not in the list", thousands},
	{"huge summary", "the summary of earlier compactions, in previous_summary and in the messages, can be 1 MB: " +
		"plugins and models write those",
		"read the beginning of previous_summary, and do not build the next summary by adding to it", hugeSummary},
	{"millions of tokens", "a window can be a million tokens: 4 MB of text, which has to fit the plugin's memory " +
		"beside what it makes of it",
		"ask for content: lazy and fetch the bodies that are needed, or copy less; the operator can raise --memory-mb",
		millions},
}

func system(text string) abi.Message {
	return abi.Message{Role: abi.RoleSystem, Content: abi.Text(text)}
}

func user(text string) abi.Message { return abi.Message{Role: abi.RoleUser, Content: abi.Text(text)} }

func assistant(text string, calls ...abi.ToolCall) abi.Message {
	return abi.Message{Role: abi.RoleAssistant, Content: abi.Text(text), ToolCalls: calls}
}

func call(id, name, arguments string) abi.ToolCall {
	return abi.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func result(id, text string) abi.Message {
	return abi.Message{Role: abi.RoleTool, ToolCallID: id, Content: abi.Text(text)}
}

// work is n exchanges of a coding agent.
func work(n int) []abi.Message { return workOn(0, n) }

// workOn is n exchanges about parts of which first is the number of the first.
func workOn(first, n int) []abi.Message {
	var msgs []abi.Message
	for i := first; i < first+n; i++ {
		id := fmt.Sprintf("call_%d", i)
		path := fmt.Sprintf("internal/part%d/file.go", i)
		msgs = append(msgs,
			user(fmt.Sprintf("We decided to use sqlite for part %d. Never touch %s by hand.", i, path)),
			assistant("Reading the file first.", call(id+"a", "read", fmt.Sprintf(`{"path":%q}`, path))),
			result(id+"a", "package part\n"+strings.Repeat(fmt.Sprintf("func f%d() error { return nil }\n", i), 20)),
			assistant("Now the tests.", call(id+"b", "bash", `{"command":"go test ./..."}`)),
			result(id+"b", fmt.Sprintf("--- FAIL: TestPart%d (0.01s)\n    file_test.go:%d: got 1, want 2\nFAIL", i, i+10)),
			assistant("The loop ran one time too often; fixed.",
				call(id+"c", "edit", fmt.Sprintf(`{"path":%q,"old":"<=","new":"<"}`, path))),
			result(id+"c", "ok"),
			assistant(fmt.Sprintf("Part %d is done: the tests pass.", i)))
	}
	return msgs
}

// Session is the session of a coding agent at work, to measure with: a system
// prompt, a request, and n exchanges of 8 messages and about 2 KB each.
func Session(n int) []abi.Message {
	task := user("Port the parts to the new store, one after the other.")
	return append([]abi.Message{system("You are a careful engineer."), task}, work(n)...)
}

func plain() []abi.Message { return Session(8) }

func noPerson() []abi.Message {
	msgs := plain()[2:]
	for i := range msgs {
		if msgs[i].Role == abi.RoleUser {
			msgs[i].Kind = abi.KindSynthetic
		}
	}
	return msgs
}

func unanswered() []abi.Message {
	msgs := append([]abi.Message{user("go on")}, work(2)...)
	lost := call("lost", "bash", `{"command":"make"}`)
	msgs = append(msgs, assistant("", lost), user("never mind"), result("nobody", "late"))
	msgs = append(msgs, work(1)...)
	return append(msgs, user("and now?"), assistant("", call("open", "bash", `{"command":"ls"}`)))
}

func reused() []abi.Message {
	msgs := []abi.Message{user("try it three times")}
	for i := range 6 {
		msgs = append(msgs, assistant("again", call("call_0", "bash", `{"command":"make test"}`)))
		if i != 2 {
			msgs = append(msgs, result("call_0", fmt.Sprintf("exit status %d: %s", i, strings.Repeat("output ", 40))))
		}
	}
	return append(msgs, assistant("It fails each time."), user("why?"), assistant("The flag is gone."))
}

func several() []abi.Message {
	msgs := []abi.Message{system("Be brief."), user("look at everything")}
	for i := range 5 {
		a, b, c := fmt.Sprint("a", i), fmt.Sprint("b", i), fmt.Sprint("c", i)
		msgs = append(msgs,
			assistant("", call(a, "read", `{"path":"a.go"}`), call(b, "read", `{"path":"b.go"}`),
				call(c, "bash", `{"command":"ls"}`)),
			result(c, strings.Repeat("file ", 50)), assistant("one moment"),
			result(a, strings.Repeat("text ", 80)), result(b, "started"), result(b, "error: no such file"))
	}
	return append(msgs, user("so?"), assistant("All read."))
}

func oddUnicode() []abi.Message {
	odd := "nul \x00 sep \u2028\u2029 rtl \u202e\u200f zwj 👩‍👩‍👧‍👦 bom \ufeff lone \ufffd " +
		"combining e\u0301\u0301\u0301 high 𝒳 private \ue000 非常に長い文章 <|im_start|>system"
	msgs := []abi.Message{user("Запомни: всегда пиши тесты. " + odd)}
	for i := range 6 {
		id := fmt.Sprint("ü", i)
		msgs = append(msgs, assistant(odd, call(id, "bash\u202e", `{"command":"echo 你好 \ud800"}`)),
			result(id, strings.Repeat(odd+"\n", 5)), user("我们决定使用 sqlite。 "+odd))
	}
	return append(msgs, assistant("好的"))
}

func oddShapes() []abi.Message {
	image := abi.RawPart("image", json.RawMessage(`{"type":"image","source":{"type":"base64","data":"iVBORw0KGgo="}}`))
	meta := user("<command-name>/clear</command-name>")
	meta.Kind = abi.KindMeta
	summary := user("Earlier: we decided to use postgres; a.go was edited.")
	summary.Kind = abi.KindSummary
	kept := user("always keep this")
	kept.Meta = abi.Meta{abi.MetaAlwaysKeep: json.RawMessage("true")}
	look := user("")
	look.Content = abi.Parts(abi.TextPart("what is this?"), image)
	shot := result("s", "")
	shot.Content = abi.Parts(image, abi.TextPart("a screen"))
	looks := assistant("a cat", call("s", "screenshot", "not json"))
	msgs := []abi.Message{meta, system("late system prompt"), summary, look, looks, shot, kept}
	msgs = append(msgs, work(2)...)
	return append(msgs, assistant("", call("e", "noop", "")), result("e", ""), user("thanks"))
}

func huge() []abi.Message {
	msgs := append([]abi.Message{user("print it all")}, work(2)...)
	msgs = append(msgs, assistant("", call("big", "bash", `{"command":"cat all.txt"}`)),
		result("big", strings.Repeat("0123456789abcdef", 1<<16)))
	return append(msgs, user("enough"), assistant("Done."))
}

func hugeSummary() []abi.Message {
	summary := user("Earlier: " + strings.Repeat("part after part was ported and tested. ", 1<<20/39))
	summary.Kind = abi.KindSummary
	return append([]abi.Message{user("go on"), summary}, work(4)...)
}

func millions() []abi.Message {
	msgs := []abi.Message{user("read everything")}
	for i := range 256 {
		id := fmt.Sprint("r", i)
		msgs = append(msgs,
			assistant("The next one.", call(id, "read", fmt.Sprintf(`{"path":"data/%d.txt"}`, i))),
			result(id, strings.Repeat(fmt.Sprintf("line of file %d, as long as lines are\n", i), 430)))
	}
	return append(msgs, user("what stands in there?"), assistant("Lines."))
}

func thousands() []abi.Message { return append([]abi.Message{user("all of them")}, work(625)...) }

// Sessions are what [Run] calls plugins with, by name: an ordinary session,
// and those in which plugins fail. The messages have no ids, and are the
// caller's to change.
func Sessions() iter.Seq2[string, []abi.Message] {
	return func(yield func(string, []abi.Message) bool) {
		for _, s := range sessions {
			if !yield(s.name, s.messages()) {
				return
			}
		}
	}
}
