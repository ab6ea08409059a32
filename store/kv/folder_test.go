package kv_test

import (
	"bufio"
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/pgtest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/store/kv"
)

func TestKVKeysArePaths(t *testing.T) {
	dir := t.TempDir()
	s := openKV(t, dir, kv.Options{})
	for _, c := range []struct{ key, path, why string }{
		{"MEMORY.md", "MEMORY.md", "as it is"},
		{"facts/x.md", "facts/x.md", "folders too"},
		{"journal/2026-11-21.md", "journal/2026-11-21.md", "dashes and digits"},
		{"facts", "facts.kv", "a file without a dot gets one, the folder has none"},
		{"facts.kv", "facts%2Ekv.kv", "which is not the same key"},
		{"v1.2/x.md", "v1%2E2/x.md", "a dot in a folder"},
		{".env", "%2Eenv.kv", "nothing is hidden"},
		{"a b.md", "a%20b.md", "anything else is %XX"},
		{strings.Repeat("k", 250), strings.Repeat("k", 200) + "~/" + strings.Repeat("k", 50) + ".kv", "names have a length"},
	} {
		t.Run(c.why, func(t *testing.T) {
			if err := s.Set(t.Context(), "p", c.key, c.key); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(filepath.Join(dir, "p", filepath.FromSlash(c.path)))
			if err != nil || string(b) != c.key {
				t.Errorf("%q is not at %s: %v", c.key, c.path, err)
			}
		})
	}
}

func TestKVFilesOfOthers(t *testing.T) {
	dir := t.TempDir()
	s := openKV(t, dir, kv.Options{MaxValueBytes: 100})
	put := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, "p", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	put("facts/mine.md", "by hand")
	put("facts/No Escape.md", "a name as people give them")
	put("facts/Kaffee für zwei.md", "in any language")
	put("facts/what?.md", "a name that not all systems have")
	put("facts/bare", "no dot")
	put("facts/%2e.kv", "a dot has no small letters")
	put(".git/config.md", "a hidden folder")
	put("facts/.tmp-1", "somebody is writing")
	put("long.md", strings.Repeat("x", 101))
	put("latin1.md", "caf\xe9")
	keys, err := s.List(t.Context(), "p", "")
	if want := []string{"facts/Kaffee für zwei.md", "facts/No Escape.md", "facts/mine.md", "latin1.md",
		"long.md"}; !slices.Equal(keys, want) || err != nil {
		t.Errorf("list: %q, %v", keys, err)
	}
	if v, ok, err := s.Get(t.Context(), "p", "facts/mine.md"); v != "by hand" || !ok || err != nil {
		t.Errorf("get: %q, %v, %v", v, ok, err)
	}
	// A file that a person named is written and deleted where it is.
	if err := s.Set(t.Context(), "p", "facts/No Escape.md", "changed"); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(filepath.Join(dir, "p", "facts", "No Escape.md")); string(b) != "changed" || err != nil {
		t.Errorf("the file says %q, %v", b, err)
	}
	if err := s.Delete(t.Context(), "p", "facts/No Escape.md"); err != nil {
		t.Fatal(err)
	}
	if _, ok, err := s.Get(t.Context(), "p", "facts/No Escape.md"); ok || err != nil {
		t.Errorf("deleted, and there: %v", err)
	}
	if _, _, err := s.Get(t.Context(), "p", "long.md"); abi.CodeOf(err) != abi.CodeQuota {
		t.Errorf("a file over the limit: %v", err)
	}
	if _, _, err := s.Get(t.Context(), "p", "latin1.md"); abi.CodeOf(err) != abi.CodeBadInput {
		t.Errorf("a file that is not text: %v", err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "p")); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(t.Context(), "p", "facts/new.md", "x"); err != nil {
		t.Errorf("set after a person removed the folder: %v", err)
	}
}

