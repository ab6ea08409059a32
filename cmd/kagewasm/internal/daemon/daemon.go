// Package daemon finds the server of a state folder, for the commands that agents call:
// [Find] asks one that runs, [Start] starts one that ends by itself when nobody needs it.
package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/state"
)

// Address is where a server is, as serve --json prints it.
type Address struct {
	URL    string `json:"url,omitempty"`
	Socket string `json:"socket,omitempty"`
	// TokenFile holds what clients of the URL have to show.
	TokenFile string `json:"token_file,omitempty"`
	// Open is where a browser is sent to; it holds the token.
	Open string `json:"open,omitempty"`
	PID  int    `json:"pid,omitempty"`
}

// Client speaks to the server of a state folder over its socket.
type Client struct {
	http *http.Client
	dir  string
}

// dialTime is how long a socket may take to answer that somebody listens on.
const dialTime = time.Second

// ErrNone is the cause of the error where no server runs.
var ErrNone = errors.New("no server runs")

// Socket is where the server of a state folder listens. It is empty where no program could be told: programs in Node
// find no sockets on Windows, and a path of one has at most some 100 bytes.
func Socket(dir string) string {
	path := filepath.Join(dir, state.SocketFile)
	if goruntime.GOOS == "windows" || len(path) > 100 {
		return ""
	}
	return path
}

// Find returns a client of the server of a state folder. Its error has the cause
// [ErrNone] where none runs.
func Find(ctx context.Context, dir string) (*Client, error) {
	socket := filepath.Join(dir, state.SocketFile)
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{Timeout: dialTime}).DialContext(ctx, "unix", socket)
	}
	probe, err := dial(ctx, "", "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", dir, ErrNone)
	}
	probe.Close()
	return &Client{dir: dir, http: &http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConns: 4,
		IdleConnTimeout: time.Minute}}}, nil
}

// Start is Find, and starts a server where none runs, which ends when nobody has asked
// for anything for a while. args are further flags of serve.
func Start(ctx context.Context, dir string, idle time.Duration, args ...string) (*Client, error) {
	if c, err := Find(ctx, dir); err == nil {
		return c, nil
	}
	self, err := os.Executable()
	if err == nil {
		dir, err = filepath.Abs(dir)
	}
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(self, append([]string{"serve", "--on-demand", "--listen", "none", "--idle", idle.String(),
		"--state", dir}, args...)...)
	cmd.Dir = dir // not the folder that it is started in, which may go
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for gone := false; ; {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ended:
			gone, ended = true, nil
		case <-tick.C:
		}
		other := gone && state.Taken(dir) // one that was faster may not listen yet
		c, err := Find(ctx, dir)
		if err == nil {
			return c, nil
		}
		if gone && !other {
			return nil, fmt.Errorf("%w, and none could be started: kagewasm serve --state %s says why", err, dir)
		}
	}
}

// Stop ends the server of a state folder, and waits until it has. Its error has the cause [ErrNone] where none runs.
func Stop(ctx context.Context, dir string) error {
	c, err := Find(ctx, dir)
	if err != nil {
		return err
	}
	defer c.Close()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://localhost/stop", nil)
	if err != nil {
		return err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusAccepted {
		return fmt.Errorf("%s: the server does not end by itself (%s): interrupt it", dir, resp.Status)
	}
	return state.Unserved(ctx, dir)
}

// Do asks the server: in and out are JSON, nil for none; headers are names and values in
// turn. An error of the server's is an abi.Error.
func (c *Client) Do(ctx context.Context, method, path string, in, out any, headers ...string) error {
	var body io.Reader
	if in != nil {
		r, w := io.Pipe()
		go func() { w.CloseWithError(json.NewEncoder(w).Encode(in)) }()
		body = r
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://localhost/api/v1"+path, body)
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/json")
	for i := 0; i+1 < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 400 {
		var p struct {
			Code   abi.Code `json:"code"`
			Detail string   `json:"detail"`
			Hint   string   `json:"hint"`
		}
		if err := json.NewDecoder(resp.Body).Decode(&p); err != nil {
			return fmt.Errorf("%s %s: %s", method, path, resp.Status)
		}
		return &abi.Error{Code: p.Code, Op: "serve", Message: p.Detail, Hint: p.Hint}
	}
	if out == nil {
		_, err := io.Copy(io.Discard, resp.Body)
		return err
	}
	return json.NewDecoder(resp.Body).Decode(out)
}

// Close ends the connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }
