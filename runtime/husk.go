package runtime

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"

	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// husk is a module without what its functions do. All else is the same, so the
// machine code of the module fits it. The engine reads and checks every
// function of a module, compiled before or not, which takes most of a load.
func husk(bin []byte) ([]byte, error) {
	m, err := wasm.Parse(bin)
	if err != nil {
		return nil, err
	}
	out := append([]byte(nil), bin[:wasm.HeaderBytes]...)
	for _, s := range m.Sections {
		if s.ID != wasm.SectionCode {
			out = append(out, bin[s.Start:s.Stop]...)
			continue
		}
		content := wasm.AppendU32(nil, uint32(len(m.Bodies)))
		for range m.Bodies {
			content = append(content, 3, 0, wasm.OpUnreachable, wasm.OpEnd) // 3 bytes, no locals
		}
		out = wasm.AppendSection(out, s.ID, content)
	}
	return out, nil
}

// hollow puts the husk of the module in its place, in an entry where the module
// was compiled: the engine compiles it, which takes no time, and the machine
// code of the module gets the name of the husk's. Whoever opens the entry has
// to see to it that the engine does not compile it again: see open.
func hollow(ctx context.Context, entry string, p *prepared) error {
	own := engineFiles(entry)
	if len(own) != 1 {
		return nil // an engine that does not compile: the module stays
	}
	bin, err := husk(p.bin)
	if err != nil {
		return err
	}
	if err := compileInto(ctx, entry, bin); err != nil {
		return err
	}
	for _, f := range engineFiles(entry) {
		if f.path != own[0].path {
			p.bin = bin
			return os.Rename(own[0].path, f.path)
		}
	}
	return errors.New("the engine keeps a husk elsewhere")
}

func compileInto(ctx context.Context, entry string, bin []byte) error {
	cache, err := wazero.NewCompilationCacheWithDir(entry)
	if err != nil {
		return err
	}
	defer cache.Close(ctx)
	r := wazero.NewRuntimeWithConfig(ctx, engineConfig(false).WithCompilationCache(cache))
	defer r.Close(ctx)
	_, err = r.CompileModule(ctx, bin)
	return err
}

// engineConfig is how the engine is set up for every module.
func engineConfig(interpreter bool) wazero.RuntimeConfig {
	config := wazero.NewRuntimeConfig()
	if interpreter {
		config = wazero.NewRuntimeConfigInterpreter()
	}
	return config.WithCoreFeatures(api.CoreFeaturesV2).WithDebugInfoEnabled(false)
}

// engineFile is a file of the engine, and what changes when it is written.
type engineFile struct{ path, state string }

// engineFiles are the files below the folders in an entry, which are the
// engine's.
func engineFiles(entry string) []engineFile {
	var files []engineFile
	_ = filepath.WalkDir(entry, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || filepath.Dir(path) == entry {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files = append(files, engineFile{path, fmt.Sprint(info.Size(), info.ModTime().UnixNano())})
		}
		return err
	})
	return files
}
