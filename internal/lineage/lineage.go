// Package lineage records whose the data of a plugin is.
//
// It belongs to a line of modules, not to whoever bears the name: the first module
// that stores something under a name owns it, and a later one is of the same line
// where the operator adopts it. The records lie in a namespace that no plugin can
// have, beside the data they are about, with a generation and a checksum each. One
// that is damaged, or missing where there is data, is an error of [abi.CodeState]:
// nobody gets the data but a module that the operator adopts, and nobody's data is
// taken for nothing. [Repair] makes the records whole again.
package lineage

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// Space is the namespace of the records.
const Space = "_lineage"

// maxDigests is how many modules of a line are remembered.
const maxDigests = 1000

// KV is the storage of the records and of the data.
type KV interface {
	Get(ctx context.Context, ns, key string) (value string, found bool, err error)
	Swap(ctx context.Context, ns, key, expect, value string) error
	List(ctx context.Context, ns, prefix string) ([]string, error)
}

// Record is whose a namespace is. That of a plugin names the modules of its line;
// that of one of its agents names the line alone.
type Record struct {
	Generation int `json:"generation"`
	// Line is a name for the line, the same in all of its records.
	Line string `json:"line"`
	// Digests are of the modules of the line, the oldest first.
	Digests []string `json:"digests,omitempty"`
	// Open: there is data that no module has claimed yet. The first one may.
	Open bool `json:"open,omitempty"`
	// Early: it was first written when agents had no records. Theirs may be
	// missing.
	Early bool   `json:"early,omitempty"`
	Sum   string `json:"sum"`

	doc string // as it is stored; empty where it is new
}

// Key is the key of the record of a namespace.
func Key(ns string) string { return ns + ".json" }

// New reports whether there is no record yet.
func (r *Record) New() bool { return r.doc == "" }

// Has reports whether a module is of the line.
func (r *Record) Has(digest string) bool { return slices.Contains(r.Digests, digest) }

// Free reports whether any module may claim what the record is about.
func (r *Record) Free() bool { return r.New() || r.Open && len(r.Digests) == 0 }

func (r *Record) sum() string {
	own := *r
	own.Sum = ""
	doc, _ := json.Marshal(own) // texts and numbers
	h := sha256.Sum256(doc)
	return hex.EncodeToString(h[:16])
}

// Read returns the record of a namespace, a new one where there is none and no
// data either.
func Read(ctx context.Context, kv KV, ns string) (*Record, error) {
	doc, found, err := kv.Get(ctx, Space, Key(ns))
	if err != nil {
		return nil, err
	}
	if doc != "" {
		return parse(ns, doc)
	}
	switch keys, err := kv.List(ctx, ns, ""); {
	case err != nil:
		return nil, err
	case found:
		return nil, fault(ns, errors.New("is empty"))
	case len(keys) > 0:
		return nil, fault(ns, fmt.Errorf("is missing, and %d values are there", len(keys)))
	}
	return &Record{Line: rand.Text()}, nil
}

func parse(ns, doc string) (*Record, error) {
	if digests := earlier(doc); digests != nil {
		return &Record{Line: rand.Text(), Digests: digests, Early: true, doc: doc}, nil
	}
	r := &Record{doc: doc}
	if err := strictjson.Decode([]byte(doc), r); err != nil {
		return nil, fault(ns, fmt.Errorf("is damaged: %w", err))
	}
	if r.Sum != r.sum() {
		return nil, fault(ns, errors.New("is damaged: its checksum is another"))
	}
	return r, nil
}

// earlier are the digests of a record as it was written before there were checksums,
// nil where it is none.
func earlier(doc string) []string {
	var r map[string][]string
	if json.Unmarshal([]byte(doc), &r) != nil || len(r) != 1 {
		return nil
	}
	digests := r["digests"]
	if len(digests) == 0 || slices.ContainsFunc(digests, func(d string) bool { return !strings.HasPrefix(d, "sha256:") }) {
		return nil
	}
	return digests
}

// fault says that nobody can tell whose data it is.
func fault(ns string, err error) error {
	return &abi.Error{
		Code: abi.CodeState, Op: "lineage", Err: err,
		Message: fmt.Sprintf("the record of whose data %s is, %s/%s, %v", ns, Space, Key(ns), err),
		Hint: "see kagewasm memory check; restore it from a backup, or run kagewasm memory repair and then adopt the " +
			"plugin whose data it is (--adopt)",
	}
}

// Claim adds a module to a line. One that has it stores the record where it is as
// an earlier version wrote it.
func (r *Record) Claim(ctx context.Context, kv KV, ns, digest string) error {
	next := *r
	next.Open = false
	if !r.Has(digest) {
		next.Digests = append(slices.Clone(r.Digests), digest)
	} else if r.Generation > 0 {
		return nil
	}
	next.Digests = next.Digests[max(0, len(next.Digests)-maxDigests):]
	err := next.store(ctx, kv, ns)
	if err == nil {
		*r = next
	}
	return err
}

// Renew is a new record in the place of one that is missing or damaged. It stands
// once a module claims it.
func Renew(ctx context.Context, kv KV, ns string) (*Record, error) {
	doc, _, err := kv.Get(ctx, Space, Key(ns))
	return &Record{Line: rand.Text(), doc: doc}, err
}

// store stores a changed record, unless it was changed by others meanwhile: then
// the error is of code conflict.
func (r *Record) store(ctx context.Context, kv KV, ns string) error {
	before := r.doc
	r.Generation++
	r.Sum = r.sum()
	doc, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	r.doc = string(doc) + "\n"
	return kv.Swap(ctx, Space, Key(ns), before, r.doc)
}

// Agent checks that the data of an agent is of the line of a record. With claim a
// namespace without data becomes its own, with adopt any.
func (r *Record) Agent(ctx context.Context, kv KV, ns string, claim, adopt bool) error {
	a, err := Read(ctx, kv, ns)
	if err == nil && !a.New() && a.Line != r.Line {
		err = fault(ns, errors.New("is of another line"))
	}
	if err != nil && (adopt || r.Early) && abi.CodeOf(err) == abi.CodeState {
		if !claim {
			return nil
		}
		a, err = Renew(ctx, kv, ns)
	}
	if err != nil || !claim || a.Line == r.Line {
		return err
	}
	a.Line = r.Line
	if err := a.store(ctx, kv, ns); abi.CodeOf(err) != abi.CodeConflict {
		return err
	}
	return r.Agent(ctx, kv, ns, false, adopt) // another call was first
}

// Offer records that data is about to be stored in a namespace on behalf of no
// module: the first one of its name may claim it.
func Offer(ctx context.Context, kv KV, ns string) error {
	name, _, agent := strings.Cut(ns, "@")
	if strings.Contains(name, "+") {
		return nil // named by the module that owns it
	}
	r, err := Read(ctx, kv, name)
	if err != nil {
		return err
	}
	if r.New() || r.Generation == 0 {
		r.Open = r.New()
		if err := r.store(ctx, kv, name); err != nil {
			return err
		}
	}
	if !agent {
		return nil
	}
	return r.Agent(ctx, kv, ns, true, false)
}
