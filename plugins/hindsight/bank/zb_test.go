package bank_test
import ("testing";"fmt";"strings";"math/rand/v2"
"github.com/kagewasm/kagewasm/plugins/hindsight/bank")
func big(n int) (list []bank.Memory) {
	r := rand.New(rand.NewPCG(1, 2))
	words := make([]string, 8000)
	for i := range words {
		for range 2 + r.IntN(3) {
			words[i] += string("bcdfghklmnprstvw"[r.IntN(16)]) + string("aeiou"[r.IntN(5)])
		}
	}
	frequent := rand.NewZipf(r, 1.1, 8, uint64(len(words)-1))
	for i := range n {
		var text strings.Builder
		for range 4 + r.IntN(36) {
			text.WriteString(words[frequent.Uint64()] + " ")
		}
		list = append(list, bank.Memory{ID: fmt.Sprintf("m%06d", i), Author: []string{"Ann", "Bob"}[i%2], Session: fmt.Sprint(i/30), Time: "2023-05-08T13:56:00Z", Text: text.String()})
	}
	return list
}
func BenchmarkZRecall(b *testing.B) {
	list := big(10000)
	kv := newKV()
	bk, _ := bank.Open(kv, "b/")
	bk.Retain(list)
	var qs []string
	for i := range 100 { w := strings.Fields(list[i*97].Text); qs = append(qs, strings.Join(w[:min(8, len(w))], " ")) }
	i := 0
	for b.Loop() { i++
		bk, _ := bank.Open(kv, "b/")
		bk.Recall(bank.Query{Text: qs[i%100]})
	}
}
func BenchmarkZRetain(b *testing.B) {
	list := big(10000)
	for b.Loop() {
		bk, _ := bank.Open(newKV(), "b/")
		bk.Retain(list)
	}
}
