package bank_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/plugins/hindsight/bank"
)

const prefix = "banks/main/"

func open(t testing.TB, kv bank.KV) *bank.Bank {
	t.Helper()
	b, err := bank.Open(kv, prefix)
	must(t, err)
	return b
}

func retain(t testing.TB, kv bank.KV, list ...bank.Memory) (added int) {
	t.Helper()
	added, err := open(t, kv).Retain(list)
	must(t, err)
	return added
}

func recall(t testing.TB, kv bank.KV, q bank.Query) []bank.Hit {
	t.Helper()
	hits, err := open(t, kv).Recall(q)
	must(t, err)
	return hits
}

func ids(hits []bank.Hit) string {
	var list []string
	for _, h := range hits {
		list = append(list, h.ID)
	}
	return strings.Join(list, " ")
}

// said are memories of made-up words, as frequent as words are, in sessions of
// thirty.
func said(n int) (list []bank.Memory) {
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
		list = append(list, bank.Memory{
			ID: fmt.Sprintf("m%06d", i), Session: fmt.Sprint("s", i/30), Author: []string{"Ann", "Bob"}[i%2],
			Time: fmt.Sprintf("2023-05-%02dT13:%02d:00Z", 1+i/30%28, i%30), Text: text.String(),
		})
	}
	return list
}

// questions are the beginnings of some texts.
func questions(list []bank.Memory, n int) (queries []string) {
	for i := range n {
		words := strings.Fields(list[i*len(list)/n].Text)
		queries = append(queries, strings.Join(words[:min(8, len(words))], " "))
	}
	return queries
}

func bytesOf(list []bank.Memory) (n int) {
	for _, m := range list {
		n += len(m.Text)
	}
	return n
}

func TestBankRecall(t *testing.T) {
	features.Proves(t, "K28")
	kv := newKV()
	if hits := recall(t, kv, bank.Query{Text: "anything"}); hits != nil {
		t.Errorf("an empty bank recalls %v", hits)
	}
	list := []bank.Memory{
		{ID: "1", Session: "a", Author: "user", Time: "2023-05-08T13:56:00Z", Text: "Where did I park the bicycle?"},
		{ID: "2", Session: "a", Author: "assistant", Time: "2023-05-08T13:57:00Z", Text: "Behind the old mill.",
			Type: "experience"},
		{ID: "3", Session: "b", Author: "user", Time: "2023-06-01", Text: "I painted the mill yellow.", Type: "world",
			Tags: []string{"art", "home"}},
		{ID: "4", Session: "b", Author: "user", Time: "2023-06-01", Text: "And the fence, yesterday."},
	}
	if n := retain(t, kv, list...); n != 4 {
		t.Errorf("%d of 4 added", n)
	}
	for _, tc := range []struct {
		why  string
		q    bank.Query
		want string
	}{
		{"an answer stands beside its question", bank.Query{Text: "parking bicycles", Limit: 2}, "1 2"},
		{"a date is searched, in words too", bank.Query{Text: "1 June 2023", Limit: 2}, "3 4"},
		{"however it is written", bank.Query{Text: "What was on May 8th?", Limit: 2}, "2 1"},
		{"a day is told by the time of the question",
			bank.Query{Text: "What did I do three days ago?", Time: "2023-06-04T08:00:00Z", Limit: 2}, "3 4"},
		{"and by that of what was said", bank.Query{Text: "the 31st of May 2023", Limit: 1}, "4"},
		{"of some types", bank.Query{Text: "mill", Types: []string{"world", "observation"}}, "3"},
		{"with one of some tags", bank.Query{Text: "mill", Tags: []string{"home", "food"}}, "3"},
		{"not what is skipped", bank.Query{Text: "mill", Limit: 1, Skip: func(m *bank.Memory) bool {
			return m.ID == "2"
		}}, "3"},
		{"a long text is cut to what tells of it", bank.Query{Text: "bicycle", TextBytes: 12, Limit: 1}, "1"},
		{"nothing of it", bank.Query{Text: "xylophone"}, ""},
		{"no query", bank.Query{}, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := ids(recall(t, kv, tc.q)); got != tc.want {
				t.Errorf("%q, not %q", got, tc.want)
			}
		})
	}
	hits := recall(t, kv, bank.Query{Text: "painted", Limit: 1})
	if len(hits) != 1 || !reflect.DeepEqual(hits[0].Memory, list[2]) {
		t.Errorf("%+v comes back as %+v", list[2], hits)
	}
	again := slices.Clone(list)
	again[0].ID, again[1].Session = "9", "c"
	if n := retain(t, kv, append(again, again[1])...); n != 1 {
		t.Errorf("%d added of what is known but for one in another session, said twice", n)
	}
}

