package main

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/pkoukk/tiktoken-go"
	tiktokenloader "github.com/pkoukk/tiktoken-go-loader"

	"github.com/kagewasm/kagewasm/internal/atomicfile"

	"github.com/kagewasm/kagewasm/tokens"
)

// kinds are the kinds of text that sessions are made of, from the repository itself.
func kinds(root string) (map[string][]string, error) {
	out := make(map[string][]string)
	for kind, patterns := range map[string][]string{
		"prose": {"*.md", "docs/*.md"}, "code": {"*.go", "strategies/*.go"}, "JSON": {"testdata/demo.jsonl"},
	} {
		var all strings.Builder
		for _, p := range patterns {
			paths, err := filepath.Glob(filepath.Join(root, p))
			if err != nil {
				return nil, err
			}
			data, err := contents(paths)
			if err != nil {
				return nil, err
			}
			all.Write(data)
		}
		out[kind] = messages(all.String(), 2048)
	}
	return out, nil
}

// contents are those of files, one behind the other.
func contents(paths []string) (all []byte, err error) {
	for _, path := range paths {
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		all = append(all, data...)
	}
	return all, nil
}

// messages cuts a text into pieces of about n bytes, at spaces.
func messages(text string, n int) (list []string) {
	for len(text) > n {
		at := strings.LastIndexByte(text[:n], ' ')
		if at <= 0 {
			at = n
		}
		list, text = append(list, strings.ToValidUTF8(text[:at], "")), text[at:]
	}
	return append(list, text)
}

// wanted are the ratios aimed at.
var wanted = map[string]float64{"tiktoken-go": 25, "gpt-tokenizer": 6, "tiktoken": 15}

// counting compares in MB/s: each counter in its own process, all texts in turn until a
// second of processor time has gone.
func counting(ctx context.Context, p *peers) (rows []Row, err error) {
	texts, err := kinds(p.root)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(p.dir, "texts.json")
	data, err := json.Marshal(texts)
	if err == nil {
		err = atomicfile.WriteFile(file, data, 0o600)
	}
	if err != nil {
		return nil, err
	}
	var theirs map[string]map[string]struct {
		Rate  float64 `json:"rate"`
		Count int     `json:"count"`
	}
	if err := p.script(ctx, &theirs, "count.mjs", file); err != nil {
		return nil, err
	}
	own, err := tokens.New(tokens.O200k, tokens.Options{CacheEntries: -1})
	if err != nil {
		return nil, err
	}
	tiktoken.SetBpeLoader(tiktokenloader.NewOfflineLoader())
	tik, err := tiktoken.GetEncoding("o200k_base")
	if err != nil {
		return nil, err
	}
	for _, kind := range []string{"prose", "code", "JSON"} {
		ours, n := rate(texts[kind], own.Text)
		go1, m := rate(texts[kind], func(s string) int { return len(tik.EncodeOrdinary(s)) })
		rows = append(rows, Row{Case: kind, Peer: "tiktoken-go", Ours: ours, Peers: go1, Unit: "MB/s",
			Want: wanted["tiktoken-go"]})
		for _, peer := range []string{"gpt-tokenizer", "tiktoken"} {
			got := theirs[peer][kind]
			rows = append(rows, Row{Case: kind, Peer: peer + " (npm)", Ours: ours, Peers: got.Rate, Unit: "MB/s",
				Want: wanted[peer]})
			if got.Count != n || m != n {
				return nil, differ{kind, peer, n, m, got.Count}
			}
		}
	}
	return rows, nil
}

// differ is counters that do not agree, which makes their times worthless.
type differ struct {
	kind, peer         string
	own, goTik, theirs int
}

func (d differ) Error() string {
	b, _ := json.Marshal(map[string]int{"kagewasm": d.own, "tiktoken-go": d.goTik, d.peer: d.theirs})
	return "counts of " + d.kind + " differ: " + string(b)
}

// rate is how many megabytes a second of processor time are counted, and how many tokens all
// texts have.
func rate(texts []string, count func(string) int) (mbs float64, total int) {
	size := 0
	for _, s := range texts {
		total += count(s)
		size += len(s)
	}
	start, done := processor(), 0
	for processor()-start < time.Second {
		for _, s := range texts {
			count(s)
		}
		done += size
	}
	return float64(done) / (processor() - start).Seconds() / 1e6, total
}

// processor is the processor time of this process so far.
func processor() time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		return math.MaxInt64
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
