package plug

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/transcript"
)

// trial is a folder in which a real program compacts the sample: the plug as it is installed, and nothing of the
// user's. What it records stays in there.
type trial struct {
	dir   string
	setup Setup
}

func newTrial(s Setup) (*trial, error) {
	dir, err := os.MkdirTemp("", "kagewasm-doctor")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	s.Home, s.Folder, s.Socket = dir, filepath.Join(dir, "plans"), ""
	s.State = []string{"--state", filepath.Join(dir, "state")}
	s.Getenv = func(string) string { return "" }
	return &trial{dir: dir, setup: s}, nil
}

func (t *trial) close() { os.RemoveAll(t.dir) }

// put writes a file below the folder.
func (t *trial) put(name string, data []byte) error {
	path := filepath.Join(t.dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return atomicfile.WriteFile(path, data, 0o600)
}

// plug writes the files of an agent's plug, as they would be with this folder for a home.
func (t *trial) plug(a Agent) error {
	p, err := a.Plan(t.setup)
	for _, f := range p.Files {
		if name, rerr := filepath.Rel(t.dir, f.Path); err == nil {
			err = errors.Join(rerr, t.put(name, f.Data))
		}
	}
	return err
}

// sample writes the sample in a format, and returns the id that it has in it.
func (t *trial) sample(format transcript.Format, name func(id string) string) (id string, err error) {
	data, err := Sample(format)
	if err != nil {
		return "", err
	}
	id = string(regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f-]{22}`).Find(data))
	return id, t.put(name(id), data)
}

// has reports whether a file below a folder has a text.
func (t *trial) has(folder, text string) (found bool) {
	_ = filepath.WalkDir(filepath.Join(t.dir, folder), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && !found {
			data, _ := os.ReadFile(path)
			found = bytes.Contains(data, []byte(text))
		}
		return nil
	})
	return found
}

// converse starts a program that is spoken to in lines of JSON, says one thing after the other, and reads after each
// until what says that it is done.
func (t *trial) converse(ctx context.Context, env []string, says []exchange, program string, args ...string) error {
	ctx, cancel := context.WithTimeout(ctx, trying)
	defer cancel()
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Stderr = t.dir, &stderr
	cmd.Env = append(os.Environ(), append([]string{"HOME=" + t.dir}, env...)...)
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		return err
	}
	defer func() { in.Close(); cancel(); _ = cmd.Wait() }()
	lines := bufio.NewScanner(out)
	lines.Buffer(nil, 64<<20)
	for _, x := range says {
		data, err := json.Marshal(x.say)
		if err == nil {
			_, err = in.Write(append(data, '\n'))
		}
		for done := x.until == nil; err == nil && !done; {
			if !lines.Scan() {
				err = errors.Join(errors.New("it ended"), lines.Err())
				break
			}
			done, err = x.until(lines.Bytes())
		}
		if err != nil {
			return failed(err, stderr.String())
		}
	}
	return nil
}

// exchange is what is said to a program, and what tells that it has done that; nil for nothing.
type exchange struct {
	say   any
	until func(line []byte) (done bool, err error)
}

// tryPi has the real pi compact the sample, through its remote control. It needs no model for that, and gets none.
func tryPi(ctx context.Context, a Agent, s Setup) error {
	t, err := newTrial(s)
	if err != nil {
		return err
	}
	defer t.close()
	err = t.plug(a)
	if err == nil {
		err = t.put(".pi/agent/models.json", []byte(`{"providers":{"none":{"baseUrl":"http://127.0.0.1:9","api":`+
			`"openai-completions","apiKey":"none","models":[{"id":"m","name":"m","contextWindow":60000,"maxTokens":2000,`+
			`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`))
	}
	if err == nil {
		_, err = t.sample("pi", func(string) string { return "session.jsonl" })
	}
	if err != nil {
		return err
	}
	answered := func(line []byte) (bool, error) {
		var m struct {
			ID, Error string
			Success   bool
		}
		if json.Unmarshal(line, &m) != nil || m.ID != "doctor" {
			return false, nil
		}
		if !m.Success {
			return false, errors.New(m.Error)
		}
		return true, nil
	}
	err = t.converse(ctx, []string{"PI_CODING_AGENT_DIR=" + filepath.Join(t.dir, ".pi", "agent")},
		[]exchange{{map[string]string{"id": "doctor", "type": "compact"}, answered}},
		"pi", "--mode", "rpc", "--offline", "--provider", "none", "--model", "m", "--session",
		filepath.Join(t.dir, "session.jsonl"))
	if err == nil && !t.has("session.jsonl", `"fromHook":true`) {
		err = errors.New("it did not compact through kagewasm")
	}
	return err
}
