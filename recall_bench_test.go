package kagewasm_test

import (
	"fmt"
	"strings"
	"testing"

	kagewasm "github.com/kagewasm/kagewasm"
)

// BenchmarkN9Recall looks through 5,000 calls with their results, 8 MB.
func BenchmarkN9Recall(b *testing.B) {
	var list []kagewasm.StoredMessage
	for i := range 5000 {
		list = append(list, storedCall(fmt.Sprint(i), fmt.Sprintf(`{"command":"go test ./step%d"}`, i),
			strings.Repeat(fmt.Sprintf("ok github.com/x/y/step%d run.go:%d ErrConflict in the store\n", i, i%97), 27))...)
	}
	host := &toolHost{stored: list}
	b.ReportAllocs()
	for b.Loop() {
		if _, ok, err := kagewasm.AnswerTool(host, "recall", `{"query":"ErrConflict step4711"}`, kagewasm.AgentToolOptions{Recall: true}); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}
