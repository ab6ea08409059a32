package config

import (
	"os"
	"path/filepath"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/strategies"
)

// Init writes a commented configuration, its schema and the default prompt into
// a folder, which is made where it is missing. It returns the paths of what it
// wrote. What is there stays as it is, and is an error where it is all of it.
func Init(dir string) ([]string, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, unwritable(dir, err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unwritable(dir, err)
	}
	defer root.Close()
	if err := root.MkdirAll(inFolder+"/prompts", 0o755); err != nil {
		return nil, unwritable(dir, err)
	}
	var wrote []string
	for _, f := range []struct{ name, text string }{
		{defaultPromptFile, strategies.DefaultPrompt()},
		{schemaFile, string(Schema())},
		{FileName, string(sample())}, // last: with it the rest is there
	} {
		switch did, err := writeNew(root, f.name, []byte(f.text)); {
		case err != nil:
			return wrote, unwritable(filepath.Join(dir, f.name), err)
		case did:
			wrote = append(wrote, filepath.Join(dir, filepath.FromSlash(f.name)))
		}
	}
	if len(wrote) == 0 {
		return nil, &abi.Error{Code: abi.CodeBadInput, Op: "init",
			Message: filepath.Join(dir, FileName) + ": it is there already, and stays as it is",
			Hint:    "kagewasm config check looks at it; take it away to start from scratch"}
	}
	return wrote, nil
}

func unwritable(path string, err error) error {
	message := filepath.Clean(path) + ": " + reason(err).Error()
	return &abi.Error{Code: abi.CodeBadInput, Op: "init", Message: message, Err: reason(err)}
}
