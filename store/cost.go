package store

import (
	"context"
	"database/sql"

	kagewasm "github.com/kagewasm/kagewasm"
	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/store/internal/rows"
)

// Spender is who a cost is of.
type Spender string

const (
	// Primary is the agent itself, as its host reports what it uses.
	Primary Spender = "primary"
	// Compactor is what compactions cost, failed calls too.
	Compactor Spender = "compactor"
)

// Cost is what models took for a session.
type Cost struct {
	Spender Spender `json:"spender"`
	Model   string  `json:"model,omitempty"`
	abi.ModelUsage
	// PriceUnknown: nobody knows what some of it cost.
	PriceUnknown bool `json:"price_unknown,omitempty"`
}

// costsOf are what models took by a report: the one that wrote the summary, and those that plugins asked.
func costsOf(r *kagewasm.Report) (list []Cost) {
	if u := r.Cost.Usage; u != nil {
		list = append(list, Cost{Spender: Compactor, Model: r.Cost.Model, ModelUsage: *u, PriceUnknown: r.Cost.PriceUnknown})
	}
	for i := range r.Hooks {
		if u := r.Hooks[i].Model; u != nil {
			list = append(list, Cost{Spender: Compactor, Model: u.Model, ModelUsage: *u, PriceUnknown: u.Unpriced()})
		}
	}
	return list
}

// Spend adds a cost to a session.
func (tx *Tx) Spend(ctx context.Context, key string, c Cost) error {
	_, err := exec(ctx, tx.tx, `INSERT INTO costs (session, time, kind, model, calls, input_tokens, output_tokens, usd,
		price_unknown) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`, key, tx.store.stamp(), string(c.Spender), c.Model,
		c.Calls, c.InputTokens, c.OutputTokens, c.ModelUsage.Cost, number(c.PriceUnknown))
	return fault("spend", err)
}

// Costs returns what a session cost, by what spent it and by model. Where key is empty it is that of
// all sessions, deleted ones too.
func (s *Store) Costs(ctx context.Context, key string) (list []Cost, err error) {
	err = rows.Each(ctx, s.db, func(r *sql.Rows) error {
		var c Cost
		var unknown int
		err := r.Scan(&c.Spender, &c.Model, &c.Calls, &c.InputTokens, &c.OutputTokens, &c.ModelUsage.Cost, &unknown)
		c.PriceUnknown = unknown == 1
		list = append(list, c)
		return err
	}, `SELECT kind, model, CAST(SUM(calls) AS BIGINT), CAST(SUM(input_tokens) AS BIGINT),
		CAST(SUM(output_tokens) AS BIGINT), SUM(usd), MAX(price_unknown) FROM costs
		WHERE $1 = '' OR session = $1 GROUP BY kind, model ORDER BY kind, model`, key)
	return list, fault("costs", err)
}
