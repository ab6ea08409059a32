package main

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"syscall"
)

// giveBack has the kernel forget which pages of the code of the program the start touched, and returns how many bytes
// of addresses that are. What is needed is mapped again when it is met: of a program of this size the start maps
// twice what a compaction needs, and all of it counts as the process's own. Code is never written to, so nothing is
// lost.
func giveBack() (size int) {
	here := reflect.ValueOf(giveBack).Pointer()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(maps)) {
		var from, to uintptr
		var rights string
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &from, &to, &rights); n < 3 || here < from || here >= to {
			continue
		}
		if rights != "r-xp" {
			return 0
		}
		if _, _, errno := syscall.Syscall(syscall.SYS_MADVISE, from, to-from, syscall.MADV_DONTNEED); errno != 0 {
			return 0
		}
		return int(to - from)
	}
	return 0
}
