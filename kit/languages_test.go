package kit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/compilers"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/plugintest"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/kit"
	"github.com/kagewasm/kagewasm/runtime"
)

// project is a new plugin in a language.
func project(t *testing.T, lang string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a [plugin]") // Glob's own characters
	if _, err := kit.New(kit.Project{Name: "tried", Lang: lang, Dir: dir}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// TestBuildWithoutCompiler: what is missing is said, and how to get it.
func TestBuildWithoutCompiler(t *testing.T) {
	for lang, want := range map[string][2]string{
		"go": {"the go command: not found", "go.dev"},
		"c":  {"the clang command: not found", "apt-get install clang lld wasi-libc"},
		"ts": {"the node command: not found", "npm ci"},
	} {
		t.Run(lang, func(t *testing.T) {
			dir := project(t, lang)
			t.Setenv("PATH", t.TempDir())
			_, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir()})
			if e := abi.AsError(err); err == nil || e.Code != abi.CodeUsage || e.Message != want[0] ||
				!strings.Contains(e.Hint, want[1]) {
				t.Errorf("%v, and to do %q", e, e.Hint)
			}
		})
	}
	t.Run("node without the packages", func(t *testing.T) {
		dir := project(t, "ts")
		_, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir(), Compiler: "go"}) // any program
		if e := abi.AsError(err); err == nil || e.Code != abi.CodeUsage || !strings.Contains(e.Message, "not installed") ||
			!strings.Contains(e.Hint, "npm ci") {
			t.Errorf("%v, and to do %q", e, e.Hint)
		}
	})
}

// TestBuildSaysWhatTheCompilerSays: errors in the source name file and line; what
// the compiler cannot explain has a hint.
func TestBuildSaysWhatTheCompilerSays(t *testing.T) {
	for _, c := range []struct {
		why, lang, file, source string
		says, hint              string
	}{
		{"a type error", "ts", "assembly/plugin.ts",
			"export function pre_compact(): i32 { const x: i32 = \"a\"; return x; }\n", "assembly/plugin.ts(1,", ""},
		{"a package that is not there", "ts", "assembly/plugin.ts",
			"import { x } from \"json-as\";\nexport function pre_compact(): i32 { return x; }\n", "json-as", "npm ci"},
		{"a syntax error", "c", "plugin.c", "#include \"kagewasm.h\"\nKW_HOOK(pre_compact) { return 0 }\n", "plugin.c:2:",
			""},
		{"a module that the abort of asconfig.json is not in", "ts", "asconfig.json",
			`{"entries":["assembly/plugin.ts"],"options":{"use":["abort=assembly/kagewasm/abort"]}}`,
			"which the plugin does not import", `from "./kagewasm"`},
		{"a function that nothing defines", "c", "plugin.c",
			"#include \"kagewasm.h\"\n// missing is far away\n/* and\nmissing */ static const char *s = \"missing\";\n" +
				"int missing(void);\nKW_HOOK(pre_compact) { return s[0] + missing(); }\n",
			"plugin.c:5: missing", "define the function"},
		{"an unknown function", "c", "plugin.c", "#include \"kagewasm.h\"\nKW_HOOK(pre_compact) { return missing(); }\n",
			"missing", ""},
	} {
		t.Run(c.why+" in "+c.lang, func(t *testing.T) {
			if c.why == "a second hook without a handler" {
				soak.Only(t, "builds one more plugin")
			}
			e := buildFails(t, c.lang, c.file, c.source)
			if e.Code != abi.CodeBadInput || !strings.Contains(e.Message, c.says) ||
				!strings.Contains(e.Hint, c.hint) || (c.hint == "") != (e.Hint == "") {
				t.Errorf("%v, and to do %q", e, e.Hint)
			}
		})
	}
}

