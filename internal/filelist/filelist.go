// Package filelist has the files of a compaction's record stand beside its summary, in the message's meta: the text of
// the summary may have had no room for all of them, and the next compaction goes on with them.
//
// Use [Meta] where a summary is made and [Of] where one is read.
package filelist

import (
	"encoding/json"

	"github.com/kagewasm/kagewasm/abi"
)

// key is the one of the meta under which they stand.
const key = "files"

// Meta is the meta of a summary whose record lists these files.
func Meta(files abi.Files) abi.Meta {
	data, err := json.Marshal(files)
	if err != nil {
		return nil
	}
	return abi.Meta{key: data}
}

// Of returns the files that stand beside a summary, none beside any other message.
func Of(m *abi.Message) (files abi.Files) {
	if raw := m.Meta[key]; m.Kind != abi.KindSummary || len(raw) == 0 || json.Unmarshal(raw, &files) != nil {
		return abi.Files{}
	}
	return files
}
