package integrations_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/features"
)

// atWork is a Claude Code in the middle of something.
type atWork struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser // nil where it was given its prompt as an argument
	lines  chan string    // what it says, as JSON
	stderr bytes.Buffer
}

// begin has Claude Code go on with a session and does not wait for it: a program that writes to it, as editors do, or
// one at a terminal.
func (c *claude) begin(t *testing.T, session, prompt string, written bool) *atWork {
	t.Helper()
	args := []string{"-p", "--resume", session, "--model", "claude-sonnet-4-5", "--output-format", "stream-json",
		"--verbose", "--include-partial-messages"}
	if written {
		args = append(args, "--input-format", "stream-json")
	} else {
		args = append(args, prompt)
	}
	w := &atWork{cmd: exec.CommandContext(t.Context(), c.program, args...), lines: make(chan string, 10_000)}
	w.cmd.Dir, w.cmd.Env, w.cmd.Stderr = c.Project, c.Env, &w.stderr
	stdout, err := w.cmd.StdoutPipe()
	if err == nil && written {
		w.stdin, err = w.cmd.StdinPipe()
	}
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(w.lines)
		r := bufio.NewReader(stdout)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			w.lines <- line
		}
	}()
	if written {
		w.write(t, map[string]any{"type": "user", "message": map[string]any{"role": "user", "content": prompt}})
	}
	return w
}

func (w *atWork) write(t *testing.T, message any) {
	t.Helper()
	if err := json.NewEncoder(w.stdin).Encode(message); err != nil {
		t.Fatal(err)
	}
}

// until waits for a line that has all of the texts.
func (w *atWork) until(t *testing.T, texts ...string) {
	t.Helper()
	timeout := time.After(time.Minute)
	for {
		select {
		case line, ok := <-w.lines:
			if !ok {
				t.Fatalf("it ended before it said %q: %s", texts, w.stderr.String())
			}
			said := true
			for _, text := range texts {
				said = said && strings.Contains(line, text)
			}
			if said {
				return
			}
		case <-timeout:
			t.Fatalf("it does not say %q: %s", texts, w.stderr.String())
		}
	}
}

// interrupt breaks off what Claude Code does, waits until it is over, and returns what it still says.
func (w *atWork) interrupt(t *testing.T) (said string) {
	t.Helper()
	if w.stdin == nil {
		if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err)
		}
	} else {
		w.write(t, map[string]any{"type": "control_request", "request_id": "stop",
			"request": map[string]any{"subtype": "interrupt"}})
		w.until(t, `"control_response"`, `"stop"`, `"success"`)
		w.stdin.Close()
	}
	for line := range w.lines { // until it ends
		said += line
	}
	_ = w.cmd.Wait() // with 1, as nothing was answered
	return said
}

