package integrations_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/features"
)

func newOpenCode(t *testing.T) *chatAgent {
	a := newChatAgent(t, "opencode")
	a.put(t, ".config/opencode/opencode.json",
		fmt.Sprintf(`{"$schema":"https://opencode.ai/config.json","model":"loop/m1",`+
			`"autoupdate":false,"share":"disabled","permission":{"bash":"allow"},"provider":{"loop":{"npm":"@ai-sdk/openai-compatible",`+
			`"name":"loop","options":{"baseURL":%q,"apiKey":"x"},"models":{"m1":{"name":"m1","attachment":true,"modalities":{"input":["text","image"],"output":["text"]},`+
			`"limit":{"context":%d,"output":2000}}}}}}`,
			agenttest.Chat(t, a.model), 32_000))
	return a
}

// opencode runs a prompt in the latest session.
func (a *chatAgent) opencode(t *testing.T, prompt string, flags ...string) {
	t.Helper()
	if len(a.model.Requests()) > 0 {
		flags = append(flags, "-c")
	}
	a.Must(t, a.program, append(append([]string{"run"}, flags...), prompt)...)
}

// TestOpenCodeConversation replays a recorded session through the real opencode: it is compacted through us before
// opencode has to, by one plan that gives the same beginning at each call until the next one, and that holds when the
// session is gone on with, and in a fork.
func TestOpenCodeConversation(t *testing.T) {
	features.Proves(t, "N11")
	a := newOpenCode(t)
	before := agenttest.Tree(t, a.Dir)
	a.Must(t, a.kagewasm, "install", "opencode")
	turns := agenttest.Replay(t, recorded(t, longSession), a.Project, bashCommand)
	for _, turn := range turns[:min(5, len(turns))] {
		a.model.Say(turn.Answers...)
		a.opencode(t, turn.Prompt)
	}
	compacted := a.model.Last(t)
	if !compacted.Says("compaction_summary-") || a.recordedCompactions(t) == 0 {
		t.Fatalf("%d requests, the last has %d bytes of messages, and no note; %d compactions in the store",
			len(a.model.Requests()), compacted.Size(), a.recordedCompactions(t))
	}
	for i, r := range a.model.Requests() {
		chatPairsWhole(t, i, r)
	}
	if broken := brokenPrefixes(a.model.Requests()); len(broken) > a.recordedCompactions(t) {
		t.Errorf("the beginning of requests changed %d times, for %d compactions:\n%s", len(broken), a.recordedCompactions(t),
			strings.Join(broken, "\n"))
	}
	a.opencode(t, "go on")
	if now := a.model.Last(t); now.Size() > compacted.Size()*105/100 {
		t.Errorf("gone on with: %d bytes of messages, %d after the compaction", now.Size(), compacted.Size())
	}
	a.opencode(t, "elsewhere", "--fork")
	if now := a.model.Last(t); now.Size() > compacted.Size()*105/100 {
		t.Errorf("forked: %d bytes of messages, %d after the compaction", now.Size(), compacted.Size())
	}
	t.Logf("%d requests, %d compactions", len(a.model.Requests()), a.recordedCompactions(t))
	a.Must(t, a.kagewasm, "uninstall", "opencode")
	own := []string{".local", ".cache", ".npm", ".bun", ".config/opencode/node_modules", ".config/opencode/package.json",
		".config/opencode/bun.lock", ".config/opencode/package-lock.json", ".config/opencode/.gitignore"}
	if left := agenttest.Changed(before, agenttest.Tree(t, a.Dir), own...); len(left) > 0 {
		t.Errorf("uninstall left %v", left)
	}
}

// brokenPrefixes tells which requests do not begin as the one before them.
func brokenPrefixes(requests []agenttest.Request) (broken []string) {
	for i := 1; i < len(requests); i++ {
		was, now := requests[i-1].Messages, requests[i].Messages
		for k := range was {
			if k >= len(now) || !bytes.Equal(was[k], now[k]) {
				next := []byte("nothing")
				if k < len(now) {
					next = now[k]
				}
				broken = append(broken, fmt.Sprintf("request %d, message %d of %d and %d: %.300s\nnow %.300s", i, k, len(was),
					len(now),
					was[k], next))
				break
			}
		}
	}
	return broken
}

