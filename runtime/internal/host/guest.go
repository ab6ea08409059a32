package host

// Guest is the instance that a call runs in, as far as the host looks at it. Engines
// set it.
type Guest struct {
	Linear Memory // nil until there is an instance
	Engine any    // the engine's own state of the call
	// AskedHost: the guest called a host function that is not WASI's.
	// ChangedFiles: it closed or moved one of its streams. After either its state
	// depends on this call.
	AskedHost, ChangedFiles bool
}

// Memory is the linear memory of a guest.
type Memory interface {
	// View returns n bytes, or false where they are not all in the memory. It is
	// valid until the guest runs again.
	View(ptr, n uint32) ([]byte, bool)
	Size() int // in bytes
}