// appears waits for a file and returns what is in it.
func appears(t *testing.T, path string) string {
	t.Helper()
	for range 6000 {
		if data, err := os.ReadFile(path); err == nil && len(data) > 0 {
			return string(data)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s does not appear", path)
	return ""
}

// stalls is a kagewasm that does nothing until it is killed; it writes its process id to a file.
func stalls(t *testing.T, dir string) (program, started string) {
	t.Helper()
	program, started = filepath.Join(dir, "stalls"), filepath.Join(dir, "started")
	script := "#!/bin/sh\necho $$ > " + started + "\nexec sleep 600\n"
	if err := os.WriteFile(program, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	return program, started
}

// stallingServer is the socket of a server that takes a request and does not answer: asked has a value then, and left
// when the client has hung up.
func stallingServer(t *testing.T) (socket string, asked, left chan struct{}) {
	t.Helper()
	asked, left = make(chan struct{}, 100), make(chan struct{}, 100)
	return listens(t, func(c net.Conn) {
		_, _ = c.Read(make([]byte, 1))
		asked <- struct{}{}
		_, _ = io.Copy(io.Discard, c)
		left <- struct{}{}
	}), asked, left
}

// within fails where nothing comes for a minute.
func within(t *testing.T, what string, came <-chan struct{}) {
	t.Helper()
	select {
	case <-came:
	case <-time.After(time.Minute):
		t.Fatalf("%s: not within a minute", what)
	}
}

// superseded are lines of messages that a request does not have.
func superseded(msgs []abi.Message, r agenttest.Request) (lines []string) {
	for i := range msgs {
		for line := range strings.Lines(msgs[i].Text()) {
			if line = strings.TrimSpace(line); len(line) > 40 && !r.Says(line) {
				lines = append(lines, line)
			}
		}
	}
	return lines
}

// interrupted is a session of Claude Code that was compacted once.
type interrupted struct {
	*claude
	session   string
	compacted agenttest.Request
	gone      []string // lines that the compaction took
	boundary  int
}

func newInterrupted(t *testing.T) *interrupted {
	t.Helper()
	c := newClaude(t)
	c.Env = slices.DeleteFunc(c.Env, func(v string) bool { // which closes sockets to mods
		return strings.HasPrefix(v, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
	})
	c.install(t)
	calls(t, c.path("hooks", "command.js"), c.kagewasm, "")
	msgs := recorded(t, longSession)[:60] // well below the window
	s := &interrupted{claude: c, session: c.seed(t, msgs), boundary: 1}
	c.ask(t, s.session, "/compact")
	c.ask(t, s.session, "go on")
	s.compacted = c.model.Last(t)
	if s.gone = superseded(msgs, s.compacted); len(s.gone) < 100 || !s.compacted.Says("compaction_summary-") {
		t.Fatalf("the compaction took %d lines", len(s.gone))
	}
	return s
}

// goesOn goes on with the session: it is as large as it was compacted, and nothing that went is back.
func (s *interrupted) goesOn(t *testing.T) agenttest.Request {
	t.Helper()
	if r := s.ask(t, s.session, "and on"); r.IsError || r.Text != "done" {
		t.Fatalf("it does not go on: %+v", r)
	}
	now := s.model.Last(t)
	if now.Size() > s.compacted.Size()*105/100 || !now.Says("compaction_summary-") {
		t.Errorf("%d bytes of messages, %d after the compaction", now.Size(), s.compacted.Size())
	}
	for _, line := range s.gone {
		if now.Says(line) {
			t.Errorf("what went is back: %q", line)
			break
		}
	}
	pairsWhole(t, now)
	noSummaryAsked(t, s.model)
	if got := s.boundaries(t, s.session); got != s.boundary || s.made(t, s.session) != s.boundary {
		t.Errorf("%d compactions in Claude Code, %d in the store, want %d", got, s.made(t, s.session), s.boundary)
	}
	if n := rollbacks(t, s.Home); n != 0 {
		t.Errorf("nobody went back, and the store has the session going back %d times", n)
	}
	return now
}

// TestClaudeCodeInterrupted: a person breaks Claude Code off in the middle of an answer, and of a compaction, by hand
// and by itself, through the command and through the server. The built-in is not called, kagewasm ends too, and
// --resume goes on from the last compaction that there was.
func TestClaudeCodeInterrupted(t *testing.T) {
	features.Proves(t, "N11")
	for how, written := range map[string]bool{"by its protocol": true, "by a signal": false} {
		t.Run(how, func(t *testing.T) {
			s := newInterrupted(t)
			s.model.Say(agenttest.Answer{Text: "I was going to", Hold: true})
			w := s.begin(t, s.session, "a question", written)
			w.until(t, "text_delta", "I was going to")
			w.interrupt(t)
			now := s.goesOn(t)
			if written && (!now.Says("a question") || !now.Says("I was going to")) { // by a signal it may have written neither
				t.Error("the question, or what was said, is gone")
			}

			command := s.path("hooks", "command.js")
			program, started := stalls(t, s.Dir)
			socket, asked, left := stallingServer(t)
			for _, by := range []struct{ what, prompt, socket string }{
				{"by hand", "/compact", ""}, {"by hand, over the socket", "/compact", socket},
				{"by itself", "a large question", ""}, {"by itself, over the socket", "a large question", socket},
			} {
				t.Run(by.what, func(t *testing.T) {
					if strings.HasPrefix(by.what, "by itself") { // the answer before it says that the window is full
						s.model.Tokens = func(agenttest.Request) int { return 95_000 }
						s.goesOn(t)
						s.model.Tokens = nil
						s.boundary++ // which the next --resume comes to
					}
					calls(t, command, program, by.socket)
					requests := len(s.model.Requests())
					w, said := s.begin(t, s.session, by.prompt, written), ""
					if by.socket == "" {
						pid := appears(t, started)
						said = w.interrupt(t)
						ended(t, pid)
						os.Remove(started)
					} else {
						within(t, "the server is asked", asked)
						said = w.interrupt(t)
						within(t, "the plug hangs up", left)
					}
					if written && !strings.Contains(said, "the compaction was interrupted") {
						t.Errorf("a person is not told so: %s", said)
					}
					if _, err := os.Stat(started); err == nil {
						t.Error("the command was asked, though a person had broken off")
					}
					if n := len(s.model.Requests()) - requests; n != 0 {
						t.Errorf("the model was asked %d times", n)
					}
					calls(t, command, s.kagewasm, "")
					s.goesOn(t)
				})
			}
		})
	}
}

// ended fails where a process goes on for a minute.
func ended(t *testing.T, pid string) {
	t.Helper()
	n, err := strconv.Atoi(strings.TrimSpace(pid))
	if err != nil {
		t.Fatal(err)
	}
	for range 600 {
		p, err := os.FindProcess(n)
		if err != nil || p.Signal(syscall.Signal(0)) != nil {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Errorf("process %d goes on", n)
}
