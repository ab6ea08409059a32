package rank_test

import (
	"fmt"

	"github.com/kagewasm/kagewasm/strategies/rank"
)

// The answer shares no word with the question; it stands beside what does.
func ExampleIndex_Search() {
	turns := []string{
		"Where did you park the bicycle?",
		"Behind the old mill.",
		"Shall we paint the kitchen?",
	}
	index := new(rank.Index)
	for _, turn := range turns {
		index.Add(rank.Text{Body: turn, Group: "monday"})
	}
	for _, hit := range index.Search("parking bicycles", rank.Options{Near: 0.5, Limit: 2}) {
		fmt.Println(turns[hit.Text])
	}
	// Output:
	// Where did you park the bicycle?
	// Behind the old mill.
}
