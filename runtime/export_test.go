package runtime

// DecodeOutput is seen by the fuzz targets alone.
var DecodeOutput = decodeOutput

// Imports are the functions that a guest may import, with their signatures, by
// module.
func Imports(r *Runtime) map[string]map[string]string {
	all := make(map[string]map[string]string)
	for module, funcs := range r.linker {
		all[module] = make(map[string]string)
		for name, sig := range funcs {
			all[module][name] = string(sig)
		}
	}
	return all
}
