package plug

import (
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
)

// node is an element of a property list.
type node struct {
	XMLName  xml.Name
	Text     string `xml:",chardata"`
	Children []node `xml:",any"`
}

// value is what an element stands for, by the rules of property lists: in a dict keys and values take turns.
func (n node) value() (any, error) {
	switch n.XMLName.Local {
	case "string":
		return n.Text, nil
	case "true":
		return true, nil
	case "array":
		list := []any{}
		for _, c := range n.Children {
			v, err := c.value()
			if err != nil {
				return nil, err
			}
			list = append(list, v)
		}
		return list, nil
	case "dict":
		all := make(map[string]any)
		for i := 0; i < len(n.Children); i += 2 {
			if n.Children[i].XMLName.Local != "key" || i+1 == len(n.Children) {
				return nil, fmt.Errorf("%s stands where a key belongs", n.Children[i].XMLName.Local)
			}
			v, err := n.Children[i+1].value()
			if err != nil {
				return nil, err
			}
			all[n.Children[i].Text] = v
		}
		return all, nil
	}
	return nil, fmt.Errorf("what is %s?", n.XMLName.Local)
}

// TestPlist: launchd is given a property list with the command as it is, and the state that the user has set.
func TestPlist(t *testing.T) {
	command := []string{"/Users/a & b/<kage> \"wasm\"", "proxy", "--config", "/Users/a & b/codex.yaml"}
	for _, state := range []string{"", "/Users/a & b/state"} {
		var doc struct {
			Dict node `xml:"dict"`
		}
		text := plist("kagewasm-codex", command, state)
		if err := xml.Unmarshal(text, &doc); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		got, err := doc.Dict.value()
		want := map[string]any{"Label": "kagewasm-codex", "ProgramArguments": command, "RunAtLoad": true, "KeepAlive": true}
		if state != "" {
			want["EnvironmentVariables"] = map[string]any{"XDG_STATE_HOME": state}
		}
		if err != nil || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%q, %v\nwant %q", got, err, want)
		}
	}
}

// TestUnit: what systemd reads of a word is that word, whatever is in it.
func TestUnit(t *testing.T) {
	for word, want := range map[string]string{
		`/opt/kage wasm`: `"/opt/kage wasm"`, `a%h`: `"a%%h"`, `$HOME`: `"$$HOME"`, `a"b\c`: `"a\"b\\c"`,
	} {
		if got := unitWord(word); got != want {
			t.Errorf("%s is written %s, want %s", word, got, want)
		}
	}
	if got := unitValue("X=$1 %"); strings.Contains(got, "$$") || got != `"X=$1 %%"` {
		t.Errorf("a value is written %s", got)
	}
}
