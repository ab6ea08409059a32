package record

import (
	"context"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/set"
	"github.com/kagewasm/kagewasm/store"
	"github.com/kagewasm/kagewasm/transcript"
)

// Write gives a list of a session as a file: the one that was read, byte for byte, where
// the list is what it said, else that file with what changed since. A session that came
// from no file is written in the neutral format.
func Write(ctx context.Context, s *store.Store, key string, list []abi.Message) ([]byte, error) {
	sources, err := s.Sources(ctx, key)
	if err != nil {
		return nil, err
	}
	var best *transcript.Session
	var ids []string
	for i, most := 0, 0; i < len(sources); i++ {
		src := &sources[i]
		file, err := transcript.ReadContext(ctx, src.Name, src.Data, transcript.Format(src.Format))
		if err != nil || len(src.IDs) != len(file.Live()) {
			continue // an earlier version read it otherwise
		}
		live := file.Live()
		if sameAs(live, src.IDs, list) {
			return src.Data, nil
		}
		in, n := set.Of(src.IDs...), 0
		for k := range list {
			if in[list[k].ID] {
				n++
			}
		}
		if n > most {
			best, ids, most = file, src.IDs, n
		}
	}
	if best == nil {
		return neutral(list)
	}
	live := best.Live()
	names := make(map[string]string, len(ids))
	taken := make(map[string]bool, len(ids))
	for i, id := range ids {
		names[id], taken[live[i].ID] = live[i].ID, true
	}
	out := slices.Clone(list)
	for i := range out {
		if name, ok := names[out[i].ID]; ok {
			out[i].ID = name
		} else if taken[out[i].ID] {
			out[i].ID = "new-" + out[i].ID
		}
	}
	if data, err := best.Encode(out, transcript.Same); err == nil {
		return data, nil
	}
	return neutral(list)
}

// sameAs reports whether a list is what a file said.
func sameAs(live []abi.Message, ids []string, list []abi.Message) bool {
	if len(ids) != len(list) {
		return false
	}
	for i := range list {
		m := list[i]
		if m.ID != ids[i] {
			return false
		}
		m.ID, m.Raw = live[i].ID, live[i].Raw
		if !m.Same(&live[i]) {
			return false
		}
	}
	return true
}

// neutral writes a list without a file around it.
func neutral(list []abi.Message) ([]byte, error) {
	return new(transcript.Session).Encode(list, transcript.Neutral)
}
