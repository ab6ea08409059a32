package runtime

// DecodeOutput and Rewrite are seen by the fuzz targets alone.
var DecodeOutput = decodeOutput

// Rewritten is what is compiled in place of the module, or an error where it
// is refused as malformed.
func Rewritten(wasm []byte) ([]byte, error) {
	m, err := parseModule(wasm)
	if err == nil {
		err = checkTables(m)
	}
	if err != nil {
		return nil, err
	}
	return rewrite(wasm, m), nil
}
