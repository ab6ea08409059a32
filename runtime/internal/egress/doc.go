// Package egress is the HTTP client of untrusted guests. Nothing is reachable
// unless the operator grants it; start with [New], which takes the grants, and
// [Client.Session], which sends the requests of one call.
//
// A grant is an origin, one of
//
//	api.example.com                 https on port 443
//	api.example.com:8443            https on that port
//	http://api.example.com          http on port 80: readable on its way
//	private+https://memory.corp     as above, and the name may lead into a
//	                                private network
//	localhost:8888, 127.0.0.1:8888  this machine, http or https
//	http://10.0.0.7:8080            that very address
//
// Every hop of a request is held to that twice: its origin has to be granted,
// and so has the address that is connected to, which a name has no say in. A
// name reaches public addresses, with private+ also 10/8, 172.16/12,
// 192.168/16, 100.64/10 and fc00::/7 but for what serves cloud metadata;
// localhost reaches loopback; an address reaches itself. Everything else
// (link-local, multicast, documentation, IPv4 inside IPv6, ...) takes a grant
// of the address itself. There are no wildcards.
//
// The client knows no proxies, cookies or credentials of its own, asks for no
// compression and undoes none, and keeps connections no longer than a session.
package egress
