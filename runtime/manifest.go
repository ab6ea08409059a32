package runtime

import (
	"errors"
	"fmt"
	"slices"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/plainjson"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/runtime/internal/wasm"
)

// maxManifest is how long a manifest may be, in bytes.
const maxManifest = 256 << 10

// sectionManifest is the manifest inside a module, nil where there is none.
func sectionManifest(bin []byte, m *wasm.Module) (*abi.Manifest, error) {
	sections := m.Custom(bin, abi.ManifestSection)
	if len(sections) == 0 {
		return nil, nil
	}
	if len(sections) > 1 {
		return nil, badManifest(fmt.Sprintf("%d sections %s in one module", len(sections), abi.ManifestSection))
	}
	if len(sections[0]) > maxManifest {
		return nil, badManifest(fmt.Sprintf("%d bytes, %d allowed", len(sections[0]), maxManifest))
	}
	manifest := new(abi.Manifest)
	if err := strictjson.Decode(sections[0], manifest); err != nil {
		return nil, badManifest(err.Error())
	}
	return manifest, manifest.Validate()
}

// EmbedManifest returns the module with the manifest inside, in place of one
// that is there. The same module and manifest give the same bytes.
func EmbedManifest(bin []byte, manifest *abi.Manifest) ([]byte, error) {
	if manifest == nil {
		return nil, badManifest("there is none")
	}
	if err := manifest.Validate(); err != nil {
		return nil, err
	}
	m, err := wasm.Parse(bin)
	if err != nil {
		return nil, refused("embed manifest", manifest.Name, err)
	}
	doc, err := encodeManifest(manifest)
	if err != nil {
		return nil, badManifest(err.Error())
	}
	var out []byte
	from := 0
	for _, s := range m.Sections {
		if s.ID == wasm.SectionCustom && s.Name == abi.ManifestSection {
			out = append(out, bin[from:s.Start]...)
			from = s.Stop
		}
	}
	name := append(wasm.AppendU32(nil, uint32(len(abi.ManifestSection))), abi.ManifestSection...)
	head := wasm.AppendU32([]byte{wasm.SectionCustom}, uint32(len(name)+len(doc)))
	return slices.Concat(out, bin[from:], head, name, doc), nil
}

// encodeManifest writes JSON; maps are sorted by key.
func encodeManifest(m *abi.Manifest) ([]byte, error) {
	doc, err := plainjson.Marshal(m)
	if err != nil {
		return nil, err
	}
	if len(doc) > maxManifest {
		return nil, fmt.Errorf("%d bytes, %d allowed", len(doc), maxManifest)
	}
	return doc, nil
}

func badManifest(message string) *abi.Error {
	return &abi.Error{
		Code: abi.CodeBadInput, Op: "manifest", Phase: abi.PhaseLoad,
		Message: message, Hint: "build the plugin again with kagewasm build",
	}
}

// refused is the error of a module that is not loaded.
func refused(op, plugin string, err error) *abi.Error {
	e := &abi.Error{Code: abi.CodeRefused, Op: op, Plugin: plugin, Phase: abi.PhaseLoad, Message: err.Error(), Err: err}
	if form, ok := errors.AsType[*wasm.FormError](err); ok {
		e.Hint = form.Hint
	}
	return e
}