func TestKVLinksLeadNowhere(t *testing.T) {
	dir, outside := t.TempDir(), t.TempDir()
	secret := filepath.Join(outside, "secret.md")
	if err := os.WriteFile(secret, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := openKV(t, dir, kv.Options{})
	if err := s.Set(t.Context(), "p", "own.md", "own"); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{
		"p/file.md": secret, "p/folder": outside, "p/up": "../../" + filepath.Base(outside), "q": outside, "p/other": "../r",
	} {
		t.Run(link, func(t *testing.T) {
			if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := s.Set(t.Context(), "r", "theirs.md", "theirs"); err != nil {
		t.Fatal(err)
	}
	for _, at := range [][2]string{{"p", "file.md"}, {"p", "folder/secret.md"}, {"p", "up/secret.md"},
		{"q", "secret.md"}, {"p", "other/theirs.md"}} {
		t.Run(at[0]+" "+at[1], func(t *testing.T) {
			if v, ok, _ := s.Get(t.Context(), at[0], at[1]); ok || v != "" {
				t.Errorf("read %q through %s", v, at)
			}
		})
	}
	for _, at := range [][2]string{{"p", "folder/new.md"}, {"q", "new.md"}, {"p", "other/new.md"}} {
		t.Run(at[0]+" "+at[1], func(t *testing.T) {
			if err := s.Set(t.Context(), at[0], at[1], "x"); err == nil {
				t.Errorf("wrote through %s", at)
			}
		})
	}
	if err := s.Set(t.Context(), "p", "file.md", "mine"); err != nil {
		t.Errorf("a link in the place of a file is replaced: %v", err)
	}
	if keys, err := s.List(t.Context(), "p", ""); !slices.Equal(keys, []string{"file.md", "own.md"}) || err != nil {
		t.Errorf("list: %q, %v", keys, err)
	}
	if b, _ := os.ReadFile(secret); string(b) != "secret" {
		t.Errorf("the file outside now says %q", b)
	}
	if left, _ := os.ReadDir(outside); len(left) != 1 {
		t.Errorf("files outside: %v", left)
	}
}

// Files that writers have not finished.
const oldTemp, newTemp = ".tmp-OOOOOOOOOOOOOOOOOOOOOOOOOO", ".tmp-NNNNNNNNNNNNNNNNNNNNNNNNNN"

func TestKVModesAndLeftovers(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "state", "kv")
	s := openKV(t, dir, kv.Options{})
	stale, young := filepath.Join(dir, "p", oldTemp), filepath.Join(dir, "p", newTemp)
	if err := os.Mkdir(filepath.Join(dir, "p"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, f := range []string{stale, young} {
		if err := os.WriteFile(f, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(stale, time.Time{}, time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	for i := range 5 {
		if err := s.Set(t.Context(), "p", "a/b/c.md", fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	var files []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		} else {
			files = append(files, d.Name())
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return nil
	})
	if err != nil || !slices.Equal(files, []string{".lock", newTemp, "c.md"}) {
		t.Errorf("files: %q, %v", files, err)
	}
	if err := s.Delete(t.Context(), "p", "a/b/c.md"); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "p", "a")); err == nil {
		t.Error("empty folders stay behind")
	}
}

func TestKVTwoHandlesOnOneFolder(t *testing.T) {
	dir := t.TempDir()
	hammer(t, openKV(t, dir, kv.Options{}), openKV(t, dir, kv.Options{}))
}

// Two handles are as two processes: each holds the lock by itself.
func TestKVSwapAcrossHandles(t *testing.T) {
	features.Proves(t, "K28")
	dir := t.TempDir()
	appendAll(t, openKV(t, dir, kv.Options{}), openKV(t, dir, kv.Options{}))
}

func TestKVQuotaSeesOtherWriters(t *testing.T) {
	dir := t.TempDir()
	a, b := openKV(t, dir, kv.Options{MaxKeys: 4}), openKV(t, dir, kv.Options{MaxKeys: 4})
	for _, k := range []string{"1", "2", "3", "4"} {
		t.Run(k, func(t *testing.T) {
			if err := a.Set(t.Context(), "p", k, ""); err != nil {
				t.Fatal(err)
			}
		})
	}
	if err := b.Set(t.Context(), "p", "5", ""); abi.CodeOf(err) != abi.CodeQuota {
		t.Errorf("what another wrote does not count: %v", err)
	}
	if err := b.Delete(t.Context(), "p", "1"); err != nil {
		t.Fatal(err)
	}
	if err := a.Set(t.Context(), "p", "5", ""); err != nil {
		t.Errorf("an old count refuses what fits: %v", err)
	}
}

// TestMain is a writer without end where the environment says so.
func TestMain(m *testing.M) {
	dir := os.Getenv("STORE_TEST_WRITER")
	if dir == "" {
		pgtest.Main(m)
	}
	s, err := kv.Open(dir, kv.Options{})
	if err != nil {
		panic(err)
	}
	for i := 0; ; i++ {
		text := strings.Repeat(string(rune('a'+i%26)), 50_000)
		if err := s.Set(context.Background(), "p", fmt.Sprintf("k%d.md", i%4), text); err != nil {
			panic(err)
		}
		var changes []kv.Change
		for k := range batchKeys {
			changes = append(changes, kv.Change{Key: fmt.Sprintf("%d/%d.md", k%5, k), Value: fmt.Sprint(i), Delete: i%7 == 6})
		}
		if err := s.Apply(context.Background(), "batch", changes); err != nil {
			panic(err)
		}
		fmt.Println(i)
	}
}

// batchKeys is how many keys the writer changes together.
const batchKeys = 40

// TestKVSurvivesKill: whenever a writer is killed, what it said is stored is
// there, each value is whole, and what it changes together is all of one time.
func TestKVSurvivesKill(t *testing.T) {
	features.Proves(t, "K28")
	dir := t.TempDir()
	for round := range soak.Count(6, 60, 300) {
		cmd := exec.CommandContext(t.Context(), os.Args[0])
		cmd.Env = append(os.Environ(), "STORE_TEST_WRITER="+dir)
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines, said := bufio.NewScanner(out), -1
		for range 4 + round%5 {
			lines.Scan()
		}
		time.Sleep(time.Duration(round%13) * 700 * time.Microsecond)
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		said, _ = strconv.Atoi(lines.Text())
		for lines.Scan() {
			said, _ = strconv.Atoi(lines.Text())
		}
		_ = cmd.Wait() // it was killed
		s := openKV(t, dir, kv.Options{})
		keys, err := s.List(t.Context(), "p", "")
		if err != nil || len(keys) != 4 {
			t.Fatalf("list: %q, %v", keys, err)
		}
		for _, k := range keys {
			v, ok, err := s.Get(t.Context(), "p", k)
			if !ok || err != nil || len(v) != 50_000 || strings.Trim(v, v[:1]) != "" {
				t.Errorf("%s: half a value of %d bytes, %v", k, len(v), err)
			}
		}
		batchIsWhole(t, s, said)
		if left, _ := filepath.Glob(filepath.Join(dir, ".batch*")); round%2 == 1 && len(left) > 1 {
			t.Errorf("it leaves %q", left)
		}
	}
}

// batchIsWhole fails unless all keys of the batch hold what one change stored, the
// one that the writer said last or the one after.
func batchIsWhole(t *testing.T, s *kv.Folder, said int) {
	t.Helper()
	keys, err := s.List(t.Context(), "batch", "")
	if err != nil {
		t.Fatal(err)
	}
	seen := make(map[string]int)
	for _, k := range keys {
		v, _, err := s.Get(t.Context(), "batch", k)
		if err != nil {
			t.Fatal(err)
		}
		seen[v]++
	}
	deletes := func(i int) bool { return i%7 == 6 }
	switch {
	case len(seen) == 0 && (deletes(said) || deletes(said+1)):
	case !deletes(said) && seen[fmt.Sprint(said)] == batchKeys && len(seen) == 1:
	case !deletes(said+1) && seen[fmt.Sprint(said+1)] == batchKeys && len(seen) == 1:
	default:
		t.Fatalf("after %d there are %v", said, seen)
	}
}

// TestKVFinishesBatch: changes whose writer ended half way are seen together by
// whoever reads next, and by a handle that was open before.
func TestKVFinishesBatch(t *testing.T) {
	dir := t.TempDir()
	before := openKV(t, dir, kv.Options{})
	if err := before.Set(t.Context(), "p", "a.md", "old"); err != nil {
		t.Fatal(err)
	}
	batch := filepath.Join(dir, ".batch")
	if err := os.Mkdir(batch, 0o700); err != nil {
		t.Fatal(err)
	}
	list := `{"namespace":"p","files":[{"name":"a.md","value":"0"},{"name":"b/c.md","value":"1"},{"name":"d.md",` +
		`"value":"2"},{"name":"e.md"}]}`
	for name, text := range map[string]string{"list.json": list, "0": "new", "1": "new"} { // d.md was moved
		if err := os.WriteFile(filepath.Join(batch, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "p", "d.md"), []byte("new"), 0o600); err != nil {
		t.Fatal(err)
	}
	keys, err := before.List(t.Context(), "p", "")
	v, _, getErr := before.Get(t.Context(), "p", "a.md")
	if !slices.Equal(keys, []string{"a.md", "b/c.md", "d.md"}) || v != "new" || err != nil || getErr != nil {
		t.Errorf("%q, %q, %v, %v", keys, v, err, getErr)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".batch*")); len(left) > 0 {
		t.Errorf("it leaves %q", left)
	}
}

// TestKVApplyLeavesNothing: a batch that cannot be written leaves no folders.
func TestKVApplyLeavesNothing(t *testing.T) {
	dir := t.TempDir()
	s := openKV(t, dir, kv.Options{})
	if err := s.Set(t.Context(), "p", "a/b.md", "1"); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "p", "x"), nil, 0o600); err != nil { // where a folder would be
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "p", "folder.md", "y"), 0o700); err != nil { // where a file would be
		t.Fatal(err)
	}
	for _, key := range []string{"x/y.md", "folder.md"} {
		err := s.Apply(t.Context(), "p", []kv.Change{{Key: "a/c/d.md", Value: "2"}, {Key: key, Value: "2"}})
		if abi.CodeOf(err) != abi.CodeInternal {
			t.Errorf("%s: %v", key, err)
		}
	}
	if err := s.Apply(t.Context(), "p", []kv.Change{{Key: "folder.md", Delete: true}}); err != nil {
		t.Errorf("a folder is no value: %v", err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "p", "a", "*")); len(left) != 1 {
		t.Errorf("it leaves %q", left)
	}
	if keys, err := s.List(t.Context(), "p", ""); len(keys) != 1 || err != nil {
		t.Errorf("%q, %v", keys, err)
	}
}

// TestFullDisk: a batch is made as a whole or not at all on a disk that is full,
// whatever it is full of.
func TestFullDisk(t *testing.T) {
	dir := t.TempDir()
	var changes []kv.Change
	for i := range 60 {
		changes = append(changes, kv.Change{Key: fmt.Sprintf("%d/%d/%d.md", i%5, i%15, i),
			Value: strings.Repeat("x", 5000)})
	}
	refused := 0
	for _, options := range []string{"size=40k", "size=300k", "size=470k", "size=1m,nr_inodes=30",
		"size=1m,nr_inodes=70", "size=1m,nr_inodes=84", "size=1m"} {
		t.Run(options, func(t *testing.T) {
			if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "mode=700,"+options, "tmpfs",
				dir).CombinedOutput(); err != nil {
				t.Skipf("no disk of its own can be had here: %v: %s", err, out)
			}
			defer exec.Command("umount", "-l", dir).Run()
			s, err := kv.Open(filepath.Join(dir, "kv"), kv.Options{})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			err = s.Apply(t.Context(), "p", changes)
			keys, listErr := s.List(t.Context(), "p", "")
			if listErr != nil || err == nil && len(keys) != len(changes) || err != nil && len(keys) > 0 {
				t.Errorf("%v, and %d keys, %v", err, len(keys), listErr)
			}
			if err != nil {
				refused++
			}
		})
	}
	if refused == 7 {
		t.Error("there was room for none")
	}
}

// SECURITY: filling the disk through KV. What values take on the disk counts: empty
// ones in deep folders do.
func TestKVQuotaOfDisk(t *testing.T) {
	dir := t.TempDir()
	opts := kv.Options{MaxDiskBytes: 400 << 10}
	s := openKV(t, dir, opts)
	deep := strings.Repeat("x/", 15)
	n := 0
	for ; ; n++ {
		err := s.Set(t.Context(), "p", fmt.Sprintf("%d/%s", n, deep[:len(deep)-1]), "")
		if abi.CodeOf(err) == abi.CodeQuota {
			break
		}
		if err != nil || n > 1000 {
			t.Fatal(n, err)
		}
	}
	taken := 0
	err := filepath.WalkDir(filepath.Join(dir, "p"), func(string, fs.DirEntry, error) error {
		taken += 4 << 10
		return nil
	})
	if err != nil || taken > 404<<10 || n < 5 {
		t.Errorf("%d values, and %d bytes on the disk: %v", n, taken, err)
	}
	// Another handle counts the same, and what is deleted makes room.
	if err := openKV(t, dir, opts).Set(t.Context(), "p", "y/"+deep[:len(deep)-1], ""); abi.CodeOf(err) != abi.CodeQuota {
		t.Errorf("another handle: %v", err)
	}
	if err := s.Delete(t.Context(), "p", "0/"+deep[:len(deep)-1]); err != nil {
		t.Fatal(err)
	}
	if err := s.Set(t.Context(), "p", "y/"+deep[:len(deep)-1], ""); err != nil {
		t.Errorf("there is room: %v", err)
	}
	if err := s.Apply(t.Context(), "p", []kv.Change{{Key: "z/" + deep[:len(deep)-1]}}); abi.CodeOf(
		err) != abi.CodeQuota {
		t.Errorf("a batch: %v", err)
	}
}

// FuzzKV: any key that is one comes back from List and Get, whatever it says.
func FuzzKV(f *testing.F) {
	for _, k := range append(slices.Clone(oddKeys), "../x", "a//b", "\x00", "\xff", "") {
		f.Add(k)
	}
	f.Fuzz(func(t *testing.T, key string) {
		s := openKV(t, t.TempDir(), kv.Options{})
		err := s.Set(t.Context(), "p", key, key)
		if bad := abi.CheckKey(key) != nil; bad != (err != nil) {
			t.Fatalf("set: %v", err)
		} else if bad {
			return
		}
		if keys, err := s.List(t.Context(), "p", key); !slices.Equal(keys, []string{key}) || err != nil {
			t.Fatalf("list: %q, %v", keys, err)
		}
		if v, ok, err := s.Get(t.Context(), "p", key); v != key || !ok || err != nil {
			t.Fatalf("get: %q, %v, %v", v, ok, err)
		}
	})
}

// FuzzKVFileNames: whatever a person calls a file, a key that is listed can be
// read.
func FuzzKVFileNames(f *testing.F) {
	for _, n := range []string{"a", "a.md", "a.kv", "%41.kv", "%2E.kv", "a~", "x%zz.md", "é.md", ".hidden", "a.kv.kv"} {
		f.Add(n)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if !filepath.IsLocal(name) || strings.ContainsAny(name, "/\x00") || len(name) > 255 || name == "." {
			return
		}
		dir := t.TempDir()
		s := openKV(t, dir, kv.Options{})
		if err := os.Mkdir(filepath.Join(dir, "p"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "p", name), []byte("x"), 0o600); err != nil {
			return // not a name here
		}
		keys, err := s.List(t.Context(), "p", "")
		if err != nil || len(keys) > 1 {
			t.Fatalf("list: %q, %v", keys, err)
		}
		for _, k := range keys {
			if v, ok, err := s.Get(t.Context(), "p", k); v != "x" || !ok || err != nil {
				t.Fatalf("get %q: %q, %v, %v", k, v, ok, err)
			}
		}
	})
}