// TestBankBatches: memories that came in one call, in a hundred and in two
// thousand are recalled the same, within the limits and with bounded writing.
func TestBankBatches(t *testing.T) {
	features.Proves(t, "K28")
	list := said(soak.Count(4_000, 10_000, 10_000))
	queries := questions(list, 20)
	texts := float64(bytesOf(list))
	var want [][]bank.Hit
	tests := []struct {
		size  int
		wrote float64 // at most, times the texts
	}{{len(list), 2}, {100, 4}, {5, 18}} // of a few the root is written, and its copy
	for _, tc := range soak.Sample(tests, 2, len(tests)) {
		t.Run(fmt.Sprintf("%d texts at a time", tc.size), func(t *testing.T) {
			kv := newKV()
			sets := 0
			for part := range slices.Chunk(list, tc.size) {
				before := kv.sets
				if n := retain(t, kv, part...); n != len(part) {
					t.Fatalf("%d of %d added", n, len(part))
				}
				sets = max(sets, kv.sets-before)
			}
			wrote, size := float64(kv.wrote)/texts, float64(kv.size())/texts
			t.Logf("calls of %d: %.1f times the texts written in %d sets, at most %d a call; %.2f times kept "+
				"in %d keys", tc.size, wrote, kv.sets, sets, size, len(kv.m))
			if wrote > tc.wrote || size >= 2 {
				t.Errorf("calls of %d: %.1f times the texts written and %.2f times kept", tc.size, wrote, size)
			}
			kv.gets, kv.read = 0, 0
			var got [][]bank.Hit
			for _, q := range queries {
				got = append(got, recall(t, kv, bank.Query{Text: q}))
			}
			t.Logf("a recall reads %d KB in %d gets", kv.read/len(queries)/1000, kv.gets/len(queries))
			if want == nil {
				want = got
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("calls of %d recall otherwise", tc.size)
			}
			if n := retain(t, kv, list[:200]...); n != 0 {
				t.Errorf("%d that are known were added", n)
			}
		})
	}
	for i, hits := range want {
		if len(hits) == 0 {
			t.Errorf("nothing is found for %q", queries[i])
		}
	}
}

// TestBankBreaksOff: whichever write fails, what was there stays, and the
// same memories can be retained later.
func TestBankBreaksOff(t *testing.T) {
	features.Proves(t, "K28")
	list := said(700)
	base := newKV()
	for part := range slices.Chunk(list[:600], 50) {
		retain(t, base, part...)
	}
	query := bank.Query{Text: questions(list, 1)[0], Limit: 20}
	before := recall(t, base, query)
	whole := base.clone()
	retain(t, whole, list[600:]...)
	after := recall(t, whole, query)
	failures := 0
	for at := 1; ; at++ {
		kv := base.clone()
		kv.failAt = at
		_, err := open(t, kv).Retain(list[600:])
		if err == nil {
			break
		}
		if !errors.Is(err, errFull) {
			t.Fatal(err)
		}
		failures++
		kv.failAt = 0
		if got := recall(t, kv, query); !reflect.DeepEqual(got, before) {
			t.Fatalf("after write %d failed the bank recalls otherwise", at)
		}
		if n := retain(t, kv, list[600:]...); n != 100 {
			t.Fatalf("after write %d failed %d are added", at, n)
		}
		if got := recall(t, kv, query); !reflect.DeepEqual(got, after) {
			t.Fatalf("after write %d failed and a second try the bank recalls otherwise", at)
		}
	}
	if failures < 3 {
		t.Errorf("only %d writes", failures)
	}
}

