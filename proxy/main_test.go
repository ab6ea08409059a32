package proxy_test

import (
	"os"
	"testing"

	"github.com/kagewasm/kagewasm/internal/pgtest"
)

func TestMain(m *testing.M) {
	code := m.Run()
	pgtest.Close()
	os.Exit(code)
}
