package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gofrs/flock"
	_ "github.com/lib/pq" // the driver of PostgreSQL
	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver of SQLite

	"github.com/kagewasm/kagewasm/abi"
)

// InMemory as a database is one that is gone with its Store.
const InMemory = ":memory:"

//go:embed migrations/*.sql
var embedded embed.FS

// Open opens a database, and makes or upgrades it where it has to be: the SQLite
// file of that path, which nobody else may read, [InMemory], or the PostgreSQL of an
// address that begins with postgres://.
func Open(ctx context.Context, database string, opts Options) (*Store, error) {
	migrations, err := fs.Sub(embedded, "migrations")
	if err != nil {
		return nil, fault("open", err)
	}
	return open(ctx, database, opts, migrations)
}

// maxConns is how many connections to PostgreSQL are used at once: it takes a hundred from
// all programs together, and who finds none free waits.
const maxConns = 20

func open(ctx context.Context, database string, opts Options, migrations fs.FS) (*Store, error) {
	if opts.Now == nil {
		opts.Now = time.Now
	}
	d, err := dialectOf(database)
	if err != nil {
		return nil, fault("open", err)
	}
	db, err := sql.Open(d.driver, d.source)
	if err != nil {
		return nil, fault("open", err)
	}
	switch {
	case d.goose == goose.DialectPostgres:
		db.SetMaxOpenConns(maxConns)
	case d.file == "":
		db.SetMaxOpenConns(1) // each connection has a database of its own
	}
	if err := d.upgrade(ctx, db, migrations); err != nil {
		return nil, fault("open", errors.Join(err, db.Close()))
	}
	s := &Store{db: db, opts: opts}
	if d.goose == goose.DialectSQLite3 {
		s.writers = new(writers)
	}
	return s, nil
}

// dialect is one of the databases.
type dialect struct {
	driver, source string
	goose          goose.Dialect
	file           string // of SQLite, empty in memory
}

// pragmas of each connection to SQLite: readers go on while somebody writes, who
// waits for its turn; what is committed is on the disk, and what is deleted is
// overwritten.
var pragmas = []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)", "foreign_keys(1)",
	"secure_delete(1)"}

func dialectOf(database string) (dialect, error) {
	if strings.HasPrefix(database, "postgres://") || strings.HasPrefix(database, "postgresql://") {
		source, err := postgresSource(database)
		return dialect{driver: "postgres", source: source, goose: goose.DialectPostgres}, err
	}
	query := url.Values{"_pragma": pragmas, "_txlock": {"immediate"}}.Encode()
	if database == InMemory {
		return dialect{driver: "sqlite", source: "file::memory:?" + query, goose: goose.DialectSQLite3}, nil
	}
	path, err := filepath.Abs(database)
	if err != nil {
		return dialect{}, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o600) // SQLite would let others read it
	if err != nil {
		return dialect{}, err
	}
	source := fileAddress(filepath.ToSlash(path), query)
	return dialect{driver: "sqlite", source: source, goose: goose.DialectSQLite3, file: path}, f.Close()
}

// fileAddress is the address of a file for SQLite. A path that begins with a drive gets a slash before it: SQLite would
// take the drive for a host.
func fileAddress(path, query string) string {
	if !strings.HasPrefix(path, "/") {
		path = "/" + path
	}
	return (&url.URL{Scheme: "file", Path: path, RawQuery: query}).String()
}

// postgresSource is an address with what PostgreSQL's own programs do where it does not say
// otherwise: encryption where the server has it. Values go beside each statement, in one
// exchange, and not in a second one.
func postgresSource(address string) (string, error) {
	u, err := url.Parse(address)
	if err != nil { // its own text would show the password
		return "", errors.New("the address of the PostgreSQL is not one: postgres://USER:PASSWORD@HOST:PORT/DATABASE, " +
			"with %-escapes in the password")
	}
	q, err := url.ParseQuery(u.RawQuery)
	if err != nil { // its own text would show a value
		return "", errors.New("the parameters of the address of the PostgreSQL cannot be read: ?NAME=VALUE&NAME=VALUE, " +
			"with %-escapes in the values")
	}
	if !q.Has("sslmode") && os.Getenv("PGSSLMODE") == "" {
		q.Set("sslmode", "prefer")
	}
	if !q.Has("binary_parameters") {
		q.Set("binary_parameters", "yes")
	}
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// upgrade brings the tables to the version that this program knows.
func (d *dialect) upgrade(ctx context.Context, db *sql.DB, migrations fs.FS) error {
	p, err := goose.NewProvider(d.goose, db, migrations, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	list := p.ListSources()
	newest := list[len(list)-1].Version
	if version(ctx, db) == newest {
		return nil
	}
	unlock, err := d.lock(ctx, db)
	if err != nil {
		return err
	}
	defer unlock()
	switch now := version(ctx, db); {
	case now == newest: // somebody else was faster
		return nil
	case now > newest:
		return &abi.Error{Code: abi.CodeState, Op: "store.open", Message: fmt.Sprintf("a newer version of kagewasm wrote "+
			"the store: its schema is %d, and this version knows up to %d", now, newest),
			Hint: "use the newer version, or another state folder"}
	case now > 0 && d.file != "":
		if err := keepCopy(ctx, db, fmt.Sprintf("%s.v%d", d.file, now)); err != nil {
			return err
		}
	}
	_, err = p.Up(ctx)
	return err
}

// version is that of the tables, 0 where there are none.
func version(ctx context.Context, db *sql.DB) (v int64) {
	_ = db.QueryRowContext(ctx, "SELECT COALESCE(MAX(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&v)
	return v // without the table the query fails, and goose says what else may be wrong
}

// keepCopy copies a SQLite database as it is, unless there is a copy of that version
// already.
func keepCopy(ctx context.Context, db *sql.DB, to string) error {
	if _, err := os.Stat(to); err == nil {
		return nil
	}
	f, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err == nil {
		err = f.Close()
	}
	if err == nil {
		_, err = db.ExecContext(ctx, "VACUUM INTO $1", to) // which takes an empty file
	}
	if err != nil {
		err = errors.Join(fmt.Errorf("the copy that is kept before an upgrade: %w", err), os.Remove(to))
	}
	return err
}

// upgradeLock is the number of the lock in PostgreSQL, which programs agree on.
const upgradeLock = 6202611

// lock keeps other processes from upgrading at the same time.
func (d *dialect) lock(ctx context.Context, db *sql.DB) (unlock func(), err error) {
	if d.goose == goose.DialectPostgres {
		c, err := db.Conn(ctx)
		if err != nil {
			return nil, err
		}
		if _, err := c.ExecContext(ctx, "SELECT pg_advisory_lock($1)", upgradeLock); err != nil {
			return nil, errors.Join(err, c.Close())
		}
		return func() {
			_, _ = c.ExecContext(context.WithoutCancel(ctx), "SELECT pg_advisory_unlock($1)", upgradeLock)
			_ = c.Close()
		}, nil
	}
	if d.file == "" {
		return func() {}, nil
	}
	l := flock.New(d.file+".lock", flock.SetPermissions(0o600))
	if _, err := l.TryLockContext(ctx, 10*time.Millisecond); err != nil {
		return nil, err
	}
	return func() { _ = l.Unlock() }, nil
}
