package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// entry is a file of an archive.
type entry struct {
	name string // with slashes
	data []byte
	mode fs.FileMode
}

// common is what stands in all archives: documents, manual pages, completions.
func (r *release) common(ctx context.Context) (list []entry, err error) {
	for _, pattern := range []string{"LICENSE", "README.md", "CHANGELOG.md", "SECURITY.md", "docs/*.md"} {
		names, err := fs.Glob(os.DirFS(r.root), pattern)
		if err != nil || len(names) == 0 {
			return nil, fmt.Errorf("no %s: %w", pattern, errors.Join(err, fs.ErrNotExist))
		}
		for _, name := range names {
			if list, err = add(list, name, filepath.Join(r.root, filepath.FromSlash(name))); err != nil {
				return nil, err
			}
		}
	}
	licences, err := r.licences(ctx)
	if err != nil {
		return nil, err
	}
	list = append(list, entry{"THIRD_PARTY_LICENSES.txt", licences, 0o644})
	program, err := r.build(ctx, host)
	if err != nil {
		return nil, err
	}
	pages := filepath.Join(r.work, "man")
	if _, err := output(ctx, program, "help", "man", pages); err != nil {
		return nil, err
	}
	names, err := os.ReadDir(pages)
	if err != nil {
		return nil, err
	}
	for _, page := range names {
		if list, err = add(list, "man/man1/"+page.Name(), filepath.Join(pages, page.Name())); err != nil {
			return nil, err
		}
	}
	for shell, name := range map[string]string{"bash": "kagewasm.bash", "zsh": "_kagewasm", "fish": "kagewasm.fish",
		"powershell": "kagewasm.ps1"} {
		script, err := output(ctx, program, "completion", shell)
		if err != nil {
			return nil, err
		}
		list = append(list, entry{"completions/" + name, script, 0o644})
	}
	return list, nil
}

func add(list []entry, name, file string) ([]entry, error) {
	data, err := os.ReadFile(file)
	return append(list, entry{name, data, 0o644}), err
}

func output(ctx context.Context, program string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", filepath.Base(program), strings.Join(args, " "), err)
	}
	return out, nil
}

// licences are those of what is linked on any of the platforms, which want to be handed on with it. They are the same
// in each archive, whichever are built.
func (r *release) licences(ctx context.Context) ([]byte, error) {
	found := make(map[string]string) // the folder by the module
	for _, t := range targetsOf(platforms) {
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-tags=plugins", "-overlay="+r.overlay,
			"-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", "./cmd/kagewasm",
			"./plugins/...")
		cmd.Dir, cmd.Stderr = r.root, os.Stderr
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS="+t.os, "GOARCH="+t.arch)
		out, err := cmd.Output()
		if err != nil {
			return nil, fmt.Errorf("go list: %w", err)
		}
		for line := range strings.Lines(string(out)) {
			if module, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
				found[module] = dir
			}
		}
	}
	root, err := output(ctx, "go", "env", "GOROOT")
	if err != nil {
		return nil, err
	}
	found["Go"] = strings.TrimSpace(string(root))
	var b bytes.Buffer
	b.WriteString("kagewasm contains parts of these projects, under the licences that stand below each.\n")
	for _, module := range slices.Sorted(maps.Keys(found)) {
		text, err := licenceOf(found[module])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", module, err)
		}
		fmt.Fprintf(&b, "\n%s\n%s\n\n%s\n", strings.Repeat("=", 80), module, bytes.TrimSpace(text))
	}
	return b.Bytes(), nil
}

// licenceOf are the licence and the notices in the folder of a module.
func licenceOf(dir string) (all []byte, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, f := range list {
		switch name := strings.ToUpper(strings.TrimSuffix(f.Name(), path.Ext(f.Name()))); name {
		case "LICENSE", "LICENCE", "COPYING", "NOTICE", "PATENTS":
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				return nil, err
			}
			all = append(append(all, text...), '\n')
		}
	}
	if all == nil {
		err = fmt.Errorf("no licence in %s", dir)
	}
	return all, err
}
