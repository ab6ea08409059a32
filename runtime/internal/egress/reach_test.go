package egress_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/runtime/internal/egress"
)

func TestNothingIsReachableUnlessGranted(t *testing.T) {
	here := serve(t, hello)
	port := here[strings.LastIndexByte(here, ':')+1:]
	for _, tc := range []struct {
		grant, url string
		code       abi.Code
		why        string
	}{
		{"", "http://" + here, abi.CodeDenied, "nothing by default"},
		{here, "http://" + here, "", "a loopback address that is granted"},
		{"http://" + here, "http://" + here + "/x?y=z", "", "with its scheme"},
		{"localhost:" + port, "http://localhost:" + port, "", "this machine by its name"},
		{"localhost:" + port, "http://LOCALHOST.:" + port, "", "in another spelling"},
		{"localhost:" + port, "http://127.0.0.1:" + port, abi.CodeDenied, "a name is not its address"},
		{here, "http://localhost:" + port, abi.CodeDenied, "nor an address its name"},
		{here, "http://[::ffff:127.0.0.1]:" + port, "", "the same address in another form"},
		{here, "http://127.0.0.1.:" + port, "", "with a dot at its end"},
		{"https://" + here, "http://" + here, abi.CodeDenied, "another scheme"},
		{"127.0.0.1", "http://" + here, abi.CodeDenied, "a grant without the port"},
		{"127.0.0.1:1", "http://127.0.0.1:1", abi.CodeNetwork, "granted, and nobody there"},
		{"http://example.com", "https://example.com", abi.CodeDenied, "http is not https"},
		{"example.com", "http://example.com", abi.CodeDenied, "https is not http"},
		{"example.com", "https://example.com:8443", abi.CodeDenied, "another port"},
		{"example.com", "https://api.example.com", abi.CodeDenied, "no wildcards"},
		{"example.com", "https://example.com.evil.test", abi.CodeDenied, "another name"},
		{"example.com", "https://EXAMPLE.com./", abi.CodeNetwork, "the same name: granted, and nobody there"},
		{here, "http://2130706433:" + port, abi.CodeUsage, "a decimal address"},
		{here, "http://0177.0.0.1:" + port, abi.CodeUsage, "an octal one"},
		{here, "http://0x7f000001:" + port, abi.CodeUsage, "a hexadecimal one"},
		{here, "http://0x7f.1:" + port, abi.CodeUsage, "a mixed one"},
		{here, "http://127.1:" + port, abi.CodeUsage, "a short one"},
		{here, "http://127.0.0.1.0x7f:" + port, abi.CodeUsage, "a name that ends like one"},
		{here, "http://evil.test@" + here, abi.CodeUsage, "a user"},
		{here, "http://" + here + "@evil.test", abi.CodeUsage, "an address as the user"},
		{here, "http://[fe80::1%25eth0]:" + port, abi.CodeUsage, "a zone"},
		{here, "http://①②⑦.0.0.1:" + port, abi.CodeUsage, "digits that are not ASCII"},
		{"example.com", "https://еxample.com", abi.CodeUsage, "a Cyrillic e"},
		{"example.com", "https://example。com", abi.CodeUsage, "a full stop of another script"},
		{"example.com", "https://exa%6dple.com", abi.CodeUsage, "an escaped letter"},
		{here, "http://127.0.0.1:0" + port, "", "a port with a zero before it"},
		{here, "http://127.0.0.1:99999", abi.CodeUsage, "no port"},
		{here, "ftp://" + here, abi.CodeUsage, "another protocol"},
		{here, "file:///etc/passwd", abi.CodeUsage, "a file"},
		{here, "//" + here, abi.CodeUsage, "no scheme"},
		{here, "http:" + here, abi.CodeUsage, "no host"},
		{here, "http://" + here + "/" + strings.Repeat("x", 9000), abi.CodeQuota, "a long url"},
		{"private+" + here, "http://" + here, "", "the mark changes nothing for an address"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			var grants []string
			if tc.grant != "" {
				grants = []string{tc.grant}
			}
			resp, err := do(t, client(t, egress.Options{Grants: grants}), egress.Request{URL: tc.url})
			if abi.CodeOf(err) != tc.code {
				t.Errorf("%s under %q: %v, want code %q: %s", tc.url, tc.grant, err, tc.code, tc.why)
			}
			if err == nil && string(resp.Body) != "hello" {
				t.Errorf("%s: %q", tc.url, resp.Body)
			}
		})
	}
}

func TestBadGrants(t *testing.T) {
	for grant, why := range map[string]string{
		"": "nothing", "*.example.com": "a wildcard", "https://a.test/path": "a path", "a.test?x": "a query",
		"ftp://a.test": "another protocol",
		"u@a.test":     "a user", "a.test:0": "no port", "0.0.0.0:80": "an address that is nobody's", "[::]:80": "the same",
		"224.0.0.1": "many's",
		"127.1":     "a short address", "[fe80::1%eth0]": "a zone", "a b": "a space", "bücher.example": "not ASCII",
	} {
		t.Run(grant, func(t *testing.T) {
			if _, err := egress.New(egress.Options{Grants: []string{grant}}); abi.CodeOf(err) != abi.CodeUsage {
				t.Errorf("grant %q, %s: %v", grant, why, err)
			}
		})
	}
}

