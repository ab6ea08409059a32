package models_test

import (
	"errors"
	"fmt"

	"github.com/kagewasm/kagewasm/models"
)

// A host that calls its model itself asks whether compacting would help.
func ExampleTooLong() {
	err := errors.New(`400 {"error":{"message":"prompt is too long: 208310 tokens > 200000 maximum"}}`)
	if x, ok := models.TooLong(err); ok {
		fmt.Printf("compact: %d tokens, and there is room for %d\n", x.Tokens, x.Limit)
	}

	err = errors.New(`429 {"error":{"message":"Limit 30000 tokens per min, Requested 61337"}}`)
	_, ok := models.TooLong(err)
	fmt.Println(ok)
	// Output:
	// compact: 208310 tokens, and there is room for 200000
	// false
}
