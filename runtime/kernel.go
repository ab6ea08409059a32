package runtime

import extism "github.com/extism/go-sdk"

// kernel is the memory that upstream's kernel keeps. Its guest is stopped
// where the kernel fails, so it fails here as if there were nothing.
type kernel struct{ plugin *extism.CurrentPlugin }

func (k kernel) block(at uint64) ([]byte, bool) {
	if at == 0 {
		return nil, false
	}
	b, err := k.plugin.ReadBytes(at)
	return b, err == nil
}

func (k kernel) put(b []byte) uint64 {
	at, err := k.plugin.Alloc(uint64(len(b))) // 0 where there is no room, which the SDK's WriteBytes takes for an address
	if err != nil || at == 0 || !k.plugin.Memory().Write(uint32(at), b) {
		return 0
	}
	return at
}

func (k kernel) release(at uint64) { _ = k.plugin.Free(at) }