// TestBankRootLost: a bank whose root is gone, empty or damaged is no new bank: the
// error names the value and what to do, nothing is deleted by retaining, and with
// the copy in its place all is there.
func TestBankRootLost(t *testing.T) {
	features.Proves(t, "K28")
	for _, n := range []int{3, 700} {
		list := said(n)
		base := newKV()
		for part := range slices.Chunk(list, 50) {
			retain(t, base, part...)
		}
		stored := base.m[prefix+"root"]
		query := bank.Query{Text: questions(list, 1)[0], Limit: 20}
		before := recall(t, base, query)
		damaged := map[string]string{"gone": "", "empty": "", "cut": stored[:len(stored)/2], "an older head": "bank1 " +
			stored[40:],
			"a letter":     stored[:len(stored)-2] + "x" + stored[len(stored)-1:],
			"a generation": strings.Replace(stored, "sealed1 ", "sealed1 1", 1)}
		for name, value := range damaged {
			t.Run(fmt.Sprint(name, " of ", n), func(t *testing.T) {
				kv := base.clone()
				kv.m[prefix+"root"] = value
				if name == "gone" {
					delete(kv.m, prefix+"root")
				}
				_, err := bank.Open(kv, prefix)
				var e *abi.Error
				if !errors.As(err, &e) || e.Code != abi.CodeState || !strings.Contains(e.Message, prefix+"root") ||
					!strings.Contains(e.Hint, "memory repair") {
					t.Fatalf("%v", err)
				}
				kv.m[prefix+"root"] = kv.m[prefix+"root.copy"]
				if got := recall(t, kv, query); !reflect.DeepEqual(got, before) {
					t.Errorf("of the copy it recalls otherwise")
				}
			})
		}
	}
}

// TestBankSalvage: a bank that has lost its root and the copy is rebuilt from what is
// left. Gone are the newest memories, which stood in the root alone, and those of
// values that are damaged as well.
func TestBankSalvage(t *testing.T) {
	list := said(900)
	base := newKV()
	base.failAt = 12
	_, _ = open(t, base).Retain(said(1200)[900:]) // a call that breaks off leaves values behind
	base.failAt = 0
	for part := range slices.Chunk(list, 40) {
		retain(t, base, part...)
	}
	valueOf := func(kv *memKV, kind string, i int) string {
		keys, _ := kv.List(prefix + kind)
		return slices.DeleteFunc(keys, func(k string) bool { return strings.Contains(k, "root") })[i]
	}
	for _, tc := range []struct {
		name   string
		damage func(kv *memKV)
		gone   int // bytes, at most, beside those of the root
	}{
		{"a root that is missing", func(kv *memKV) { delete(kv.m, prefix+"root") }, 0},
		{"a root that is empty", func(kv *memKV) { kv.m[prefix+"root"] = "" }, 0},
		{"hashes are missing as well", func(kv *memKV) { delete(kv.m, valueOf(kv, "k", 0)) }, 0},
		{"lists are damaged as well", func(kv *memKV) { kv.m[valueOf(kv, "l", 3)] += "0" }, 0},
		{"texts are damaged as well", func(kv *memKV) { kv.m[valueOf(kv, "w", 1)] += "0" }, 20 << 10},
		{"no value can be read of some kinds", func(kv *memKV) {
			for k := range kv.m {
				if strings.HasPrefix(k, prefix+"k") || strings.HasPrefix(k, prefix+"l") {
					delete(kv.m, k)
				}
			}
		}, 0},
	} {
		t.Run(tc.name, func(t *testing.T) {
			kv := base.clone()
			kv.m[prefix+"root"], kv.m[prefix+"root.copy"] = "sealed1 x", ""
			tc.damage(kv)
			left, err := bank.Salvage(kv, prefix)
			must(t, err)
			must(t, left.Store())
			must(t, bank.Check(kv, prefix))
			if n := open(t, kv).Len(); n != left.Memories {
				t.Errorf("%d memories, and %d were found", n, left.Memories)
			}
			lost := 0
			for i := range list {
				if retain(t, kv, list[i]) == 1 {
					lost += len(list[i].Text) + 80
				}
			}
			if most := 17<<10 + tc.gone; lost == 0 || lost > most {
				t.Errorf("%d bytes of memories are gone, at most %d may be", lost, most)
			}
			query := bank.Query{Text: questions(list, 7)[3], Limit: 20}
			if got, want := ids(recall(t, kv, query)), ids(recall(t, base, query)); got != want {
				t.Errorf("it recalls %s, not %s", got, want)
			}
		})
	}
	left, err := bank.Salvage(newKV(), prefix)
	if err != nil || left.Memories != 0 {
		t.Errorf("of nothing there are %d memories, %v", left.Memories, err)
	}
}

