package kagewasm_test

import (
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/hooks"
	"github.com/kagewasm/kagewasm/internal/hosttest"
)

type (
	fakePlugin  = hosttest.Plugin
	memory      = hosttest.Memory
	wordCounter = hosttest.Words
)

const longWindow = hosttest.LongWindow

var (
	answers      = hosttest.Answers
	chat         = hosttest.Chat
	compact      = hosttest.Compact
	compactor    = hosttest.Compactor
	has          = hosttest.Has
	ids          = hosttest.IDs
	inForm       = hosttest.InForm
	long         = hosttest.Long
	newCompactor = hosttest.New
	renamed      = hosttest.Renamed
	request      = hosttest.Request
	summary      = hosttest.Summary
	writes       = hosttest.Writes
)

func plugins[P hooks.Plugin](list ...P) []hooks.Plugin { return hosttest.Plugins(list...) }

func fails(code abi.Code) func(*abi.Input) (*abi.Output, error) {
	return func(*abi.Input) (*abi.Output, error) {
		return nil, &abi.Error{Code: code, Phase: abi.PhaseCall, Message: "on purpose"}
	}
}
