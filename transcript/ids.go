package transcript

import (
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// assignIDs gives a positional id to every message that has none and to every
// one whose id an earlier message has.
func assignIDs(msgs []abi.Message) {
	taken := make(map[string]bool, len(msgs))
	var need []int
	for i := range msgs {
		if id := msgs[i].ID; id == "" || taken[id] {
			need = append(need, i)
		} else {
			taken[id] = true
		}
	}
	for _, i := range need {
		id := fmt.Sprintf("m%05d", i)
		for n := 1; taken[id]; n++ {
			id = fmt.Sprintf("m%05d.%d", i, n)
		}
		taken[id] = true
		msgs[i].ID = id
	}
}

// ordinalID is the id of the messages of one record: the record's own for the
// first, and with #2, #3, ... for the others.
func ordinalID(id string, nth int) string {
	if id == "" || nth == 0 {
		return id
	}
	return fmt.Sprintf("%s#%d", id, nth+1)
}