// buildFails builds a new project of a language in which a file was written, and
// returns why that fails.
func buildFails(t *testing.T, lang, file, source string) *abi.Error {
	t.Helper()
	dir := project(t, lang)
	compilers.Prepare(t, lang, dir)
	if err := os.WriteFile(filepath.Join(dir, file), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir()})
	if err == nil {
		t.Fatal("it was built")
	}
	return abi.AsError(err)
}

// TestBuildRefuses: what a host would refuse is said before, with the place in the
// source and what to write.
func TestBuildRefuses(t *testing.T) {
	features.Proves(t, "N6")
	for _, c := range []struct {
		why, lang, file, source string
		says, hint              string
	}{
		{"a hook that is not exported", "c", "plugin.c", "int pre_compact(void) { return 0; }\n",
			"plugin.yaml:6:9: the manifest names the hook pre_compact, which the module does not export", "KW_HOOK"},
		{"a hook that is not exported", "ts", "assembly/plugin.ts",
			"import { Output } from \"./kagewasm\";\nexport function turn_end(): i32 { return new Output().send(); }\n",
			"does not export", "export function"},
		{"chance and a console", "ts", "assembly/plugin.ts",
			"import { Output } from \"./kagewasm\";\n/* Math.random */ const s = \"Math.random\"; // is chance\n" +
				"export function pre_compact(): i32 {\n  const r = Math.random();\n" +
				"  console.log(r.toString());\n  return new Output().send();\n}\n",
			"assembly/plugin.ts:4: Math.random\nassembly/plugin.ts:5: console\n", `hostCall("log"`},
		{"a hook without a handler", "go", "plugin.yaml",
			"name: tried\nversion: 0.1.0\nabi: 1\nhooks: [pre_compact, turn_end]\n",
			"plugin.yaml:4:22: the manifest names the hook turn_end, which has no handler", "set TurnEnd"},
		{"no plugin registered", "go", "main.go",
			"package main\n\nimport \"github.com/kagewasm/kagewasm/abi/guest\"\n\nfunc main() { guest.Main() }\n",
			"no hook has a handler", "guest.Register"},
		{"a second hook without a handler", "go", "plugin.yaml",
			"name: tried\nversion: 0.1.0\nabi: 1\nroles: [compactor]\nhooks: [pre_compact, post_compact]\n",
			"the hook post_compact, which has no handler", "PostCompact"},
	} {
		t.Run(c.why+" in "+c.lang, func(t *testing.T) {
			if c.why == "a second hook without a handler" {
				soak.Only(t, "builds one more plugin")
			}
			e := buildFails(t, c.lang, c.file, c.source)
			if e.Code != abi.CodeRefused || !strings.Contains(e.Message, c.says) ||
				!strings.Contains(e.Hint, c.hint) {
				t.Errorf("%v, and to do %q", e, e.Hint)
			}
		})
	}
}

// TestBuildWithoutVersionOrABI: what a manifest lacks is said with what to write.
func TestBuildWithoutVersionOrABI(t *testing.T) {
	for lacks, manifest := range map[string]string{
		"version is missing: write version: 0.1.0": "name: tried\nabi: 1\n",
		"abi is missing: write abi: 1":             "name: tried\nversion: 0.1.0\n",
	} {
		t.Run(lacks, func(t *testing.T) {
			dir := project(t, "c")
			if err := os.WriteFile(filepath.Join(dir, kit.ManifestFile), []byte(manifest), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir()})
			if abi.CodeOf(err) != abi.CodeBadInput || !strings.Contains(err.Error(), lacks) {
				t.Errorf("%v", err)
			}
		})
	}
}

