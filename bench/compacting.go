package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Sessions that are compared, the target of each, and how often each is compacted.
const (
	window = 32_000
	target = window * 60 / 100
	runs   = 5
	least  = 300_000 // bytes of a session that is long
)

// sessions are the long ones of the shared data, or the demo's where they are not there.
func sessions(root string) ([]string, error) {
	all, err := filepath.Glob(filepath.Join(root, "../shared/data/sessions/*.jsonl"))
	if err != nil {
		return nil, err
	}
	var long []string
	for _, path := range all {
		if info, err := os.Stat(path); err == nil && info.Size() >= least {
			long = append(long, path)
		}
	}
	if len(long) == 0 {
		long = []string{filepath.Join(root, "testdata/demo.jsonl")}
	}
	return long, nil
}

// compacting compares whole processes, from disk to disk. langchain counts each message with
// gpt-tokenizer and drops the oldest; pi estimates four characters a token, finds its cut
// and writes out what its model would summarize, and asks none. Neither writes a note.
func compacting(ctx context.Context, p *peers) (rows []Row, err error) {
	list, err := sessions(p.root)
	if err != nil {
		return nil, err
	}
	out := filepath.Join(p.dir, "out.jsonl")
	script := filepath.Join(p.node, "trim.mjs")
	for _, path := range list {
		ours, err := process(ctx, runs, p.command, "compact", path, "--window", fmt.Sprint(window), "--force",
			"--no-record", "-q", "--out", out)
		if err != nil {
			return nil, err
		}
		for _, peer := range []string{"langchain", "pi"} {
			theirs, err := process(ctx, runs, "node", script, peer, path, out, fmt.Sprint(target))
			if err != nil {
				return nil, err
			}
			name := strings.TrimSuffix(filepath.Base(path), ".jsonl")
			row := Row{Case: name[:min(len(name), 28)], Peer: peer, Ours: ours, Peers: theirs, Unit: "ms"}
			if peer == "langchain" {
				row.Want = 5
			}
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// process is the processor time that a program takes, in ms: the median of so many rounds.
func process(ctx context.Context, rounds int, name string, args ...string) (ms float64, err error) {
	var took []float64
	for range rounds {
		cmd := exec.CommandContext(ctx, name, args...)
		if said, err := cmd.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("%s %s: %w: %.300s", filepath.Base(name), args[0], err, said)
		}
		took = append(took, (cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()).Seconds()*1e3)
	}
	return median(took), nil
}
