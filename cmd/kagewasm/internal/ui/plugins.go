package ui

import (
	"strings"

	"github.com/kagewasm/kagewasm/cmd/kagewasm/internal/named"
)

// Plugins lists the plugins that have a name.
func Plugins(p Printer, list []named.Plugin) {
	if len(list) == 0 {
		p.Linef("no plugin is known by name: releases have the reference plugins inside, and a file is named by its path")
		return
	}
	for _, one := range list {
		p.Linef("%s %s", p.paint(bold, one.Name), one.Version)
		if one.Description != "" {
			p.Linef("  %s", strings.TrimSpace(one.Description))
		}
		if one.Error != "" {
			p.field("error", "%s", one.Error)
		}
		p.field("digest", "%s", one.Digest)
		p.field("from", "%s", one.From)
	}
}
