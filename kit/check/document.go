package check

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/runtime"
)

// document is an input that is none.
type document struct{ name, text string }

// documentRules are about the bytes that a hook is given.
func (s *subject) documentRules() []abitest.Rule {
	return []abitest.Rule{
		s.survives("no bytes",
			"a hook can be called without a document, by hand or by a host that has none: that is no reason to crash",
			"look at the length of the input before decoding it, and answer nothing where it is 0",
			document{"no bytes", ""}),
		s.survives("null", "the document can be null: that is no reason to crash",
			"look after decoding whether there is a document, and answer nothing where there is none",
			document{"null", "null"}),
		s.survives("empty object", "the document can lack every field: messages, session, budget, config; older hosts "+
			"and tests leave things out",
			"take each field for one that may be missing: without messages there is nothing to say, without a budget no room",
			document{"{}", "{}"},
			document{"an input without messages", noMessages + "}"},
			document{"an input without a budget",
				noMessages + `,"messages":[{"id":"a","role":"user","content":"hi","tokens":5,"unit":0}]}`}),
		s.survives("no json", "what is no JSON is an error, and no crash, endless loop or flood of memory",
			"return 1 with the text of the decoder's error (error_write); have it stop at a depth of nesting", noJSON()...),
		{
			Name: "unknown fields",
			Explanation: "fields are added within a version of the abi: a plugin of today has to answer the hosts of " +
				"tomorrow, and in the same way",
			Fix:  "let the decoder ignore fields it does not know",
			Skip: s.handles(abi.HookPreCompact), Check: s.unknownFields,
		},
		{
			Name: "nothing granted",
			Explanation: "an operator may grant nothing of what the manifest asks for: every such host call is then an " +
				"error of code denied, and no reason to crash",
			Fix:  "look at the error of each host call, and answer with what can be said without",
			Skip: s.asksForNothing(), Check: s.nothingGranted,
		},
	}
}

// noMessages begins an input.
const noMessages = `{"abi":1,"hook":"pre_compact","session":{"id":"s","context_window":null}`

func noJSON() []document {
	return []document{
		{"half a document", `{"abi":1,"hook":"pre_compact","messages":[{"id":"a","role":"us`},
		{"a list", `[1,2,3]`},
		{"a text", `"pre_compact"`},
		{"bytes that are no text", "\xff\xfe\x00{"},
		{"10,000 brackets", strings.Repeat("[", 10_000)},
		{"a megabyte of one letter", strings.Repeat("a", 1<<20)},
		{"wrong types", `{"abi":"one","messages":{"a":1},"budget":[],"config":7,"session":null}`},
	}
}

// survives is a rule that every hook answers documents, or fails in an orderly
// way.
func (s *subject) survives(name, explanation, fix string, docs ...document) abitest.Rule {
	return abitest.Rule{Name: name, Explanation: explanation, Fix: fix, Check: func(ctx context.Context) error {
		p, err := s.with(ctx, nil)
		if err != nil {
			return err
		}
		for _, hook := range s.info.Hooks {
			for _, d := range docs {
				out, err := s.raw(ctx, p, hook, []byte(d.text))
				if err = orderly(err); err == nil {
					_, err = runtime.CheckOutput(out)
				}
				if err != nil {
					return fmt.Errorf("%s on %s: %w", hook, d.name, err)
				}
			}
		}
		return nil
	}}
}

// orderly is the error of a call that crashed; a plugin that returned an error
// of its own did not.
func orderly(err error) error {
	e := abi.AsError(err)
	if err == nil || e.Code == abi.CodeExit && e.Err == nil && !strings.Contains(e.Message, "panic: ") {
		return nil
	}
	return err
}

func (s *subject) unknownFields(ctx context.Context) error {
	p, err := s.with(ctx, nil)
	if err != nil {
		return err
	}
	in := s.input(4)
	in.Config = p.Info().Config // the runtime adds nothing to a document
	plain, err := json.Marshal(in)
	if err != nil {
		return err
	}
	var doc any
	if err := json.Unmarshal(plain, &doc); err != nil {
		return err
	}
	later, err := json.Marshal(addFields(doc))
	if err != nil {
		return err
	}
	before, err := s.raw(ctx, p, abi.HookPreCompact, plain)
	if err != nil {
		return fmt.Errorf("a session of 4 exchanges: %w", err)
	}
	after, err := s.raw(ctx, p, abi.HookPreCompact, later)
	if err != nil {
		return fmt.Errorf("the same with fields added: %w", err)
	}
	if !bytes.Equal(before, after) {
		return fmt.Errorf("with fields added the answer is another: %s", differ(before, after))
	}
	return nil
}

// addFields puts a field of a later version into every object of the ABI.
func addFields(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for name, inside := range v {
			if name != "config" && name != "meta" {
				v[name] = addFields(inside)
			}
		}
		v["field_of_tomorrow"] = map[string]any{"list": []any{1, "two", nil}}
	case []any:
		for i := range v {
			v[i] = addFields(v[i])
		}
	}
	return v
}

func (s *subject) asksForNothing() string {
	if len(s.manifest.Capabilities) == 0 {
		return "the plugin asks for no capability"
	}
	return ""
}

func (s *subject) nothingGranted(ctx context.Context) error {
	o := s.opts.Plugin
	o.Grants = runtime.Grants{}
	p, err := s.load(ctx, o)
	if err != nil {
		return err
	}
	defer p.Close(context.WithoutCancel(ctx))
	for _, hook := range s.info.Hooks {
		in := s.input(8)
		in.Hook = hook
		if _, _, err := s.call(ctx, p, in); orderly(err) != nil {
			return fmt.Errorf("%s: %w", hook, err)
		}
	}
	return nil
}
