//go:build race

package abi_test

func init() { linearSize = 2 << 20 }
