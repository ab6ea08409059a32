package egress

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"github.com/kagewasm/kagewasm/abi"
)

// fault says why a request failed. The words of the cause tell of the host's
// network, so a guest gets its kind alone.
func fault(caller, timed context.Context, timeout time.Duration, o origin, err error) error {
	var own *abi.Error
	switch {
	case errors.As(err, &own):
		return own
	case errors.Is(caller.Err(), context.Canceled):
		return &abi.Error{Code: abi.CodeCanceled, Message: "the caller gave up", Err: err}
	case caller.Err() != nil:
		return &abi.Error{Code: abi.CodeDeadline, Message: "the time of the call is up", Err: err}
	case timed.Err() != nil:
		return &abi.Error{
			Code: abi.CodeDeadline, Message: fmt.Sprintf("%s: no answer within %d ms", o, timeout.Milliseconds()), Err: err,
		}
	}
	return &abi.Error{Code: abi.CodeNetwork, Message: fmt.Sprintf("%s: %s", o, kind(err)), Err: err}
}

func kind(err error) string {
	var name *net.DNSError
	var cert *tls.CertificateVerificationError
	var slow interface{ Timeout() bool }
	switch {
	case errors.As(err, &name) && name.IsNotFound:
		return "no such host"
	case name != nil:
		return "its name cannot be looked up"
	case errors.As(err, &cert):
		return "its certificate is not valid"
	case errors.Is(err, syscall.ECONNREFUSED):
		return "connection refused"
	case errors.As(err, &slow) && slow.Timeout():
		return "no connection in time"
	}
	return "the connection failed"
}
