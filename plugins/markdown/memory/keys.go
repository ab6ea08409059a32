package memory

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
)

const (
	// maxRead is how many notes one call reads; see also abi.Limits.HostCalls.
	maxRead = 4000
	maxDays = 7
)

// readable are the keys of notes: the markdown in the folder, but for the index
// and logs. Of more than a call can read those that were noted last.
func readable(keys []string, seen string) []string {
	list := slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return !strings.HasSuffix(key, ".md") || key == indexKey || isDaily(key) || strings.HasPrefix(key, abi.RetainedPrefix)
	})
	if len(list) > maxRead {
		noted := make(map[string]int)
		for line := range strings.Lines(seen) {
			noted[strings.TrimSpace(line)] = len(noted)
		}
		slices.SortStableFunc(list, func(a, b string) int { return cmp.Compare(noted[nameOf(b)], noted[nameOf(a)]) })
		list = list[:maxRead]
		slices.Sort(list)
	}
	return list
}

// recentDays are the keys of the newest logs.
func recentDays(keys []string) []string {
	days := slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return !isDaily(key) || strings.HasPrefix(key, "journal/")
	})
	return days[max(0, len(days)-maxDays):]
}

// isDaily reports whether a key is that of a day's log: memory/2026-11-21.md,
// or with a part or a topic behind the day. Version 0.1.0 called the folder
// journal.
func isDaily(key string) bool {
	name, ok := strings.CutPrefix(key, notesPrefix)
	if !ok {
		return strings.HasPrefix(key, "journal/")
	}
	for i, c := range "0000-00-00" {
		if i >= len(name) || c == '-' && name[i] != '-' || c == '0' && (name[i] < '0' || name[i] > '9') {
			return strings.HasPrefix(name, "undated")
		}
	}
	return true
}

func nameOf(key string) string { return path.Base(strings.TrimSuffix(key, ".md")) }
