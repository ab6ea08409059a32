package api

import (
	"context"
	"encoding/json"
	"net/http"

	"github.com/kagewasm/kagewasm/internal/service"
	"github.com/kagewasm/kagewasm/store"
)

type ByPlugin struct {
	Plugin string `path:"plugin" maxLength:"200"`
	Agent  string `query:"agent" maxLength:"200" doc:"the agent that it is about; default all"`
}

type knobsBody struct {
	Knobs []service.KnobValue `json:"knobs"`
}

// operator are the operations on plugins, figures and the audit log.
func (a *api) operator() {
	const tag = "operator"
	type pluginsBody struct {
		Plugins []service.Plugin `json:"plugins"`
	}
	add(a, op{id: "list-plugins", method: http.MethodGet, path: "/plugins", tag: tag,
		summary: "The plugins of the configuration, with the state of their breakers"},
		func(ctx context.Context, _ *nothing) (*out[pluginsBody], error) {
			list, err := a.s.Plugins(ctx)
			return &out[pluginsBody]{pluginsBody{orEmpty(list)}}, err
		})
	add(a, op{id: "reset-breaker", method: http.MethodDelete, path: "/plugins/{plugin}/breaker", tag: tag, status: 204,
		summary: "Have a plugin called again that failed too often", errors: []int{404, 422, 503}},
		func(ctx context.Context, in *struct {
			Plugin string `path:"plugin" maxLength:"200"`
		}) (*nothing, error) {
			return nil, a.s.ResetBreaker(ctx, in.Plugin)
		})
	a.knobs(tag)
	a.settings(tag)
	type modelsBody struct {
		Models []service.Model `json:"models"`
		Agents []string        `json:"agents"`
	}
	add(a, op{id: "list-models", method: http.MethodGet, path: "/models", tag: tag,
		summary: "The aliases of models, and the agents, of the configuration"},
		func(context.Context, *nothing) (*out[modelsBody], error) {
			return &out[modelsBody]{modelsBody{orEmpty(a.s.Models()), orEmpty(a.s.Agents())}}, nil
		})
	add(a, op{id: "get-stats", method: http.MethodGet, path: "/stats", tag: tag,
		summary: "The figures of all compactions, and what the agent and the compactor cost"},
		func(ctx context.Context, _ *nothing) (*out[*store.Stats], error) {
			return outOf(a.s.Stats(ctx, ""))
		})
	add(a, op{id: "get-session-stats", method: http.MethodGet, path: "/sessions/{session}/stats", tag: tag,
		summary: "The figures of a session's compactions, and what the agent and the compactor cost", errors: []int{404}},
		func(ctx context.Context, in *BySession) (*out[*store.Stats], error) {
			return outOf(a.s.Stats(ctx, in.Session))
		})
	a.audit(tag)
}

func (a *api) knobs(tag string) {
	list := func(ctx context.Context, in *ByPlugin) (*out[knobsBody], error) {
		knobs, err := a.s.Knobs(ctx, in.Plugin, in.Agent)
		return &out[knobsBody]{knobsBody{orEmpty(knobs)}}, err
	}
	add(a, op{id: "list-knobs", method: http.MethodGet, path: "/plugins/{plugin}/knobs", tag: tag,
		summary: "The settings of a plugin: what they take, their values, and whose those are",
		errors:  []int{404, 422}}, list)
	add(a, op{id: "set-knobs", method: http.MethodPut, path: "/plugins/{plugin}/knobs", tag: tag,
		summary: "Set values, all or none; they hold from the next compaction on", errors: []int{404, 422}},
		func(ctx context.Context, in *struct {
			ByPlugin
			Body struct {
				Values map[string]json.RawMessage `json:"values" doc:"by the name of the knob"`
			}
		}) (*out[knobsBody], error) {
			if err := a.s.SetKnobs(ctx, in.Plugin, in.Agent, in.Body.Values); err != nil {
				return nil, err
			}
			return list(ctx, &in.ByPlugin)
		})
	add(a, op{id: "reset-knob", method: http.MethodDelete, path: "/plugins/{plugin}/knobs/{knob}", tag: tag,
		summary: "Take back what was set: the configuration's value holds, or the default", errors: []int{404}},
		func(ctx context.Context, in *struct {
			ByPlugin
			Knob string `path:"knob" maxLength:"200"`
		}) (*out[knobsBody], error) {
			if err := a.s.ResetKnob(ctx, in.Plugin, in.Agent, in.Knob); err != nil {
				return nil, err
			}
			return list(ctx, &in.ByPlugin)
		})
}

type ByAgent struct {
	Agent string `query:"agent" maxLength:"200" doc:"the path of the agent that it is for; default all"`
}

type settingsBody struct {
	Settings []service.Setting `json:"settings"`
}

func (a *api) settings(tag string) {
	list := func(ctx context.Context, in *ByAgent) (*out[settingsBody], error) {
		settings, err := a.s.Settings(ctx, in.Agent)
		return &out[settingsBody]{settingsBody{orEmpty(settings)}}, err
	}
	add(a, op{id: "list-settings", method: http.MethodGet, path: "/settings", tag: tag,
		summary: "The settings of the engine: their values for an agent, and whose those are", errors: []int{422, 503}}, list)
	add(a, op{id: "set-settings", method: http.MethodPut, path: "/settings", tag: tag,
		summary: "Set values, all or none; they hold from the next look at a session on", errors: []int{422, 503}},
		func(ctx context.Context, in *struct {
			ByAgent
			Body struct {
				Values map[string]string `json:"values" doc:"by the name of the setting, as the configuration would have them"`
			}
		}) (*out[settingsBody], error) {
			if err := a.s.SetSettings(ctx, in.Agent, in.Body.Values); err != nil {
				return nil, err
			}
			return list(ctx, &in.ByAgent)
		})
	add(a, op{id: "reset-setting", method: http.MethodDelete, path: "/settings/{setting}", tag: tag,
		summary: "Take back what was set: the configuration's value holds", errors: []int{404, 422, 503}},
		func(ctx context.Context, in *struct {
			ByAgent
			Setting string `path:"setting" maxLength:"200"`
		}) (*out[settingsBody], error) {
			if err := a.s.ResetSetting(ctx, in.Agent, in.Setting); err != nil {
				return nil, err
			}
			return list(ctx, &in.ByAgent)
		})
}

func (a *api) audit(tag string) {
	type auditBody struct {
		Entries []store.Audited `json:"entries"`
		Next    int             `json:"next" doc:"the number to give as after; 0 behind the last page"`
	}
	add(a, op{id: "list-audit", method: http.MethodGet, path: "/audit", tag: tag,
		summary: "Entries of the audit log, oldest first, each with its hash", errors: []int{404, 422}},
		func(ctx context.Context, in *struct {
			Session string `query:"session" maxLength:"500" doc:"only those of the session with this key"`
			After   int    `query:"after" minimum:"0" doc:"what the page before named as next"`
			Limit   int    `query:"limit" minimum:"1" maximum:"1000" default:"100"`
		}) (*out[auditBody], error) {
			list, next, err := a.s.Audit(ctx, in.Session, in.After, in.Limit)
			return &out[auditBody]{auditBody{orEmpty(list), next}}, err
		})
	add(a, op{id: "verify-audit", method: http.MethodGet, path: "/audit/verify", tag: tag,
		summary: "Name every entry of the log that was changed, removed, moved or cut off"},
		func(ctx context.Context, _ *nothing) (*out[*store.AuditReport], error) {
			return outOf(a.s.VerifyAudit(ctx))
		})
}
