package plug

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/BurntSushi/toml"
)

// codexHook is our hook in Codex's settings, and the trust that a person gave it there: Codex runs no other one. It
// stands in config.toml, but where there is a hooks.json, as Codex warns of hooks in two files, or where the hooks of
// config.toml are one value.
type codexHook struct {
	hook
	config string // the path of config.toml
	json   string // that of hooks.json, where it stands there
	// trust is the table of config.toml in which it is trusted, for the place that the key says; empty for none.
	trust []byte
	place int
	// known says that the trust is for the hook as it is to be.
	known bool
}

// codexHooks are the hooks of a file of Codex's.
type codexHooks struct {
	Features struct {
		Hooks *bool `toml:"hooks"`
	} `toml:"features"`
	Hooks struct {
		SessionStart []hookGroup `json:"SessionStart" toml:"SessionStart"`
	} `json:"hooks" toml:"hooks"`
}

// place is which of the file's hooks is ours, and how many others there are where none is. now is the command that we
// would write.
func (c *codexHooks) place(now string) (at int, command string) {
	for i, group := range c.Hooks.SessionStart {
		if command, ok := group.ours("codex", now); ok {
			return i, command
		}
	}
	return len(c.Hooks.SessionStart), ""
}

// findCodexHook says where our hook is to stand, and finds what is there of it. What cannot be read is refused when it
// is to be changed.
func findCodexHook(s Setup, config string, was []byte) (*codexHook, error) {
	h := &codexHook{config: config}
	h.hook = hook{event: "SessionStart", matcher: "compact|resume", command: s.hook("codex")}
	path, file := filepath.Join(filepath.Dir(config), "hooks.json"), codexHooks{}
	other, err := read(path)
	if err != nil {
		return nil, err
	}
	fits := parseTOML(slices.Concat(was, []byte("\n"+strings.Join(h.lines(), "\n"))), &file) == nil
	fits = fits && !inlineHooks().Match(keysOf(was)) // which Codex's reader lets nobody add to, and ours does
	file = codexHooks{}
	if whole := parseTOML(was, &file) == nil; len(bytes.TrimSpace(other)) > 0 || whole && !fits {
		h.json, file = path, codexHooks{}
		_ = json.Unmarshal(other, &file)
	}
	at, command := file.place(h.command)
	h.place, h.known = at, command == h.command
	_, h.trust = cutTrust(was, h.keys())
	return h, nil
}

// keys are the names under which Codex keeps the trust: the file, with links and without, the event and the place.
func (h *codexHook) keys() (keys []string) {
	path := h.config
	if h.json != "" {
		path = h.json
	}
	keys = []string{fmt.Sprintf("%s:session_start:%d:0", path, h.place)}
	if real, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil && real != filepath.Dir(path) {
		keys = append(keys, fmt.Sprintf("%s:session_start:%d:0", filepath.Join(real, filepath.Base(path)), h.place))
	}
	return keys
}

// lines are the hook in config.toml.
func (h *codexHook) lines() []string {
	if h.json != "" {
		return nil
	}
	return hookLines(h.hook)
}

func hookLines(h hook) []string {
	return []string{
		`[[hooks.` + h.event + `]]`,
		`matcher = ` + tomlString(h.matcher),
		`[[hooks.` + h.event + `.hooks]]`,
		`type = "command"`,
		`command = ` + tomlString(h.command),
		`timeout = ` + strconv.Itoa(int(hookTime.Seconds())),
	}
}

// tomlString is a text as TOML has it in quotes, where it is escaped as in JSON.
func tomlString(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// asks is what a person has to do before Codex runs the hook; empty where they did.
func (h *codexHook) asks() string {
	if h.known && len(h.trust) > 0 {
		return ""
	}
	return "where Codex compacts by itself a hook adds exact names, rules and failures, once you trust it: start codex, " +
		"and choose \"Trust all and continue\" where it says that hooks need review"
}

// trusted adds the trust that there was, where the hook stands in its place still.
func (h *codexHook) trusted(config []byte) []byte {
	var file codexHooks
	if h.json == "" {
		_ = parseTOML(config, &file)
		if at, _ := file.place(h.command); at != h.place {
			return config
		}
	}
	return append(config, h.trust...)
}

// untrusted takes the trust out, and the header that Codex writes before the first one.
func (h *codexHook) untrusted(now, before []byte) []byte {
	rest, trust := cutTrust(now, h.keys())
	const header = "[hooks.state]"
	if len(trust) == 0 || bytes.Contains(before, []byte(header)) || bytes.Contains(rest, []byte("[hooks.state.")) {
		return rest
	}
	var b bytes.Buffer
	for _, t := range tablesOf(rest) {
		after := behind(t)
		if strings.TrimSpace(string(t[:len(t)-len(after)])) == header {
			t = after
		}
		b.Write(t)
	}
	return b.Bytes()
}

// tablesOf cuts a file of TOML before each header of a table, with the empty lines before that.
func tablesOf(file []byte) (tables [][]byte) {
	start, blank := 0, 0
	for at := 0; at < len(file); {
		end := nextLine(file, at)
		switch text := bytes.TrimSpace(file[at:end]); {
		case len(text) == 0:
		case text[0] == '[' && blank > start:
			tables = append(tables, file[start:blank])
			start, blank = blank, end
		default:
			blank = end
		}
		at = end
	}
	return append(tables, file[start:])
}

// cutTrust cuts the tables out in which the hook of a key is trusted.
func cutTrust(file []byte, keys []string) (rest, trust []byte) {
	for _, t := range tablesOf(file) {
		end := len(t) - len(behind(t))
		if isTrust(t[:end], keys) {
			trust = append(trust, t[:end]...)
			t = t[end:]
		}
		rest = append(rest, t...)
	}
	return rest, trust
}

// isTrust reports whether a table is what Codex keeps of the hook of a key.
func isTrust(table []byte, keys []string) bool {
	if !bytes.HasPrefix(bytes.TrimSpace(table), []byte("[hooks.state.")) {
		return false
	}
	var file struct {
		Hooks struct {
			State map[string]any `toml:"state"`
		} `toml:"hooks"`
	}
	return toml.Unmarshal(table, &file) == nil &&
		slices.ContainsFunc(keys, func(key string) bool { return file.Hooks.State[key] != nil })
}

// behind is what stands behind the last key of a table: comments and empty lines, which may be of the next one.
func behind(table []byte) []byte {
	end := 0
	for at := 0; at < len(table); {
		next := nextLine(table, at)
		if text := bytes.TrimSpace(table[at:next]); len(text) > 0 && text[0] != '#' {
			end = next
		}
		at = next
	}
	return table[end:]
}

// nextLine is where the line ends that begins at a place.
func nextLine(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(text)
}