// TestAddresses: whatever a name that is granted leads to, the address decides.
func TestAddresses(t *testing.T) {
	for _, tc := range []struct{ address, why string }{
		{"127.0.0.1", "loopback"}, {"127.8.8.8", "all of it"}, {"::1", "loopback"}, {"10.1.2.3", "private"},
		{"172.16.0.1", "private"},
		{"172.31.255.255", "private"}, {"192.168.1.1", "private"}, {"fc00::1", "private"}, {"fd12:3456::1", "private"},
		{"100.64.0.1", "carrier-grade NAT"},
		{"100.100.100.200", "metadata"}, {"169.254.169.254", "metadata"}, {"fd00:ec2::254", "metadata"},
		{"169.254.1.1", "link-local"}, {"fe80::1", "link-local"},
		{"0.0.0.0", "unspecified"}, {"::", "unspecified"}, {"0.1.2.3", "this network"}, {"224.0.0.1", "multicast"},
		{"ff02::1", "multicast"},
		{"255.255.255.255", "broadcast"}, {"240.0.0.1", "reserved"}, {"192.0.2.1", "documentation"},
		{"198.51.100.1", "documentation"},
		{"203.0.113.1", "documentation"}, {"2001:db8::1", "documentation"}, {"198.18.0.1", "benchmarks"},
		{"192.0.0.8", "assignments"},
		{"::ffff:127.0.0.1", "IPv4-mapped"}, {"::ffff:10.0.0.1", "IPv4-mapped"}, {"::127.0.0.1", "IPv4-compatible"},
		{"2002:7f00:1::1", "6to4"},
		{"64:ff9b::7f00:1", "NAT64"}, {"64:ff9b:1::1", "NAT64"}, {"2001::1", "Teredo"}, {"fec0::1", "site-local"},
		{"5f00::1", "segment routing"}, {"3fff::1", "documentation"},
	} {
		t.Run(tc.address, func(t *testing.T) {
			for _, grant := range []string{"http://rebound.test", "rebound.test"} {
				t.Run(grant, func(t *testing.T) {
					u := grant
					if !strings.HasPrefix(u, "http") {
						u = "https://" + u
					}
					_, err := do(t, client(t, egress.Options{Grants: []string{grant}, Lookup: at(tc.address)}), egress.Request{URL: u})
					if abi.CodeOf(err) != abi.CodeDenied {
						t.Errorf("%s (%s): %v", tc.address, tc.why, err)
					}
					if err != nil && strings.Contains(err.Error(), tc.address) {
						t.Errorf("the guest is told the address: %v", err)
					}
				})
			}
		})
	}
}

// TestReach: which addresses a grant leads to, asked of the check that sits on
// the socket.
func TestReach(t *testing.T) {
	for _, tc := range []struct {
		grant, url, address string
		reached             bool
		why                 string
	}{
		{"a.test", "https://a.test", "8.8.8.8:443", true, "the internet"},
		{"a.test", "https://a.test", "[2606:4700::1111]:443", true, "the internet"},
		{"a.test", "https://a.test", "[::ffff:8.8.8.8]:443", true, "an IPv4 address of the internet"},
		{"a.test", "https://a.test", "8.8.8.8:80", false, "another port"},
		{"a.test", "https://b.test", "8.8.8.8:443", false, "another name"},
		{"a.test", "https://a.test", "10.0.0.1:443", false, "a private network, without the mark"},
		{"private+http://a.test", "http://a.test", "8.8.8.8:80", true, "the mark adds to the internet"},
		{"private+http://a.test", "http://a.test", "10.255.255.1:80", true, ""},
		{"private+http://a.test", "http://a.test", "172.31.0.1:80", true, ""},
		{"private+http://a.test", "http://a.test", "192.168.255.254:80", true, ""},
		{"private+http://a.test", "http://a.test", "100.64.0.1:80", true, ""},
		{"private+http://a.test", "http://a.test", "[fd12:3456::1]:80", true, ""},
		{"private+http://a.test", "http://a.test", "[fe80::1%eth0]:80", false, "link-local"},
		{"private+http://a.test", "http://a.test", "127.0.0.1:80", false, "loopback is no network"},
		{"private+http://a.test", "http://a.test", "169.254.169.254:80", false, "metadata"},
		{"private+http://a.test", "http://a.test", "[fd00:ec2::254]:80", false, "metadata"},
		{"private+http://a.test", "http://a.test", "100.100.100.200:80", false, "metadata"},
		{"private+http://a.test", "https://a.test", "10.0.0.1:443", false, "for http alone"},
		{"localhost:80", "http://localhost", "127.0.0.1:80", true, "loopback"},
		{"localhost:80", "http://localhost", "[::1]:80", true, "loopback"},
		{"localhost:80", "http://localhost", "8.8.8.8:80", false, "and nothing else"},
		{"http://10.0.0.7", "http://10.0.0.7", "10.0.0.7:80", true, "an address leads to itself"},
		{"http://10.0.0.7", "http://10.0.0.7", "10.0.0.8:80", false, "and nothing else"},
		{"http://169.254.169.254", "http://169.254.169.254", "169.254.169.254:80", true,
			"by its address anything can be granted"},
		{"http://[fd00::7]", "http://[FD00:0::7]", "[fd00::7]:80", true, "in whatever form"},
		{"fd00::7", "https://[fd00::7]", "[fd00::7]:443", true, "without brackets"},
		{"::1", "http://[::1]", "[::1]:80", true, "loopback of IPv6"},
		{"10.0.0.7", "http://10.0.0.7", "10.0.0.7:80", false, "bare is https, but on this machine"},
	} {
		t.Run(fmt.Sprintf("%s at %s under %s", tc.url, tc.address, tc.grant), func(t *testing.T) {
			ok, err := client(t, egress.Options{Grants: []string{tc.grant}}).Reaches(tc.url, tc.address)
			if err != nil || ok != tc.reached {
				t.Errorf("%s for %s under %q: %v, %v: %s", tc.address, tc.url, tc.grant, ok, err, tc.why)
			}
		})
	}
}

