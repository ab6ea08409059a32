package integrations_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// codex is the real Codex with the proxy for its provider, before a scripted model.
type codex struct {
	*agenttest.Home
	model                       *agenttest.Model
	program, kagewasm, upstream string
	proxy                       *exec.Cmd
	address                     string // of the proxy
	settings                    []string
}

// codexSettings are a user's own.
const codexSettings = `# mine
model = "gpt-5.1-codex"
model_context_window = 60000
model_auto_compact_token_limit = 30000
cli_auth_credentials_store = "file"

[tui]
notifications = false # quiet`

func newCodex(t *testing.T) *codex {
	t.Helper()
	c := &codex{program: agenttest.Program(t, "codex"), kagewasm: agenttest.Kagewasm(t), model: &agenttest.Model{},
		settings: []string{"--no-config"}}
	c.upstream = agenttest.Responses(t, c.model)
	c.Home = agenttest.NewHome(t, c.program, c.kagewasm)
	if err := os.Mkdir(c.path(), 0o755); err != nil {
		t.Fatal(err)
	}
	c.write(t, "auth.json", `{"OPENAI_API_KEY":"sk-test"}`)
	c.write(t, "config.toml", codexSettings)
	return c
}

func (c *codex) path(names ...string) string {
	return filepath.Join(append([]string{c.Dir, ".codex"}, names...)...)
}

