package process

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// self is the machine since it was started, the container in which numbers of processes count, the number, and when the
// process began: numbers are used again.
func self() string {
	place, pid := place(), os.Getpid()
	begun, there := begun(pid)
	if place == "" || !there {
		return ""
	}
	return fmt.Sprintf("%s %d %s", place, pid, begun)
}

// place is where a process of a number is that process and no other.
func place() string {
	boot, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	space, err := os.Readlink("/proc/self/ns/pid")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(boot)) + " " + space
}

// begun is when a process began, in ticks since the machine was started; false where it has ended. Of one that may not
// be looked at it is empty.
func begun(pid int) (ticks string, there bool) {
	if errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) {
		return "", false
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", true
	}
	// Behind the name, which may hold anything, stand the state and what follows it.
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	const state, start = 0, 19
	if len(fields) <= start {
		return "", true
	}
	return fields[start], fields[state] != "Z" && fields[state] != "X"
}

func gone(name string) bool {
	var boot, space, was string
	var pid int
	if n, _ := fmt.Sscan(name, &boot, &space, &pid, &was); n != 4 || boot+" "+space != place() {
		return false
	}
	now, there := begun(pid)
	return !there || now != "" && now != was
}