// TestOpenCodeGoesOn: where kagewasm is killed, opencode compacts itself, and a model that is always nearly full is no
// reason to compact again and again.
func TestOpenCodeGoesOn(t *testing.T) {
	a := newOpenCode(t)
	a.Must(t, a.kagewasm, "install", "opencode")
	full := 28_000 // opencode compacts at 30,000, and we at 25,500
	a.model.Tokens = func(agenttest.Request) int { return full }
	a.opencode(t, "one "+strings.Repeat("and one more ", 400))
	for n := range 2 {
		a.opencode(t, fmt.Sprintf("and %d", n))
	}
	if got := a.recordedCompactions(t); got > 1 {
		t.Errorf("%d compactions of a session that did not grow", got)
	}
	command := filepath.Join(a.Dir, ".config", "opencode", "plugins", "kagewasm", "command.js")
	a.put(t, "killed", "#!/bin/sh\n"+a.kagewasm+" \"$@\" & kill -9 $!; wait $!\n")
	calls(t, command, filepath.Join(a.Dir, "killed"), hangsUp(t))
	if err := os.Chmod(filepath.Join(a.Dir, "killed"), 0o755); err != nil {
		t.Fatal(err)
	}
	asked := len(a.model.Requests())
	times := 0
	a.model.Tokens = func(agenttest.Request) int { // full once
		if times++; times == 1 {
			return 35_000
		}
		return 5_000
	}
	a.opencode(t, "still there?")
	a.opencode(t, "and now?")
	if got := len(a.model.Requests()) - asked; got < 3 {
		t.Errorf("opencode asked its model %d times for two prompts and a summary of its own", got)
	}
	if !a.model.Last(t).Says("and now?") {
		t.Error("opencode did not go on")
	}
}

// TestOpenCodeShrinksResults: where that was asked for at the installation a giant result is shortened before the model
// ever sees it.
func TestOpenCodeShrinksResults(t *testing.T) {
	a := newOpenCode(t)
	a.Must(t, a.kagewasm, "install", "opencode")
	giant := filepath.Join(a.Project, "giant.txt")
	if err := os.WriteFile(giant, []byte("first line\n"+strings.Repeat("a line of the middle\n", 1000)+"last line\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	show := func() agenttest.Request {
		a.model.Say(agenttest.Answer{Calls: []agenttest.Call{bashCommand(giant)}})
		a.opencode(t, "Show it.")
		return a.model.Last(t)
	}
	if whole := show(); whole.Says("characters left out") || !whole.Says("a line of the middle") {
		t.Errorf("without the option: %.3000s", whole.Body)
	}
	a.Must(t, a.kagewasm, "install", "opencode", "--shrink-results-over", "2000")
	a.Must(t, a.kagewasm, "install", "opencode") // which leaves that as it is
	before := a.model.Last(t).Size()
	short := show()
	if n := strings.Count(string(short.Body), "characters left out"); n != 1 || !short.Says("last line") ||
		short.Size()-before > 6000 {
		t.Errorf("%d times shortened, %d bytes more", n, short.Size()-before)
	}
}

// TestOpenCodeSubagent: a subagent whose own window is full is compacted through us, as a session of its own, and the
// one that called it is left alone. An answer that breaks off costs neither anything.
func TestOpenCodeSubagent(t *testing.T) {
	a := newOpenCode(t)
	a.Must(t, a.kagewasm, "install", "opencode")
	a.model.Say(agenttest.Answer{Text: "I was going to", Cut: true})
	a.Run(t, a.program, "run", "an answer that is cut off")
	a.model.Say(agenttest.Answer{Calls: []agenttest.Call{{Name: "task", Input: map[string]any{
		"description": "look around", "prompt": "Read all the files.", "subagent_type": "general"}}}})
	for n := range 14 {
		file := filepath.Join(a.Project, fmt.Sprintf("%d.txt", n))
		if err := os.WriteFile(file, []byte(strings.Repeat(fmt.Sprintf("line of file %d\n", n), 800)), 0o644); err != nil {
			t.Fatal(err)
		}
		a.model.Say(agenttest.Answer{Text: fmt.Sprintf("File %d.", n), Calls: []agenttest.Call{bashCommand(file)}})
	}
	a.opencode(t, "Have somebody read the files.")
	compacted := 0
	for i, r := range a.model.Requests() {
		chatPairsWhole(t, i, r)
		if !r.Says("compaction_summary-") {
			continue
		}
		if compacted++; !r.Says("Read all the files.") || r.Says("Have somebody read the files.") {
			t.Errorf("request %d has a note, and is not the subagent's", i)
		}
	}
	if last := a.model.Last(t); compacted == 0 || !last.Says("Have somebody read the files.") {
		t.Errorf("%d requests with a note of %d; the last: %.500s", compacted, len(a.model.Requests()), last.Body)
	}
	if n := a.recordedCompactions(t); n == 0 {
		t.Error("no compaction in the store")
	}
}

// serve runs opencode's server, and returns where it listens.
func (a *chatAgent) serve(t *testing.T) (url string) {
	t.Helper()
	cmd := exec.Command(a.program, "serve")
	cmd.Dir, cmd.Env = a.Project, a.Env
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, at, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go io.Copy(io.Discard, out)
			return at
		}
	}
	t.Fatalf("opencode serves nowhere: %v", lines.Err())
	return ""
}

// call asks opencode's server.
func (a *chatAgent) call(t *testing.T, method, url, body string, into any) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("content-type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s, %v: %.1000s", method, url, answer.Status, err, data)
	}
}

// session is where opencode's server has the latest session.
func (a *chatAgent) session(t *testing.T, url string) string {
	t.Helper()
	var sessions []struct{ ID string }
	a.call(t, http.MethodGet, url+"/session", "", &sessions)
	return url + "/session/" + sessions[0].ID
}