// TestRebinding: a name leads elsewhere from one look to the next. There is
// one look, and what it returned is what is checked and connected to.
func TestRebinding(t *testing.T) {
	here := serve(t, hello)
	_, port, _ := net.SplitHostPort(here)
	lookups := 0
	lookup := func(context.Context, string) ([]netip.Addr, error) {
		if lookups++; lookups == 1 {
			return []netip.Addr{netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.1")}, nil
		}
		t.Error("a second look: an address of the internet, to pass a check")
		return nil, errors.New("no more")
	}
	c := client(t, egress.Options{Grants: []string{"http://rebound.test:" + port}, Lookup: lookup})
	if _, err := do(t, c, egress.Request{URL: "http://rebound.test:" + port}); abi.CodeOf(err) != abi.CodeDenied ||
		lookups != 1 {
		t.Errorf("after %d lookups: %v", lookups, err)
	}
}

// FuzzHost: a host has one spelling, and one that reads as an address is that
// address.
func FuzzHost(f *testing.F) {
	for _, s := range []string{"example.com", "EXAMPLE.com.", "127.0.0.1", "127.1", "0x7f.1", "::1", "::ffff:1.2.3.4",
		"a..b", "xn--bcher-kva.example", "1.2.3.4."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := egress.NormalHost(s)
		if err != nil {
			return
		}
		if again, err := egress.NormalHost(h); err != nil || again != h {
			t.Errorf("%q is %q, which is %q, %v", s, h, again, err)
		}
		if a, err := netip.ParseAddr(h); err == nil {
			if a.Is4In6() || a.Zone() != "" {
				t.Errorf("%q is %v", s, a)
			}
		} else if last := h[strings.LastIndexByte(h, '.')+1:]; strings.Trim(last, "0123456789") == "" {
			t.Errorf("%q is %q: a name that resolvers take for an address", s, h)
		}
	})
}

// FuzzURL: whatever a URL looks like, what is sent goes to the origin that is
// granted, by any parser's reading.
func FuzzURL(f *testing.F) {
	for _, s := range []string{"https://api.test/x?y=z#f", "https://api.test//evil.test", `https://api.test\@evil.test`,
		"https://api.test:443@evil.test", "https://api.test?a b", "https://API.test.:0443/%2f..",
		"https://api.test/\tx", "https:api.test"} {
		f.Add(s)
	}
	c, err := egress.New(egress.Options{Grants: []string{"api.test"}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sent, err := c.Aim(s)
		if err != nil {
			return
		}
		rest, ok := strings.CutPrefix(sent, "https://api.test")
		if !ok || rest != "" && rest[0] != '/' && rest[0] != '?' || strings.ContainsAny(sent, " \t\r\n\\#") {
			t.Errorf("%q is sent to %q", s, sent)
		}
	})
}

// TestWhoMendsARefusal: a host that the manifest does not name is the author's to
// name, one that it names the operator's to grant.
func TestWhoMendsARefusal(t *testing.T) {
	c := client(t, egress.Options{Grants: []string{"granted.example.com"},
		Asked: []string{"granted.example.com", "asked.example.com"}})
	for host, want := range map[string]string{
		"asked.example.com": "the operator grants it: --grant http=https://asked.example.com",
		"other.example.com": "the author names it under hosts of the capability http in plugin.yaml",
	} {
		t.Run(host, func(t *testing.T) {
			_, err := do(t, c, egress.Request{URL: "https://" + host + "/"})
			if e := abi.AsError(err); err == nil || e.Code != abi.CodeDenied || !strings.HasPrefix(e.Hint, want) ||
				!strings.Contains(e.Message, host) {
				t.Errorf("%v, and to do %q", err, e.Hint)
			}
		})
	}
}