// TestBankOfBefore: a root that an earlier version wrote has no checksum, and gets
// one.
func TestBankOfBefore(t *testing.T) {
	kv, list := newKV(), said(4)
	retain(t, kv, list[:3]...)
	_, kv.m[prefix+"root"], _ = strings.Cut(kv.m[prefix+"root"], "\n")
	retain(t, kv, list[3])
	if root := kv.m[prefix+"root"]; !strings.HasPrefix(root, "sealed1 2 ") || open(t, kv).Len() != 4 {
		t.Errorf("%d memories, and the root %.20q", open(t, kv).Len(), root)
	}
}

// TestBankSweep: what a call that broke off has left, and what was merged,
// does not stay; what is not the bank's does.
func TestBankSweep(t *testing.T) {
	features.Proves(t, "K28")
	kv := newKV()
	list := said(3000)
	kv.failAt = 4
	if _, err := open(t, kv).Retain(said(4000)[3000:]); err == nil {
		t.Fatal("no failure")
	}
	kv.failAt = 0
	left := len(kv.m)
	kv.m[prefix+"notes.md"] = "a person's"
	for part := range slices.Chunk(list, 10) {
		retain(t, kv, part...)
	}
	keys, fewest := len(kv.m), newKV()
	retain(t, fewest, list...)
	t.Logf("%d keys; %d were left, and %d hold as much", keys, left, len(fewest.m))
	if _, ok := kv.m[prefix+"notes.md"]; !ok || keys > 3*len(fewest.m) {
		t.Errorf("%d keys where %d hold as much", keys, len(fewest.m))
	}
}

// meddler lets somebody else in right before the root is replaced.
type meddler struct {
	*memKV
	meddle []func() // before each time, one after the other
}

func (m *meddler) Swap(key, expect, value string) error {
	if strings.HasSuffix(key, "/root") && len(m.meddle) > 0 {
		m.meddle[0]()
		m.meddle = m.meddle[1:]
	}
	return m.memKV.Swap(key, expect, value)
}

// TestBankTogether: calls that retain at the same time lose nothing, and
// never spoil the bank.
func TestBankTogether(t *testing.T) {
	features.Proves(t, "K28")
	list := said(2000)
	kv := newKV()
	retain(t, kv, list[:500]...)
	m := &meddler{memKV: kv}
	other := list[500:1500]
	change := func() {
		retain(t, kv, other[:100]...)
		other = other[100:]
	}
	m.meddle = []func(){change, change}
	if n := retain(t, m, list[1500:]...); n != 500 {
		t.Errorf("%d of 500 added beside others", n)
	}
	if n := open(t, kv).Len(); n != 1200 {
		t.Errorf("%d memories, not 1200", n)
	}
	if n := retain(t, kv, list...); n != 800 {
		t.Errorf("%d of the 800 that are missing were added", n)
	}
	// Others change it each time: the call gives up, and says so.
	other = said(4000)[2000:]
	m.meddle = []func(){change, change, change, change}
	_, err := open(t, m).Retain([]bank.Memory{{ID: "late", Text: "late"}})
	if abi.CodeOf(err) != abi.CodeConflict {
		t.Errorf("%v, not a conflict", err)
	}
	recall(t, kv, bank.Query{Text: questions(list, 1)[0]})
}

// TestBankStale: a bank that was opened long before reads what there is now.
func TestBankStale(t *testing.T) {
	features.Proves(t, "K28")
	list := said(3000)
	kv := newKV()
	retain(t, kv, list[:900]...)
	early, other := open(t, kv), open(t, kv)
	for part := range slices.Chunk(list[900:2900], 40) {
		retain(t, kv, part...)
	}
	query := bank.Query{Text: questions(list, 1)[0]}
	got, err := early.Recall(query)
	if err != nil || !reflect.DeepEqual(got, recall(t, kv, query)) {
		t.Errorf("%d hits, %v", len(got), err)
	}
	if n, err := other.Retain(list); n != 100 || err != nil {
		t.Errorf("%d of the 100 that are missing were added, %v", n, err)
	}
}

