package plug

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"time"
)

// Who is what a proxy says of itself at [WhoPath].
type Who struct {
	Kagewasm string `json:"kagewasm"` // the build
	// Passing is why it passes requests on and compacts nothing; empty where it compacts.
	Passing string `json:"passing,omitempty"`
	// Without are the plugins that cannot be loaded, each with why: it compacts without them.
	Without []string `json:"without,omitempty"`
}

// WhoPath is where a proxy says what it is. No provider has such a path.
const WhoPath = "/.kagewasm"

// startTime is how long a service manager may take to start the proxy.
const startTime = 10 * time.Second

// Answers asks the proxy at an address what it is. Where it was just started it is waited for.
func Answers(ctx context.Context, address string, started bool) (w Who, err error) {
	ctx, cancel := context.WithTimeout(ctx, startTime)
	defer cancel()
	for {
		if w, err = who(ctx, address); err == nil || !started {
			return w, err
		}
		select {
		case <-ctx.Done():
			return w, err
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func who(ctx context.Context, address string) (w Who, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+WhoPath, nil)
	if err != nil {
		return w, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		if s, ok := errors.AsType[*os.SyscallError](err); ok {
			err = s.Err
		}
		return w, fmt.Errorf("nothing answers at %s: %w", address, err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&w); err != nil || w.Kagewasm == "" {
		return w, fmt.Errorf("something else than kagewasm proxy answers at %s", address)
	}
	return w, nil
}
