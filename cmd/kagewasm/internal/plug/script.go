package plug

import (
	"bytes"
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
)

// script tells a plug in JavaScript how kagewasm is called.
func (s Setup) script(comment string) []byte {
	var b bytes.Buffer
	b.WriteString("// " + comment + "\n")
	b.Write(constant("program", s.Kagewasm))
	b.Write(constant("state", list(s.State)))
	b.Write(constant("policy", list(s.Policy)))
	b.Write(constant("socket", s.Socket))
	b.Write(constant("version", s.Calls.Version))
	return b.Bytes()
}

// constant is a line of a script.
func constant(name string, value any) []byte {
	text, _ := json.Marshal(value) // strings can always be written
	return []byte("export const " + name + " = " + string(text) + "\n")
}

// list is never null.
func list(flags []string) []string { return append([]string{}, flags...) }

// below are files in a folder, in the order of their names. The folder kagewasm at or below it is ours.
func below(folder string, files map[string][]byte) (list []File) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f := File{Path: filepath.Join(folder, filepath.FromSlash(name)), Data: files[name]}
		if filepath.Base(folder) == "kagewasm" {
			f.folder = folder
		} else if strings.HasPrefix(name, "kagewasm/") {
			f.folder = filepath.Join(folder, "kagewasm")
		}
		list = append(list, f)
	}
	return list
}
