//go:build !linux

package runtime

import "errors"

func mapImage([]byte) (image, error) { return nil, errors.ErrUnsupported }
