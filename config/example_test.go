package config_test

import (
	"fmt"
	"os"
	"path/filepath"

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

	live, err := config.Open(path, config.LiveOptions{})
	if err != nil {
		panic(err)
	}
	policy := live.Policy("main/reviewer") // asked before each decision
	fmt.Println(policy.Upper, policy.Lower)

	x, err := live.Current().Explain("main/reviewer")
	if err != nil {
		panic(err)
	}
	for _, s := range x.Settings {
		if s.Source.Kind == config.FromFile {
			fmt.Println(s.Name, s.Value, s.Source)
		}
	}

	fmt.Println(config.Check("kagewasm.yaml", []byte("compaction: {uper_threshold: 0.9}")))
	// Output:
	// 0.8 0.3
	// compaction.upper_threshold 0.8 kagewasm.yaml:3:3, as threshold, inherited from the top
	// compaction.lower_threshold 0.3 kagewasm.yaml:8:22
	// config: kagewasm.yaml:1:14: unknown field "uper_threshold" in compaction: did you mean "upper_threshold"?
	// > 1 | compaction: {uper_threshold: 0.9}
	//     |              ^
}
