// Command guest does a bit of everything that Go programs do.
package main

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"regexp"
	"slices"
	"strings"
)

type tree struct {
	Name     string         `json:"name"`
	Children []*tree        `json:"children,omitempty"`
	Counts   map[string]int `json:"counts"`
	Weight   float64        `json:"weight"`
}

func grow(depth int) *tree {
	counts := map[string]int{"a": depth, "b": -depth}
	t := &tree{Name: fmt.Sprintf("node %d \"é\"", depth), Counts: counts, Weight: float64(depth) / 3}
	for i := range min(depth, 2) {
		t.Children = append(t.Children, grow(depth-1-i))
	}
	return t
}

func deep(n int) int {
	if n == 0 {
		return 1
	}
	defer func() { _ = recover() }()
	return deep(n-1) + n%3
}

// work returns a hash of what it did.
//
//go:wasmexport work
func work() uint64 {
	text, err := json.Marshal(grow(4))
	if err != nil {
		panic(err)
	}
	var back tree
	if err := json.Unmarshal(text, &back); err != nil {
		panic(err)
	}
	words := strings.FieldsFunc(string(text), func(r rune) bool { return r == ',' || r == ':' })
	slices.Sort(words)
	found := regexp.MustCompile(`node (\d+)`).FindAllString(string(text), -1)
	sums := make(chan int)
	go func() {
		defer close(sums)
		for i := range 20 {
			sums <- i * i
		}
	}()
	total := deep(500)
	for s := range sums {
		total += s
	}
	func() {
		defer func() { total += len(fmt.Sprint(recover())) }()
		var none []int
		total += none[total]
	}()
	h := fnv.New64a()
	fmt.Fprint(h, words, found, total, back.Children[0].Weight)
	return h.Sum64()
}

func main() {}
