package main

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"slices"
	"strings"
	"time"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
)

// Row is one comparison. Ratio is how many times the peer's cost is of ours.
type Row struct {
	Suite string  `json:"suite"`
	Case  string  `json:"case"`
	Peer  string  `json:"peer"`
	Ours  float64 `json:"ours"`
	Peers float64 `json:"peers"`
	Unit  string  `json:"unit"`
	Ratio float64 `json:"ratio"`
	// Want is the least ratio aimed at; 0 where none is.
	Want float64 `json:"want,omitempty"`
}

// Results are a run.
type Results struct {
	Date    string `json:"date"`
	Machine string `json:"machine"`
	Load    string `json:"load"`
	Rows    []Row  `json:"rows"`
	Growth  Growth `json:"growth"`
}

// suites are what can be measured, in the order of the tables.
var suites = []struct {
	name, title string
	run         func(context.Context, *peers) ([]Row, error)
}{
	{"counting", "Counting, messages of 2 KB, o200k_base, new text", counting},
	{"compacting", "A session from disk to disk, without a model, window 32,000", compacting},
	{"calling", "A call of a plugin that gives its input back", calling},
}

func main() {
	serveEcho() // where go-plugin started this program
	only := flag.String("only", "", "suites to run, separated by commas (default: all)")
	out := flag.String("o", "results.json", "the `FILE` of results")
	tables := flag.String("tables", "", "the markdown `FILE` whose tables are rewritten")
	charts := flag.String("charts", "", "the `DIR` of charts")
	from := flag.Bool("render", false, "measure nothing: write tables and charts of the results there are")
	flag.Parse()
	if err := run(*only, *out, *tables, *charts, *from); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(only, out, tables, charts string, render bool) error {
	var r Results
	old, err := os.ReadFile(out)
	if err == nil {
		err = json.Unmarshal(old, &r)
	}
	switch {
	case render && err != nil:
		return err
	case !render:
		if err := measure(only, &r); err != nil {
			return err
		}
		data, _ := json.MarshalIndent(r, "", "  ")
		if err := atomicfile.WriteFile(out, append(data, '\n'), 0o644); err != nil {
			return err
		}
	}
	return r.write(tables, charts)
}

// measure runs the suites and replaces their rows.
func measure(only string, r *Results) error {
	ctx := context.Background()
	p, err := findPeers(only)
	if err != nil {
		return err
	}
	defer os.RemoveAll(p.dir)
	for _, s := range suites {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		rows, err := s.run(ctx, p)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		for i := range rows {
			rows[i].Suite, rows[i].Ratio = s.name, rows[i].Peers/rows[i].Ours
			if rows[i].Unit == "MB/s" {
				rows[i].Ratio = 1 / rows[i].Ratio
			}
			fmt.Printf("%-10s %-28s %-26s %10.3g %10.3g %-6s %6.1fx\n", s.name, rows[i].Case, rows[i].Peer, rows[i].Ours,
				rows[i].Peers, rows[i].Unit, rows[i].Ratio)
		}
		r.Rows = append(slices.DeleteFunc(r.Rows, func(row Row) bool { return row.Suite == s.name }), rows...)
	}
	if only == "" || slices.Contains(strings.Split(only, ","), "growth") {
		g, err := growth(ctx, p)
		if err != nil {
			return fmt.Errorf("growth: %w", err)
		}
		r.Growth = *g
	}
	if only == "growth" { // the rest is of an earlier run
		return nil
	}
	r.Date, r.Load = time.Now().UTC().Format(time.DateOnly), load()
	r.Machine = fmt.Sprintf("%s/%s, %d cores, %s", goruntime.GOOS, goruntime.GOARCH, goruntime.NumCPU(),
		goruntime.Version())
	return nil
}

// load is that of the machine over the last minute.
func load() string {
	doc, _ := os.ReadFile("/proc/loadavg")
	return cmp.Or(strings.SplitN(string(doc), " ", 2)[0], "unknown")
}

// peers are what is compared with: packages of npm, and the command built for the run.
type peers struct {
	root, node string // of the repository, of the scripts
	dir        string // where the run puts its files
	command    string
}

func findPeers(only string) (*peers, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return nil, err
	}
	here := filepath.Dir(strings.TrimSpace(string(out)))
	p := &peers{root: filepath.Dir(here), node: filepath.Join(here, "node")}
	if _, err := os.Stat(filepath.Join(p.node, "node_modules")); err != nil && only != "growth" {
		return nil, fmt.Errorf("the packages of npm are not installed: make compare")
	}
	if p.dir, err = os.MkdirTemp("", "kagewasm-bench"); err != nil {
		return nil, err
	}
	p.command = filepath.Join(p.dir, "kagewasm")
	build := exec.Command("go", "build", "-o", p.command, "./cmd/kagewasm")
	build.Dir, build.Stderr = p.root, os.Stderr
	return p, build.Run()
}

// script runs one of the scripts of npm's packages and decodes what it prints.
func (p *peers) script(ctx context.Context, into any, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, "node", append([]string{filepath.Join(p.node, name)}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return json.Unmarshal(out, into)
}

func median(of []float64) float64 {
	of = slices.Sorted(slices.Values(of))
	return of[len(of)/2]
}
