package strategies

import "cmp"

// ShortenFixed cuts down giants in what has to stay, where they leave no room
// for a note under the target: to half of the target first, and to less where
// that does not do. What fits is left alone: the model may not have seen it yet.
// It returns the view with them cut, and the ids of those.
func ShortenFixed(v *View, keep KeepConfig, n NoteConfig) (*View, []string) {
	var all []string
	for share := 2; share <= 8 && keep.MessageTokens >= 0 && !v.All; share *= 2 {
		if !NewBudget(v, n, DropSource).Tight {
			break
		}
		limit := cmp.Or(keep.MessageTokens, max(minCap, v.Target/share))
		next, ids := v.Edited(capped(v, limit, func(i int) bool { return !v.Candidate(v.Units[v.UnitOf[i]]) }))
		v, all = next, append(all, ids...)
	}
	return v, all
}
