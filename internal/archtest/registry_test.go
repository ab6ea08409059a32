package archtest_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/kagewasm/kagewasm/internal/shared"
)

// registries are the hosts of package registries, with a line for each dot, so that this file names none.
var registries = strings.Fields(strings.ReplaceAll(`
registry_npmjs_org registry_npmjs_com registry_yarnpkg_com npm_pkg_github_com
proxy_golang_org sum_golang_org index_golang_org goproxy_io goproxy_cn
index_crates_io static_crates_io pypi_org pypi_python_org files_pythonhosted_org
rubygems_org repo_maven_apache_org repo1_maven_org api_nuget_org`, "_", "."))

// TestNoRegistryIsNamed: packages come from where the machine is set up to take them, a mirror perhaps or nothing at
// all. A lock file holds versions and checksums; npm leaves addresses out with omit-lockfile-registry-resolved.
func TestNoRegistryIsNamed(t *testing.T) {
	named, err := naming(os.DirFS(shared.Root(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, place := range named {
		t.Errorf("%s: name no registry; npm config set omit-lockfile-registry-resolved true, and make the lock file again",
			place)
	}
}

// naming lists the places in a tree that name a registry. What is built or installed there is not the project's.
func naming(tree fs.FS) (places []string, err error) {
	err = fs.WalkDir(tree, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "build", "node_modules"}, d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		data, err := fs.ReadFile(tree, name)
		if err != nil {
			return err
		}
		data = bytes.ToLower(data)
		for _, host := range registries {
			if at := bytes.Index(data, []byte(host)); at >= 0 {
				places = append(places, fmt.Sprintf("%s:%d: %s", name, 1+bytes.Count(data[:at], []byte("\n")), host))
			}
		}
		return nil
	})
	return places, err
}

// TestNaming: the look itself, at trees that are made here.
func TestNaming(t *testing.T) {
	for _, host := range registries {
		address := "https://" + strings.ToUpper(host[:1]) + host[1:] + "/left-pad"
		for name, found := range map[string]bool{
			"package-lock.json": true, "docs/setup.md": true, ".github/workflows/ci.yml": true, ".npmrc": true,
			"build/agents/package-lock.json": false, "bench/node_modules/a/package.json": false, ".git/config": false,
		} {
			t.Run(name+" "+host, func(t *testing.T) {
				tree := fstest.MapFS{name: {Data: []byte("{\n  \"resolved\": \"" + address + "\"\n}\n")},
					"main.go": {Data: []byte("package main // registry, proxy, crates\n")}}
				var want []string
				if found {
					want = []string{name + ":2: " + host}
				}
				if got, err := naming(tree); err != nil || !slices.Equal(got, want) {
					t.Errorf("%v, %v, want %v", got, err, want)
				}
			})
		}
	}
}
