// Package plugindiff says what is different about a new version of a plugin, for
// a person who decides whether to use it. [Compare] takes two loaded plugins; what
// the new one may do that the old one may not comes first. What it does to
// sessions is for package survey to say.
package plugindiff
