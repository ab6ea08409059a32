// Package bench measures what the calls of one plugin take of time, fuel, memory
// and host calls, on sessions of several sizes. [Run] does; [Figures.Encode] and
// [ReadFigures] keep the figures as the baseline of later ones, and [Compare]
// says what became worse. Fuel, memory and bytes are the same on every machine
// and in every run, so they are compared exactly. Times are not: a difference
// counts where it stands out of their spread.
//
// What the plugin stores is in memory, and gone afterwards.
package bench