// TestBankOverwritten: a root that somebody has put back names nothing that
// is gone, though merges follow.
func TestBankOverwritten(t *testing.T) {
	features.Proves(t, "K28")
	list := said(3000)
	kv := newKV()
	for part := range slices.Chunk(list[:900], 90) {
		retain(t, kv, part...)
	}
	early := kv.m[prefix+"root"]
	for part := range slices.Chunk(list[900:1500], 150) { // merges, and deletes
		retain(t, kv, part...)
	}
	kv.m[prefix+"root"] = early // of a call that looked before all that
	for part := range slices.Chunk(list[1500:], 100) {
		retain(t, kv, part...)
	}
	got := recall(t, kv, bank.Query{Text: questions(list, 1)[0], Limit: 50})
	want := newKV()
	retain(t, want, append(slices.Clone(list[:900]), list[1500:]...)...)
	if !reflect.DeepEqual(got, recall(t, want, bank.Query{Text: questions(list, 1)[0], Limit: 50})) {
		t.Error("the bank recalls otherwise than one that never knew the lost")
	}
}

// TestBankOddTexts: whatever a text is, it is kept, and found where it has
// words.
func TestBankOddTexts(t *testing.T) {
	features.Proves(t, "K28")
	huge := "the zeppelin landed " + strings.Repeat("more and more text about nothing \"quoted\" <b>\n", 25_000)
	list := []bank.Memory{
		{ID: "empty"},
		{ID: "dots", Text: "..."},
		{ID: "chinese", Text: "我爱北京天安门"},
		{ID: "hindi", Text: "हिन्दी में एक वाक्य"},
		{ID: "arabic", Text: "مرحبا بالعالم"},
		{ID: "emoji", Text: "👩‍👩‍👧 zwj\u200d \u202eright to left"},
		{ID: "invalid", Text: "caf\xe9 \xff\xfe broken bytes"},
		{ID: "control", Text: "tab\tnull\x00bell\x07 line\u2028separator"},
		{ID: "huge", Text: huge},
		{ID: "same", Text: "an id used twice, first", Session: "1"},
		{ID: "same", Text: "an id used twice, second", Session: "2"},
		{ID: strings.Repeat("ü", 5000), Session: strings.Repeat("s", 5000), Author: strings.Repeat("a", 5000),
			Time: strings.Repeat("t", 5000), Type: strings.Repeat("t", 5000),
			Tags: slices.Repeat([]string{strings.Repeat("t", 5000)}, 100), Text: "long fields"},
	}
	for _, flood := range []bool{false, true} {
		t.Run(fmt.Sprintf("flood %v", flood), func(t *testing.T) {
			kv := newKV()
			if n := retain(t, kv, list...); n != len(list) {
				t.Errorf("%d of %d added", n, len(list))
			}
			if flood { // out of the root, and merged
				for part := range slices.Chunk(said(2000), 100) {
					retain(t, kv, part...)
				}
			}
			for _, tc := range []struct{ query, want string }{
				{"北京", "chinese"}, {"हिन्दी", "hindi"}, {"مرحبا", "arabic"}, {"zwj", "emoji"}, {"broken bytes", "invalid"},
				{"bell separator", "control"}, {"zeppelin", "huge"}, {"id used second", "same same"},
			} {
				t.Run(tc.query, func(t *testing.T) {
					var got string
					for _, h := range recall(t, kv, bank.Query{Text: tc.query}) {
						if strings.Contains(" "+tc.want+" ", " "+h.ID+" ") {
							got = strings.TrimSpace(got + " " + h.ID)
						}
					}
					if got != tc.want {
						t.Errorf("%q finds %q, not %q", tc.query, got, tc.want)
					}
				})
			}
			for _, h := range recall(t, kv, bank.Query{Text: "zeppelin", Limit: 100}) {
				if h.ID == "huge" && h.Text != huge[:bank.MaxTextBytes] {
					t.Errorf("of %d bytes %d are kept", len(huge), len(h.Text))
				}
			}
		})
	}
}

