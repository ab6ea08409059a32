package egress

import (
	"net/netip"
	"slices"

	"github.com/kagewasm/kagewasm/internal/lists"
)

// global is what of IPv6 is routed at all.
var global = netip.MustParsePrefix("2000::/3")

// special are the parts of IPv4 and of global that are nobody's address on the
// internet, or stand for addresses of other kinds.
var special = prefixes(
	"0.0.0.0/8",       // this network; 0.0.0.0 connects to this machine
	"10.0.0.0/8",      // private
	"100.64.0.0/10",   // carrier-grade NAT
	"127.0.0.0/8",     // loopback
	"169.254.0.0/16",  // link-local, and cloud metadata
	"172.16.0.0/12",   // private
	"192.0.0.0/24",    // protocol assignments
	"192.0.2.0/24",    // documentation
	"192.88.99.0/24",  // 6to4 relays
	"192.168.0.0/16",  // private
	"198.18.0.0/15",   // benchmarks
	"198.51.100.0/24", // documentation
	"203.0.113.0/24",  // documentation
	"224.0.0.0/3",     // multicast, reserved, broadcast
	"2001::/23",       // protocol assignments: Teredo, ORCHID, benchmarks
	"2001:db8::/32",   // documentation
	"2002::/16",       // 6to4: IPv4 inside
	"3fff::/20",       // documentation
)

// private are the networks that a grant with private+ reaches beside the
// internet, but for the metadata services inside them.
var (
	private  = prefixes("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "fc00::/7")
	metadata = prefixes("100.100.100.200/32", "fd00:ec2::254/128", "fd20:ce::254/128")
)

func prefixes(list ...string) []netip.Prefix { return lists.Map(list, netip.MustParsePrefix) }

func within(list []netip.Prefix, a netip.Addr) bool {
	return slices.ContainsFunc(list, func(p netip.Prefix) bool { return p.Contains(a) })
}

// isPublic reports whether a is an address on the internet. IPv4 addresses
// come as such, not inside of IPv6.
func isPublic(a netip.Addr) bool {
	return a.Zone() == "" && (a.Is4() || global.Contains(a)) && !within(special, a)
}

func isPrivate(a netip.Addr) bool {
	return a.Zone() == "" && within(private, a) && !within(metadata, a)
}
