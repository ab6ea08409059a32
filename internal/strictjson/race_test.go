//go:build race

package strictjson_test

func init() { linearSize = 2 << 20 }
