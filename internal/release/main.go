// Command release builds what people download: for each platform an archive with the program, the reference plugins
// inside it, licences, documentation, manual pages and completions, and beside them the checksums of all.
//
// The same commit and the same Go give the same bytes, wherever and whenever it runs: paths are left out of the
// program, and every time in an archive is that of the commit.
//
//	go run ./internal/release -out build/release
//	go run ./internal/release -platforms host -version v0.1.0
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"time"
)

// platforms are those that archives are built for.
const platforms = "linux/amd64,linux/arm64,darwin/amd64,darwin/arm64,windows/amd64,windows/arm64"

func main() {
	var r release
	fs := flag.NewFlagSet("release", flag.ExitOnError)
	fs.StringVar(&r.root, "root", ".", "the `FOLDER` of the project")
	fs.StringVar(&r.out, "out", "build/release", "the `FOLDER` to write to, which is emptied before")
	fs.StringVar(&r.version, "version", "", "the `VERSION` (default: the tag of the commit, or one made of its id)")
	list := fs.String("platforms", platforms, "the `LIST` of platforms; host is this one")
	_ = fs.Parse(os.Args[1:]) // which exits
	r.targets = targetsOf(*list)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := r.run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

// release is one release.
type release struct {
	root, out string
	version   string
	commit    string
	time      time.Time // of the commit
	targets   []target
	work      string // a folder for what is made on the way
	overlay   string // of the build: the plugins
}

// target is a platform.
type target struct{ os, arch string }

// host is this one.
var host = target{goruntime.GOOS, goruntime.GOARCH}

// targetsOf are the platforms of a list.
func targetsOf(list string) (targets []target) {
	for name := range strings.SplitSeq(strings.ReplaceAll(list, "host", host.os+"/"+host.arch), ",") {
		goos, goarch, _ := strings.Cut(name, "/")
		targets = append(targets, target{goos, goarch})
	}
	return targets
}

// program is what the program is called there.
func (t target) program() string {
	if t.os == "windows" {
		return "kagewasm.exe"
	}
	return "kagewasm"
}

func (r *release) run(ctx context.Context) (err error) {
	if r.root, err = filepath.Abs(r.root); err != nil {
		return err
	}
	if err := r.identify(ctx); err != nil {
		return err
	}
	if r.work, err = os.MkdirTemp("", "kagewasm-release-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.work)
	if err := os.RemoveAll(r.out); err != nil {
		return err
	}
	if err := os.MkdirAll(r.out, 0o755); err != nil {
		return err
	}
	if err := r.plugins(ctx); err != nil {
		return err
	}
	common, err := r.common(ctx)
	if err != nil {
		return err
	}
	for _, t := range r.targets {
		if err := r.archive(ctx, t, common); err != nil {
			return fmt.Errorf("%s/%s: %w", t.os, t.arch, err)
		}
	}
	return r.checksums()
}
