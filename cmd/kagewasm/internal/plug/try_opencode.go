package plug

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// tryOpenCode has the real opencode compact a session of two turns by its own command. Its model is one on loopback
// that always says the same: where the plug fails, that stands for the session.
func tryOpenCode(ctx context.Context, a Agent, s Setup) error {
	t, err := newTrial(s)
	if err != nil {
		return err
	}
	defer t.close()
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	base, stop, err := parrot()
	if err != nil {
		return err
	}
	defer stop()
	settings := fmt.Appendf(nil, `{"autoupdate":false,"share":"disabled","model":"none/m","provider":{"none":`+
		`{"npm":"@ai-sdk/openai-compatible","name":"none","options":{"baseURL":%q,"apiKey":"none"},`+
		`"models":{"m":{"name":"m","limit":{"context":60000,"output":2000}}}}}}`, base)
	err = errors.Join(t.plug(a), t.put(".config/opencode/opencode.json", settings))
	if err != nil {
		return err
	}
	server, stopped, err := t.openCode(ctx)
	if err != nil {
		return err
	}
	defer stopped()
	var session struct {
		ID string `json:"id"`
	}
	if err := ask(ctx, http.MethodPost, server+"/session", map[string]any{}, &session); err != nil {
		return err
	}
	model := map[string]string{"providerID": "none", "modelID": "m"}
	for n := range 2 {
		said := strings.Repeat(fmt.Sprintf("This is turn %d of a session to try kagewasm with. ", n+1), 100)
		if err := ask(ctx, http.MethodPost, server+"/session/"+session.ID+"/message",
			map[string]any{"model": model, "parts": []any{map[string]string{"type": "text", "text": said}}}, nil); err != nil {
			return err
		}
	}
	if err := ask(ctx, http.MethodPost, server+"/session/"+session.ID+"/summarize", model, nil); err != nil {
		return err
	}
	var after json.RawMessage
	err = ask(ctx, http.MethodGet, server+"/session/"+session.ID+"/message", nil, &after)
	if err == nil && !bytes.Contains(after, []byte("<compaction_summary-")) {
		err = errors.New("it did not compact through kagewasm")
	}
	return err
}

// openCode starts opencode's server in the folder, and returns where it listens.
func (t *trial) openCode(ctx context.Context) (url string, stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "opencode", "serve")
	cmd.Dir, cmd.Stderr = t.dir, &stderr
	cmd.Env = append(os.Environ(), "HOME="+t.dir, "OPENCODE_CONFIG_DIR=", "OPENCODE_CONFIG=")
	for _, name := range []string{"DATA", "STATE", "CACHE"} {
		cmd.Env = append(cmd.Env, "XDG_"+name+"_HOME="+filepath.Join(t.dir, strings.ToLower(name)))
	}
	cmd.Env = append(cmd.Env, "XDG_CONFIG_HOME="+filepath.Join(t.dir, ".config"))
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		cancel()
		return "", nil, err
	}
	stop = func() { cancel(); _ = cmd.Wait() }
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if _, at, ok := strings.Cut(lines.Text(), "listening on "); ok {
			go func() { _, _ = io.Copy(io.Discard, out) }()
			return at, stop, nil
		}
	}
	stop()
	return "", nil, failed(errors.New("its server did not start"), stderr.String())
}

// ask asks a server that speaks JSON.
func ask(ctx context.Context, method, url string, body, into any) error {
	data, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader(data))
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if data, err = io.ReadAll(io.LimitReader(answer.Body, 16<<20)); err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s", answer.Status, first(string(data)))
	}
	if into == nil {
		return nil
	}
	return json.Unmarshal(data, into)
}

// parrot serves a model by the chat completions API that always says the same, and returns its base URL.
func parrot() (base string, stop func(), err error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		const chunk = `data: {"id":"p","object":"chat.completion.chunk","created":1,"model":"m","choices":[%s]%s}` + "\n\n"
		fmt.Fprintf(w, chunk, `{"index":0,"delta":{"role":"assistant","content":"Understood."},"finish_reason":null}`, "")
		fmt.Fprintf(w, chunk, `{"index":0,"delta":{},"finish_reason":"stop"}`, "")
		fmt.Fprintf(w, chunk, "", `,"usage":{"prompt_tokens":900,"completion_tokens":2,"total_tokens":902}`)
		_, _ = io.WriteString(w, "data: [DONE]\n\n")
	})}
	go func() { _ = server.Serve(l) }()
	return "http://" + l.Addr().String() + "/v1", func() { _ = server.Close() }, nil
}
