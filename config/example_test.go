package config_test

import (
	"fmt"
	"os"
	"path/filepath"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/config"
)

func Example() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, config.FileName)
	if err := os.WriteFile(path, []byte(`
compaction:
  threshold: 80
agents:
  main:
    subagents:
      reviewer:
        compaction: {lower_threshold: 0.3}
`), 0o644); err != nil {
		panic(err)
	}

	c, err := config.Load(path)
	if err != nil {
		panic(err)
	}
	policy := c.Policy("main/reviewer")
	fmt.Println(policy.When.Upper, policy.When.Lower)

	x, err := c.Explain("main/reviewer")
	if err != nil {
		panic(err)
	}
	for _, s := range x.Settings {
		if s.Source.Kind == "file" {
			fmt.Println(s.Name, s.Value, s.Source)
		}
	}

	_, err = c.With("main/reviewer", "compaction.uper_threshold=0.9")
	fmt.Println(err)
	// Output:
	// 0.8 0.3
	// compaction.upper_threshold 0.8 kagewasm.yaml:3:3, as threshold, inherited from the top
	// compaction.lower_threshold 0.3 kagewasm.yaml:8:22
	// config: --set compaction.uper_threshold: no setting "compaction.uper_threshold": did you mean "compaction.upper_threshold"?
}

func ExampleFollow() {
	dir, err := os.MkdirTemp("", "project")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, config.FileName)
	if err := os.WriteFile(path, []byte("compaction: {threshold: 80}"), 0o644); err != nil {
		panic(err)
	}

	live, err := config.Follow(path)
	if err != nil {
		panic(err)
	}
	// A Compactor with these asks before each decision.
	opts := kagewasm.Options{Live: func(s abi.Session) kagewasm.Policy {
		c, err := live.Current()
		if err != nil {
			fmt.Println(err) // c is the last that could be read
		}
		return c.Policy(s.AgentPath)
	}}
	fmt.Println(opts.Live(abi.Session{AgentPath: "main/reviewer"}).When.Upper)
	// Output: 0.8
}
