package abi_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
)

func TestModelRequestCheck(t *testing.T) {
	hi := []abi.ModelMessage{{Role: abi.RoleUser, Content: "hi"}, {Role: abi.RoleAssistant, Content: "hello"}}
	for why, tc := range map[string]struct {
		r  abi.ModelRequest
		ok bool
	}{
		"a prompt":                  {abi.ModelRequest{Prompt: "hi"}, true},
		"a conversation":            {abi.ModelRequest{Messages: hi}, true},
		"neither":                   {abi.ModelRequest{System: "be brief"}, false},
		"both":                      {abi.ModelRequest{Prompt: "hi", Messages: hi}, false},
		"less than no tokens":       {abi.ModelRequest{Prompt: "hi", MaxTokens: -1}, false},
		"system belongs in System":  {abi.ModelRequest{Messages: []abi.ModelMessage{{Role: abi.RoleSystem}}}, false},
		"a tool that nobody called": {abi.ModelRequest{Messages: []abi.ModelMessage{{Role: abi.RoleTool}}}, false},
	} {
		t.Run(why, func(t *testing.T) {
			err := tc.r.Check()
			if (err == nil) != tc.ok || err != nil && abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestConversation(t *testing.T) {
	messages := []abi.ModelMessage{{Role: abi.RoleUser, Content: "a"}, {Role: abi.RoleUser, Content: "b"}}
	if got := (&abi.ModelRequest{Messages: messages}).Conversation(); !slices.Equal(got, messages) {
		t.Errorf("messages became %v", got)
	}
	if got := (&abi.ModelRequest{Prompt: "a"}).Conversation(); !slices.Equal(got, messages[:1]) {
		t.Errorf("a prompt became %v", got)
	}
}
