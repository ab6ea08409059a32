//go:build !linux

package process

func self() string { return "" }

func gone(string) bool { return false }
