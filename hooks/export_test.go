package hooks

const (
	DefaultCooldown    = defaultCooldown
	OutcomeOK          = outcomeOK
	OutcomeQuarantined = outcomeQuarantined
)
