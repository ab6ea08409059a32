package bank_test

import (
	"fmt"

	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

// In a plugin the KV is c.KV() of the call.
func Example() {
	b, err := bank.Open(newKV(), "banks/main/")
	if err != nil {
		fmt.Println(err)
		return
	}
	added, err := b.Retain([]bank.Memory{
		{ID: "m1", Session: "s1", Author: "user", Time: "2026-03-14T09:00:00Z",
			Text: "Which port does the staging server use?"},
		{ID: "m2", Session: "s1", Author: "assistant", Time: "2026-03-14T09:01:00Z",
			Text: "It is 8443, I changed it yesterday."},
		{ID: "m3", Session: "s2", Author: "user", Time: "2026-03-20T10:00:00Z", Text: "Let us paint the kitchen."},
	})
	fmt.Println(added, err)
	hits, err := b.Recall(bank.Query{Text: "port of staging", Limit: 2})
	for _, h := range hits {
		fmt.Println(h.ID, h.Author, h.Text)
	}
	fmt.Println(err)
	// Output:
	// 3 <nil>
	// m1 user Which port does the staging server use?
	// m2 assistant It is 8443, I changed it yesterday.
	// <nil>
}