func (c *codex) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(c.path(name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// install starts the proxy, as a service does that the machine has no manager for, and installs Codex's plug.
func (c *codex) install(t *testing.T) {
	t.Helper()
	c.start(t)
	c.Must(t, c.kagewasm, "install", "codex", "--listen", c.address)
}

// start starts the proxy on a port of its own, and tells Codex which where it knew another one.
func (c *codex) start(t *testing.T) {
	t.Helper()
	c.startAt(t, "127.0.0.1:0")
}

func (c *codex) startAt(t *testing.T, listen string) {
	t.Helper()
	args := append([]string{"proxy", "--upstream", c.upstream, "--listen", listen}, c.settings...)
	c.proxy = exec.Command(c.kagewasm, args...)
	c.proxy.Dir, c.proxy.Env = c.Project, c.Env
	says, err := c.proxy.StderrPipe()
	if err == nil {
		err = c.proxy.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.kill() })
	lines := bufio.NewScanner(says)
	for lines.Scan() {
		if at := regexp.MustCompile(`listening on http://(\S+)`).FindStringSubmatch(lines.Text()); at != nil {
			config, err := os.ReadFile(c.path("config.toml"))
			if err != nil {
				t.Fatal(err)
			}
			if c.address != "" {
				c.write(t, "config.toml", strings.ReplaceAll(string(config), c.address, at[1]))
			}
			c.address = at[1]
			go func() {
				for lines.Scan() {
				}
			}()
			return
		}
	}
	t.Fatal("the proxy does not listen")
}

func (c *codex) kill() {
	_ = c.proxy.Process.Kill()
	_ = c.proxy.Wait()
}

// exec runs a prompt, in the session before where that is said.
func (c *codex) exec(t *testing.T, again bool, prompt string, flags ...string) string {
	t.Helper()
	args := append([]string{"exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"}, flags...)
	if again {
		args = append(args, "resume", "--last")
	}
	return c.Must(t, c.program, append(args, "--", prompt)...)
}

// work has the model run commands, two at a time, and then say that it is done.
func (c *codex) work(rounds int) {
	for k := range rounds {
		run := func(n int) agenttest.Call {
			return agenttest.Call{Name: "exec_command", Input: map[string]any{"cmd": fmt.Sprintf("echo run %d-%d; seq %d %d", k,
				n,
				k*1000, k*1000+900)}}
		}
		c.model.Say(agenttest.Answer{Text: fmt.Sprintf("Running test %d.", k), Calls: []agenttest.Call{run(0), run(1)}})
	}
	c.model.Say(agenttest.Answer{Text: "All tests pass."})
}

// whole fails where a request holds a call without its result, or a result without its call.
func whole(t *testing.T, i int, r agenttest.Request) {
	t.Helper()
	s, err := transcript.Read("request", r.Body, "openai-responses")
	if err != nil {
		t.Fatalf("request %d: %v", i, err)
	}
	calls := make(map[string]int)
	for _, m := range s.Messages {
		for _, call := range m.ToolCalls {
			calls[call.ID]++
		}
		if m.Role == abi.RoleTool {
			calls[m.ToolCallID]--
		}
	}
	for id, n := range calls {
		if n != 0 {
			t.Errorf("request %d: %s: %+d calls without results", i, id, n)
		}
	}
}

// stored is how many sessions the store has, and how often they were compacted.
func (c *codex) stored(t *testing.T) (sessions, compactions int) {
	t.Helper()
	var list struct {
		Sessions []struct {
			Compactions int `json:"compactions"`
		} `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(c.Must(t, c.kagewasm, "sessions", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Sessions {
		compactions += s.Compactions
	}
	return len(list.Sessions), compactions
}

// TestCodex: Codex is installed into, compacts by itself through the proxy, goes on, resumes, and is given back its
// files. No compaction reaches the provider; what does is never over the window, holds no orphan, and begins the same
// between two compactions. The proxy may be killed and started again meanwhile.
func TestCodex(t *testing.T) {
	features.Proves(t, "N12")
	c := newCodex(t)
	before := agenttest.Tree(t, c.Dir)
	c.install(t)
	c.work(5)
	c.exec(t, false, "Run the tests. Never touch the folder vendor/.")
	c.kill()
	c.start(t)
	for range 2 {
		c.work(5)
		c.exec(t, true, "Run them all once more.")
	}
	c.conversed(t, 2)
	if !c.model.Last(t).Says("Never touch the folder vendor/") {
		t.Error("the person's rule is gone")
	}
	c.Must(t, c.kagewasm, "uninstall", "codex")
	after := agenttest.Tree(t, c.Dir)
	if config := after[".codex/config.toml"]; config != before[".codex/config.toml"] { // the address was changed in it
		t.Errorf("config.toml is now\n%s", config)
	}
	delete(before, ".codex/")
	for _, path := range agenttest.Changed(before, after, ".codex") {
		t.Errorf("%s is not as it was", path)
	}
}

// conversed fails where a conversation was not compacted so often at least, in one session, or where a request is over
// the window, is not whole, or begins otherwise than the one before without a compaction.
func (c *codex) conversed(t *testing.T, least int) {
	t.Helper()
	var last []json.RawMessage
	breaks, largest := 0, 0
	equal := func(a, b json.RawMessage) bool { return string(a) == string(b) }
	for i, r := range c.model.Requests() {
		whole(t, i, r)
		largest = max(largest, len(r.Body)/4)
		if n := len(last); n > 0 && (len(r.Messages) < n || !slices.EqualFunc(r.Messages[:n], last, equal)) {
			breaks++
		}
		last = r.Messages
	}
	sessions, compactions := c.stored(t)
	t.Logf("%d calls, %d compactions, %d times another beginning, at most %d tokens", len(c.model.Requests()), compactions,
		breaks, largest)
	if sessions != 1 { // lost and undo of the last compaction reach into those before
		t.Errorf("%d sessions of one thread", sessions)
	}
	// Codex rewrites its own context when it resumes.
	if compactions < least || breaks > compactions+2 || largest > 60_000 {
		t.Errorf("%d compactions, %d times another beginning, %d tokens", compactions, breaks, largest)
	}
}

// codexSessions are recorded sessions of Codex, with parallel calls.
var codexSessions = []string{"entireio-skills__codex-01-da544acf74-0.jsonl",
	"entireio-skills__codex-6c-fb81c05ca9-0.jsonl"}

// execCommand shows a file with Codex's own tool.
func execCommand(file string) agenttest.Call {
	return agenttest.Call{Name: "exec_command", Input: map[string]any{"cmd": "cat " + file}}
}

// writtenByCodex reports whether Codex itself wrote a message of the person's, as it does anew in each session.
func writtenByCodex(m abi.Message) bool {
	text := m.Text()
	return m.Role == abi.RoleUser && (strings.HasPrefix(text, "# AGENTS.md instructions") || strings.HasPrefix(text, "<"))
}

// TestCodexConversation replays recorded sessions of Codex through the real one, with an image that the person sent: it
// is compacted through us when its limit is reached. What they said and the image are there to the end, and what was
// compacted stays so when the session is gone on with, and in a fork.
func TestCodexConversation(t *testing.T) {
	c := newCodex(t)
	c.write(t, "config.toml", strings.ReplaceAll(codexSettings, "30000", "18000")) // the recordings are short ones
	c.install(t)
	picture := c.dot(t)
	var turns []agenttest.Turn
	for _, name := range codexSessions {
		dir := filepath.Join(c.Project, strings.TrimSuffix(name, ".jsonl"))
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		said := slices.DeleteFunc(recorded(t, name), writtenByCodex)
		turns = append(turns, agenttest.Replay(t, said, dir, execCommand)...)
	}
	parallel := 0
	for i, turn := range turns {
		for _, a := range turn.Answers {
			parallel = max(parallel, len(a.Calls))
		}
		c.model.Say(turn.Answers...)
		if i == 0 {
			c.exec(t, false, turn.Prompt, "-i", picture)
		} else {
			c.exec(t, true, turn.Prompt)
		}
	}
	if parallel < 2 {
		t.Error("no two calls at once")
	}
	c.conversed(t, 2)
	small := c.model.Last(t)
	stays := func(how string) {
		t.Helper()
		now := c.model.Last(t)
		n := strings.Count(string(now.Body), "data:image/png")
		if n != 1 || float64(now.Size()) > 1.05*float64(small.Size()) {
			t.Errorf("%s: %d images, %d bytes of %d", how, n, now.Size(), small.Size())
		}
		for _, turn := range turns {
			if !now.Says(turn.Prompt) {
				t.Errorf("%s: gone is %q", how, turn.Prompt)
			}
		}
	}
	stays("compacted")
	c.exec(t, true, "go on")
	stays("gone on with")
	c.Must(t, c.program, "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", "fork",
		c.threads(t)[0], "elsewhere")
	stays("forked")
}

// largest is how many bytes of messages the largest request has.
func (c *codex) largest() (n int) {
	for _, r := range c.model.Requests() {
		n = max(n, r.Size())
	}
	return n
}

// fill installs the plug, and works until the session was full once.
func (c *codex) fill(t *testing.T) {
	t.Helper()
	c.install(t)
	c.work(4)
	c.exec(t, false, "Run the tests.")
	c.work(4)
	c.exec(t, true, "Run them once more.")
}

// TestCodexResume: a session that is resumed after a compaction stays as small as that left it.
func TestCodexResume(t *testing.T) {
	c := newCodex(t)
	c.fill(t)
	small := c.model.Last(t)
	if largest := c.largest(); !small.Says("compaction_summary-") || small.Size() > largest*2/3 {
		t.Errorf("%d bytes of %d, a note: %v", small.Size(), largest, small.Says("compaction_summary-"))
	}
	c.exec(t, true, "and on")
	if n := c.model.Last(t).Size(); float64(n) > 1.05*float64(small.Size()) {
		t.Errorf("%d bytes after the resume, %d before", n, small.Size())
	}
}

// TestCodexAborts: an answer that breaks off is asked for again by Codex, and costs the session nothing.
func TestCodexAborts(t *testing.T) {
	c := newCodex(t)
	c.install(t)
	c.model.Say(agenttest.Answer{Text: "lost", Cut: true}, agenttest.Answer{Text: "there it is"})
	if out := c.exec(t, false, "hello"); !strings.Contains(out, "there it is") {
		t.Errorf("%s", out)
	}
	if n := len(c.model.Requests()); n != 2 {
		t.Errorf("%d requests", n)
	}
}

// TestCodexGoesOn: where the proxy is killed in the middle of an answer, and started again as a service manager does,
// Codex asks once more and goes on.
func TestCodexGoesOn(t *testing.T) {
	c := newCodex(t)
	c.fill(t)
	before := len(c.model.Requests())
	c.model.Say(agenttest.Answer{Hold: true}, agenttest.Answer{Text: "there it is"})
	killed := make(chan bool)
	go func() {
		defer close(killed)
		for end := time.Now().Add(time.Minute); len(c.model.Requests()) == before && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		c.kill()
		c.startAt(t, c.address)
	}()
	said := c.exec(t, true, "go on")
	<-killed
	requests := c.model.Requests()[before:]
	if !strings.Contains(said, "there it is") || len(requests) != 2 {
		t.Errorf("%d requests: %s", len(requests), said)
	}
	for i, r := range requests {
		whole(t, i, r)
		if !r.Says("compaction_summary-") || r.Size() != requests[0].Size() {
			t.Errorf("request %d: %d bytes of %d, a note: %v", i, r.Size(), requests[0].Size(), r.Says("compaction_summary-"))
		}
	}
}

// TestCodexWithoutAProxy: where nothing keeps the proxy answering, nothing is installed, and Codex works as it did.
func TestCodexWithoutAProxy(t *testing.T) {
	c := newCodex(t)
	c.write(t, "config.toml", fmt.Sprintf("openai_base_url = %q\n", c.upstream)+codexSettings)
	c.Env = append(c.Env, "DBUS_SESSION_BUS_ADDRESS=unix:path=/none") // no service manager of the user's
	before := agenttest.Tree(t, c.Dir)
	closed := "127.0.0.1:9" // the port of discard, which nobody serves
	out := c.Run(t, c.kagewasm, "install", "codex", "--listen", closed)
	if out.Err == nil || !strings.Contains(out.Stderr, "Codex would have no provider: nothing of Codex's was changed") ||
		!strings.Contains(out.Stderr, "--listen "+closed) {
		t.Errorf("%v %s", out.Err, out.Stderr)
	}
	if changed := agenttest.Changed(before, agenttest.Tree(t, c.Dir)); len(changed) > 0 {
		t.Errorf("it left %v", changed)
	}
	if said := c.exec(t, false, "How are you?"); !strings.Contains(said, "done") || len(c.model.Requests()) == 0 {
		t.Errorf("%s", said)
	}
}
