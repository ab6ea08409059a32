package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/session"
)

// BenchmarkN9Recall looks through 5,000 calls with their results, 8 MB.
func BenchmarkN9Recall(b *testing.B) {
	var list []session.StoredMessage
	for i := range 5000 {
		list = append(list, storedCall(fmt.Sprint(i), fmt.Sprintf(`{"command":"go test ./step%d"}`, i),
			strings.Repeat(fmt.Sprintf("ok github.com/x/y/step%d run.go:%d ErrConflict in the store\n", i, i%97), 27))...)
	}
	host := &toolHost{stored: list}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := (session.Tools{Recall: true}).Answer(host, "recall", `{"query":"ErrConflict step4711"}`); !ok ||
			err != nil {
			b.Fatal(ok, err)
		}
	}
}
