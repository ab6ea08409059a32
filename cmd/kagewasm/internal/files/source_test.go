package files_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/files"
)

// large is more than what a copy is made of.
func large() []byte { return bytes.Repeat([]byte("a line of a session\n"), 5<<20/20) }

func opened(t *testing.T, data []byte) (s *files.Source, read []byte, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "session.jsonl")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	s = new(files.Source)
	read, err := s.Open(t.Context(), nil, path)
	if err != nil || !bytes.Equal(read, data) {
		t.Fatalf("read %d bytes of %d, %v", len(read), len(data), err)
	}
	return s, read, path
}

// TestSourceRests: the bytes of a large file are there again after a rest, and what is added behind them is no change.
func TestSourceRests(t *testing.T) {
	s, read, path := opened(t, large())
	s.Rest()
	if !bytes.Equal(read, large()) {
		t.Error("the bytes are others after a rest")
	}
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString("and one more\n")
	f.Close()
	if err := s.Check(); err != nil {
		t.Errorf("something was added: %v", err)
	}
}

// TestSourceWrittenOver: what was read of a file that somebody writes over is told as such, whether that keeps its
// length, cuts it, or happens while it is read.
func TestSourceWrittenOver(t *testing.T) {
	if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
		t.Skip("a copy is made")
	}
	s, read, path := opened(t, large())
	other := bytes.ToUpper(large())
	if err := os.WriteFile(path, other, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("other bytes: %v", err)
	}
	if err := os.Truncate(path, 10); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("cut: %v", err)
	}
	err := s.Guard(func() error {
		s.Rest()
		_ = bytes.Count(read, []byte("\n"))
		t.Error("bytes that are not there were read")
		return nil
	})
	if abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("read when it was cut: %v", err)
	}
}

// TestSmallSourceIsCopied: of a small file nobody minds what becomes of it. A panic that has nothing to do with it goes
// on.
func TestSmallSourceIsCopied(t *testing.T) {
	s, read, path := opened(t, []byte("a session\n"))
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.Rest()
	if err := s.Check(); err != nil || string(read) != "a session\n" || !s.Copied() {
		t.Errorf("%q, %v", read, err)
	}
	defer func() {
		if v := recover(); v != "another" {
			t.Errorf("panicked with %v", v)
		}
	}()
	s.Guard(func() error { panic("another") })
}
