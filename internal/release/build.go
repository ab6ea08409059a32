package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/kagewasm/kagewasm/internal/atomicfile"
	"github.com/kagewasm/kagewasm/kit"
)

// identify finds out which commit this is.
func (r *release) identify(ctx context.Context) error {
	commit, err := r.git(ctx, "rev-parse", "HEAD")
	if err != nil {
		return err
	}
	stamp, err := r.git(ctx, "log", "-1", "--format=%ct")
	if err != nil {
		return err
	}
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil {
		return err
	}
	r.commit, r.time = commit, time.Unix(seconds, 0).UTC()
	if r.version != "" {
		return nil
	}
	if r.version, err = r.git(ctx, "describe", "--tags", "--match", "v*", "--dirty"); err == nil {
		return nil
	}
	r.version = "v0.0.0-" + r.time.Format("20060102150405") + "-" + commit[:12] // as Go names a commit without a tag
	if changed, err := r.git(ctx, "status", "--porcelain", "--untracked-files=no"); err != nil || changed != "" {
		r.version += "-dirty"
	}
	return nil
}

func (r *release) git(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = r.root
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("git %s: %w", args[0], err)
	}
	return strings.TrimSpace(string(out)), nil
}

// named is the package that has the plugins inside, and modules their folder in it.
const (
	named   = "cmd/kagewasm/internal/named"
	modules = "modules"
)

// plugins builds the reference plugins, compresses them and has the build find them where [named] embeds them.
func (r *release) plugins(ctx context.Context) error {
	replace := make(map[string]string)
	for _, name := range []string{"hindsight", "keeper", "markdown"} {
		built, err := kit.Build(ctx, kit.Options{Dir: filepath.Join(r.root, "plugins", name),
			Out: filepath.Join(r.work, name+".wasm")})
		if err != nil {
			return err
		}
		packed := built.Path + ".zst"
		if err := pack(built.Path, packed); err != nil {
			return err
		}
		replace[filepath.Join(r.root, filepath.FromSlash(named), modules, filepath.Base(packed))] = packed
		fmt.Printf("%s %s %s\n", name, built.Manifest.Version, built.Digest)
	}
	doc, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	r.overlay = filepath.Join(r.work, "overlay.json")
	return atomicfile.WriteFile(r.overlay, doc, 0o600)
}

// pack compresses a file, the same way each time.
func pack(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	z, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	return atomicfile.WriteFile(to, z.EncodeAll(data, nil), 0o600)
}

// build builds the program for a platform, where that is not done yet.
func (r *release) build(ctx context.Context, t target) (program string, err error) {
	program = filepath.Join(r.work, t.os+"-"+t.arch, t.program())
	if _, err := os.Stat(program); err == nil {
		return program, nil
	}
	flags := "-s -w -X main.tag=" + r.version + " -X main.commit=" + r.commit
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-tags=plugins", "-overlay="+r.overlay,
		"-ldflags="+flags, "-o", program, "./cmd/kagewasm")
	cmd.Dir, cmd.Stderr = r.root, os.Stderr
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=", "GOAMD64=v1", "GOARM64=v8.0", "GOEXPERIMENT=",
		"GOOS="+t.os, "GOARCH="+t.arch)
	return program, cmd.Run()
}