// typeScript builds and loads a compactor with an entry of this source.
func typeScript(t *testing.T, source string) *runtime.Plugin {
	t.Helper()
	dir := project(t, "ts")
	compilers.Prepare(t, "ts", dir)
	if err := os.WriteFile(filepath.Join(dir, "assembly", "plugin.ts"), []byte(source), 0o644); err != nil {
		t.Fatal(err)
	}
	manifest := "name: tried\nversion: 0.1.0\nabi: 1\nroles: [compactor]\n"
	if err := os.WriteFile(filepath.Join(dir, kit.ManifestFile), []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	built, err := kit.Build(t.Context(), kit.Options{Dir: dir, Out: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	wasm, err := os.ReadFile(built.Path)
	if err != nil {
		t.Fatal(err)
	}
	return plugintest.MustLoad(t, plugintest.New(t, runtime.Options{}), wasm, runtime.PluginOptions{})
}

// TestTypeScriptWithoutTheKit: an entry that imports nothing builds, and what it throws is told
// with file and line.
func TestTypeScriptWithoutTheKit(t *testing.T) {
	features.Proves(t, "N6")
	p := typeScript(t, "export function pre_compact(): i32 {\n  return 0;\n}\n\n"+
		"export function turn_end(): i32 {\n  throw new Error(\"no turn\");\n}\n")
	if out, _, err := p.CallHook(t.Context(), &abi.Input{Hook: abi.HookPreCompact}); err != nil || len(out) > 0 {
		t.Errorf("it answers %q, %v", out, err)
	}
	_, _, err := p.CallHook(t.Context(), &abi.Input{Hook: abi.HookTurnEnd})
	const want = "no turn (assembly/plugin.ts:6:3); then: unreachable"
	if e := abi.AsError(err); err == nil || e.Code != abi.CodeTrap || !strings.HasPrefix(e.Message, want) {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestTypeScriptAnswersWhatACompactorMay: the whole answer of a compactor can be
// written in TypeScript, and what a message says be read.
func TestTypeScriptAnswersWhatACompactorMay(t *testing.T) {
	features.Proves(t, "N6")
	const source = `import { Input, Output, OutputMessage } from "./kagewasm";

export function pre_compact(): i32 {
  const output = new Output();
  const messages = new Input().messages;
  for (let i = 0; i < messages.length; i++) {
    const m = messages[i];
    if (m.isError) output.messages.push(OutputMessage.shorten(m, "failed in unit " + m.unit.toString()));
    else if (m.pinned) output.messages.push(OutputMessage.keep(m.id));
    else output.superseded.push(m.id);
  }
  output.messages.push(OutputMessage.summary('said "this"'));
  output.messages.push(OutputMessage.inject("and that"));
  return output.send();
}

export function turn_end(): i32 {
  const output = new Output();
  output.cancel = true;
  output.reason = "not now";
  output.unstored = "a fact";
  return output.send();
}
`
	p := typeScript(t, source)
	in := &abi.Input{Hook: abi.HookPreCompact, Messages: []abi.InputMessage{
		{Message: abi.Message{ID: "m1", Role: abi.RoleUser, Content: abi.Text("Do it.")}, Pinned: true},
		{Message: abi.Message{ID: "m2", Role: abi.RoleAssistant, Content: abi.Text("Fine.")}, Unit: 1},
		{Message: abi.Message{ID: "m3", Role: abi.RoleTool, ToolCallID: "c1", IsError: true, Kind: abi.KindBash,
			Content: abi.Text("a long trace")}, Unit: 7},
	}}
	for hook, want := range map[abi.Hook]string{
		abi.HookPreCompact: `{"messages":[{"ref":"m1"},{"id":"m3","role":"tool","kind":"bash","tool_call_id":"c1",` +
			`"content":"failed in unit 7"},{"role":"user","kind":"compaction_summary","content":"said \"this\""},` +
			`{"role":"user","kind":"injected","content":"and that"}],"superseded":["m2"]}`,
		abi.HookTurnEnd: `{"unstored":"a fact","cancel":true,"reason":"not now"}`,
	} {
		t.Run(string(hook), func(t *testing.T) {
			in := *in
			in.Hook = hook
			if got, _, err := p.CallHook(t.Context(), &in); err != nil || string(got) != want {
				t.Errorf("%s, %v\nwant %s", got, err, want)
			}
		})
	}
}