// TestBankEqualTexts: a text that is said 10,000 times is one memory of a
// session, and one of each session.
func TestBankEqualTexts(t *testing.T) {
	features.Proves(t, "K28")
	list := make([]bank.Memory, 10_000)
	for i := range list {
		list[i] = bank.Memory{ID: fmt.Sprint(i), Text: "Is anybody there?"}
	}
	kv := newKV()
	if n := retain(t, kv, list...); n != 1 {
		t.Errorf("%d of equal memories", n)
	}
	for i := range list {
		list[i].Session = fmt.Sprint(i)
	}
	if n := retain(t, kv, list...); n != 10_000 {
		t.Errorf("%d of 10,000 in sessions of their own", n)
	}
	if got := recall(t, kv, bank.Query{Text: "anybody", Limit: 3}); ids(got) != "0 1 2" {
		t.Errorf("%q: of equals the earlier come first", ids(got))
	}
}

// TestBankLongNames: sessions and tags as long as may be, of each memory its
// own, never make a value that is too long, however they are merged.
func TestBankLongNames(t *testing.T) {
	features.Proves(t, "K28")
	list := make([]bank.Memory, soak.Count(2000, 6000, 6000))
	for i := range list {
		name := fmt.Sprint(i, strings.Repeat("n", 1000))
		list[i] = bank.Memory{ID: name, Session: name, Author: name, Time: name, Tags: []string{name, name},
			Text: fmt.Sprint("word", i)}
	}
	for _, size := range []int{len(list), 50} {
		t.Run(fmt.Sprintf("%d texts at a time", size), func(t *testing.T) {
			kv := newKV()
			for part := range slices.Chunk(list, size) {
				retain(t, kv, part...)
			}
			if got := recall(t, kv, bank.Query{Text: "word1711", Limit: 1}); len(got) != 1 || got[0].Text != "word1711" {
				t.Errorf("%d hits", len(got))
			}
		})
	}
}

// TestBankDamaged: a value that is missing, cut, or somebody else's is an
// error that says where, and never more than that.
func TestBankDamaged(t *testing.T) {
	features.Proves(t, "K28")
	base := newKV()
	list := said(400)
	retain(t, base, list[:300]...)
	for part := range slices.Chunk(list[300:], 10) {
		retain(t, base, part...)
	}
	queries, later := questions(list, 3), said(900)[500:]
	r := rand.New(rand.NewPCG(3, 4))
	failed := 0
	try := func(kv *memKV, what, key string) {
		defer func() {
			if p := recover(); p != nil {
				t.Fatalf("%s %s: %v", key, what, p)
			}
		}()
		check := func(err error) {
			if err == nil {
				return
			}
			failed++
			if e := abi.AsError(err); e.Code != abi.CodeState || !strings.Contains(e.Message, prefix) || e.Hint == "" {
				doc, _ := json.Marshal(e)
				t.Errorf("%s %s: %s", key, what, doc)
			}
		}
		b, err := bank.Open(kv, prefix)
		check(err)
		if err != nil {
			return
		}
		for _, q := range queries {
			_, err := b.Recall(bank.Query{Text: q, Limit: 50})
			check(err)
		}
		_, err = b.Retain(later)
		check(err)
	}
	keys := slices.Sorted(maps.Keys(base.m))
	keys = soak.Sample(keys, 5, len(keys))
	for _, key := range keys {
		value := base.m[key]
		for what, bad := range map[string]string{
			"cut": value[:len(value)/2], "empty": "", "foreign": "# Notes\n", "doubled": value + value,
			"lengthened": value + "A", "of another kind": base.m[prefix+"root"] + " ",
		} {
			kv := base.clone()
			kv.m[key] = bad
			try(kv, what, key)
		}
		for range 4 {
			kv := base.clone()
			doc := []byte(value)
			doc[r.IntN(len(doc))] = "AgB-_ z9\n"[r.IntN(9)]
			kv.m[key] = string(doc)
			try(kv, "changed", key)
		}
		if !strings.HasSuffix(key, "/root") {
			kv := base.clone()
			delete(kv.m, key)
			try(kv, "missing", key)
		}
	}
	if failed < len(keys) {
		t.Errorf("only %d failures", failed)
	}
}