// compact is opencode's own /compact for the latest session.
func (a *chatAgent) compact(t *testing.T, url string) {
	t.Helper()
	a.call(t, http.MethodPost, a.session(t, url)+"/summarize", `{"providerID":"loop","modelID":"m1"}`, nil)
}

// looks is a session of four turns, each of which shows a file.
func (a *chatAgent) looks(t *testing.T) {
	t.Helper()
	for n := range 4 {
		file := filepath.Join(a.Project, fmt.Sprintf("%d.txt", n))
		text := strings.Repeat(fmt.Sprintf("line of file %d\n", n), 300)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		a.model.Say(agenttest.Answer{Text: "I look.", Calls: []agenttest.Call{bashCommand(file)}},
			agenttest.Answer{Text: fmt.Sprintf("File %d is about depots.", n)})
		a.opencode(t, fmt.Sprintf("What is in file %d of the parcel service?", n))
	}
}

// TestOpenCodeOwnCompaction: what stands for a session after opencode's own /compact is our note, word for word, once
// and again; its model is given that to read and no more. Where kagewasm is killed its model's words stand there.
func TestOpenCodeOwnCompaction(t *testing.T) {
	a := newOpenCode(t)
	a.Must(t, a.kagewasm, "install", "opencode")
	a.looks(t)
	url := a.serve(t)
	whole := a.model.Last(t).Size()
	const theirs = "The model's own summary of it all."
	for n := range 2 {
		a.model.Say(agenttest.Answer{Text: theirs})
		a.compact(t, url)
		if asked := a.model.Last(t); asked.Size() > whole/2 || !asked.Says("compaction_summary-") ||
			asked.Says("line of file 0") {
			t.Errorf("compaction %d: the model was asked with %d bytes, of %d: %.3000s", n, asked.Size(), whole, asked.Body)
		}
		a.opencode(t, fmt.Sprintf("go on %d", n))
		now := a.model.Last(t)
		if now.Says(theirs) || !now.Says("compaction_summary-") || !now.Says("What is in file 0 of the parcel service?") ||
			!now.Says("What is in file 3 of the parcel service?") ||
			strings.Count(string(now.Body), "<compaction_summary-") != 1 {
			t.Errorf("after compaction %d the model reads %s", n, now.Body)
		}
	}
	if got := a.recordedCompactions(t); got != 2 {
		t.Errorf("%d compactions in the store", got)
	}
	command := filepath.Join(a.Dir, ".config", "opencode", "plugins", "kagewasm", "command.js")
	calls(t, command, filepath.Join(a.Dir, "missing"), hangsUp(t))
	url = a.serve(t)
	a.model.Say(agenttest.Answer{Text: theirs})
	a.compact(t, url)
	a.opencode(t, "and now?")
	if now := a.model.Last(t); !now.Says(theirs) || !now.Says("and now?") {
		t.Errorf("without kagewasm the model reads %s", now.Body)
	}
}

func closed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

// TestOpenCodeOwnCompactionFails: where the model fails at opencode's own /compact, or a person breaks it off, what is
// asked and answered next is no summary: the model reads the session as it was, and its answer stands. The next
// /compact leaves our note.
func TestOpenCodeOwnCompactionFails(t *testing.T) {
	a := newOpenCode(t)
	a.Must(t, a.kagewasm, "install", "opencode")
	a.looks(t)
	url := a.serve(t)
	say := func(prompt string) agenttest.Request {
		a.call(t, http.MethodPost, a.session(t, url)+"/message", fmt.Sprintf(`{"model":{"providerID":"loop",`+
			`"modelID":"m1"},"parts":[{"type":"text","text":%q}]}`, prompt), nil)
		return a.model.Last(t)
	}
	goesOn := func(after string) {
		a.model.Say(agenttest.Answer{Text: "On after " + after + "."})
		if r := say("go on"); r.Says("compaction_summary-") || !r.Says("line of file 0") || !r.Says("line of file 3") {
			t.Errorf("after %s the model reads %s", after, r.Body)
		}
		if r := say("and on"); !r.Says("On after " + after + ".") {
			t.Errorf("after %s the answer is not what the model said: %s", after, r.Body)
		}
	}
	a.model.Say(agenttest.Answer{Status: http.StatusBadRequest})
	a.compact(t, url)
	goesOn("a failure")

	before := len(a.model.Requests())
	a.model.Say(agenttest.Answer{Hold: true})
	done := make(chan struct{})
	go func() {
		defer close(done)
		a.compact(t, url)
	}()
	for len(a.model.Requests()) == before && !closed(done) {
		time.Sleep(10 * time.Millisecond)
	}
	a.call(t, http.MethodPost, a.session(t, url)+"/abort", "", nil)
	<-done
	goesOn("an abort")

	a.model.Say(agenttest.Answer{Text: "The model's own summary of it all."})
	a.compact(t, url)
	r := say("at last")
	if !r.Says("compaction_summary-") || r.Says("own summary of it all") || r.Says("line of file 0") ||
		!r.Says("What is in file 0 of the parcel service?") {
		t.Errorf("after a compaction the model reads %s", r.Body)
	}
}
