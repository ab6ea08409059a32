package firewall

import "github.com/kagewasm/kagewasm/abi"

// DropThinking returns the list after without what the model thought in answers that follow the first
// place where it differs from the list before, and the ids of those answers. Neither list is changed.
// Those that pinned marks in the list before stay to the byte; nil marks none. Some providers tie what a
// model thought to all that stood before it, and refuse it elsewhere.
func DropThinking(before []abi.Message, pinned []bool, after []abi.Message) (bare []abi.Message, ids []string) {
	at := 0
	for at < min(len(before), len(after)) && before[at].Same(&after[at]) {
		at++
	}
	stays := make(map[string]bool)
	for i, marked := range pinned {
		if marked {
			stays[before[i].ID] = true
		}
	}
	bare = after
	for i := at; i < len(after); i++ {
		m, had := after[i].WithoutThinking()
		if !had || stays[m.ID] {
			continue
		}
		if len(ids) == 0 {
			bare = append([]abi.Message(nil), after...)
		}
		bare[i], ids = m, append(ids, m.ID)
	}
	return bare, ids
}
