// Package service is what a server of sessions does, whoever asks: the HTTP API and the
// pages call it alike. New makes a [Service] over a store and a [Host], which says how
// the sessions of an agent are compacted.
//
// A host of an agent, in any language, appends the messages that arrive
// ([Service.Append]), asks what its model should see ([Service.Context]), which
// compacts where that is due, calls its model, and reports what that took
// ([Service.Spend]). Where it streams it marks the call instead: [Service.BeginCall]
// returns what the model should see, [Service.EndCall] takes the answer, and
// [Service.Refused] hears that the provider found the request too long. Whoever asks
// for a context meanwhile waits.
//
// Sessions are named by their key: the id, and the agent's path behind #. They are kept
// open as long as they are used; several programs may work on the same store.
//
// All errors are an abi.Error. [ErrUnknown] is the cause of those about what is not there.
package service
